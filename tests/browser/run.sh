#!/bin/sh
# Opens report.html in headless Chromium: as a person would use it (checks.js), on a desk and on a
# phone, light and dark, with an archive whose names are markup, and after corten verify. Any line on
# the console fails, and with it every request: the page's own policy forbids them.
# usage: run.sh CORTEN SOURCE_FOLDER
set -eu
corten=$1
source=$2
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "skipped: no Chromium (apt-get install chromium)"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The page after its script has run, in $work/dom; what the console said, in $work/console.
browse() { # FILE WIDTH [FRAGMENT] [OPTION]
    "$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking \
        --user-data-dir="$work/profile" --window-size="$2,900" --virtual-time-budget=10000 \
        --enable-logging=stderr --v=0 ${4:-} --dump-dom "file://$1${3:-}" >"$work/dom" 2>"$work/log" || {
        cat "$work/log"
        exit 1
    }
    if grep CONSOLE "$work/log"; then
        exit 1
    fi
}

expect() { # TEXT in the page
    grep -qF -- "$1" "$work/dom" || {
        echo "not in the page: $1"
        exit 1
    }
}

check() { # REPORT WIDTH [OPTION]
    { cat "$1"; echo '<script>'; cat "$source/tests/browser/checks.js"; echo '</script>'; } >"$work/checked.html"
    cat >"$work/frame.html" <<EOF
<!DOCTYPE html><html><body><iframe src="checked.html" width="$2" height="800"></iframe><script>
addEventListener('message', e => { document.documentElement.dataset.checks = e.data; });
</script></body></html>
EOF
    browse "$work/frame.html" 1600 "" "${3:-}"
    grep -qF 'data-checks="ok"' "$work/dom" || {
        echo "$1, $2 wide: $(grep -o 'data-checks="[^"]*"' "$work/dom")"
        exit 1
    }
}

example=$source/examples/digits_silu
"$corten" compile "$example/digits_silu.pt2" -c "$example/calib.npz" -t cortex-m55 -o "$work/digits" -q
page=$work/digits/report.html
check "$page" 1280
check "$page" 375
check "$page" 1280 --force-dark-mode
browse "$page" 1280 '#node=silu__1'
expect 'a look-up table'
expect 'aria-label="histogram of the values"'
expect 'not measured yet'

"$corten" verify "$work/digits" -i "$example/test.npz" --labels label --limit 40 -q >/dev/null
browse "$page" 1280
expect 'by corten verify'
expect 'top-1, integer'
check "$page" 1280

"$corten" sensitivity "$work/digits" -c "$example/calib.npz" >/dev/null
browse "$page" 1280 '#node=conv2d_1'
expect 'by corten sensitivity'
expect 'costs the output'
expect 'by corten verify'
check "$page" 1280

# On paper it is a report of five pages: sections keep together, and columns are as narrow as their
# words.
"$chromium" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
    --virtual-time-budget=10000 --no-pdf-header-footer --print-to-pdf="$work/paper.pdf" "file://$page" 2>/dev/null
pages=$(grep -a -o '/Count [0-9]*' "$work/paper.pdf" | sed 's/.* //')
[ "$pages" = 5 ] || {
    echo "$pages pages on paper, not 5"
    exit 1
}

# Outputs that are None or numbers, inputs that nobody reads; nodes that stay in float; a state.
for model in flow/boundary float/two_kinds pains/lstm_stream; do
    "$corten" compile "$source/tests/$model.pt2" -c "$source/tests/$model.npz" -t cortex-m4 --allow-float \
        -o "$work/$model" -q
    check "$work/$model/report.html" 1280
done

vela=${CORTEN_VENV:-$source/.venv}/bin/vela
if [ -x "$vela" ]; then # nodes on the NPU, and others that stay on the CPU
    case=$source/tests/tosa/cases/lstm_between
    "$corten" compile "$case.pt2" -c "$case.npz" -t ethos-u55-128 --vela "$vela" -o "$work/npu" -q
    browse "$work/npu/report.html" 1280
    expect 'What Vela says of the parts that run on the ethos-u55-128'
    expect 'lstm_between_npu1'
    check "$work/npu/report.html" 1280
fi

hostile=$source/tests/browser/hostile
"$corten" compile "$hostile.pt2" -c "$hostile.npz" -t cortex-m4 -o "$work/hostile" -q
if grep -q '<img' "$work/hostile/report.html"; then
    echo "a name of the archive stands in the page as markup"
    exit 1
fi
browse "$work/hostile/report.html" 1280
expect '&lt;img src=x onerror='
check "$work/hostile/report.html" 1280
echo "report.html works"
