#!/bin/sh
# The report of a large network opens in under two seconds, is below 3 MB, and works as others do.
# usage: large.sh FOLDER, as `corten compile` writes it
set -eu
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: no Chromium (apt-get install chromium)"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bytes=$(wc -c <"$1/report.html")
best=999999
for attempt in 1 2 3; do # other work on the machine is none of the page's
    ms=$("$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
        --timeout=5000 --dump-dom "file://$1/report.html" 2>/dev/null |
        sed -n 's/.*data-ready="\([0-9]*\)".*/\1/p' | head -1)
    [ -n "$ms" ] && [ "$ms" -lt "$best" ] && best=$ms
    [ "$best" -lt 2000 ] && break
done
echo "$bytes bytes, drawn after $best ms"
{ cat "$1/report.html"; echo '<script>'; cat "$(dirname "$0")/checks.js"; echo '</script>'; } >"$work/checked.html"
"$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
    --virtual-time-budget=20000 --dump-dom "file://$work/checked.html" 2>/dev/null >"$work/dom"
grep -o 'data-checks="[^"]*"' "$work/dom"
grep -qF 'data-checks="ok"' "$work/dom"
[ "$bytes" -lt 3000000 ] && [ "$best" -lt 2000 ]
