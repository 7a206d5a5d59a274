#!/bin/sh
# The examples' firmwares, built and run on QEMU as their README says.
# usage: examples.sh CORTEN SOURCE_FOLDER
set -eu
corten=$1
source=$2
for tool in arm-none-eabi-gcc qemu-system-arm make; do
    command -v $tool >/dev/null || exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run EXAMPLE CPU: its output in $work/said
run() {
    make -s -C "$source/examples/$1" CPU="$2" CORTEN="$corten" BUILD="$work/$1" run >"$work/said" 2>"$work/errors" ||
        { echo "$1 on $2 failed:"; cat "$work/said" "$work/errors"; exit 1; }
    if grep -i warning "$work/errors"; then exit 1; fi
}
# has COUNT PATTERN: lines of the output
has() {
    [ "$(grep -c "$2" "$work/said")" = "$1" ] || { printf 'not %s lines %s in:\n' "$1" "$2"; cat "$work/said"; exit 1; }
}

for cpu in cortex-m0plus cortex-m3 cortex-m4 cortex-m7 cortex-m33 cortex-m55; do
    run bare $cpu
    has 4 'digit \([0-9]\), should be \1'
done
run tasks cortex-m3
has 4 'digit \([0-9]\), should be \1'
has 2 '^task a'
run double_buffer cortex-m0plus
has 8 'digit \([0-9]\), should be \1'
if grep ' 00 pixels' "$work/said"; then exit 1; fi
run placed cortex-m55
has 4 'digit \([0-9]\), should be \1'
has 1 '^input at 21'
has 1 '^hot buffers at 20'
has 1 '^hot weights at 20'
has 1 '^other weights at 60'
run trace cortex-m33
has 1 '^linear '
[ "$(grep -c '^cycles [1-9][0-9]* ctn_' "$work/said")" -ge 6 ]
cp "$work/said" "$work/traced"
run trace cortex-m55 # other kernels, the same numbers
has 1 "^$(grep '^linear ' "$work/traced")"

run vad cortex-m55
awk 'function within(t, n, a, b) { for (i = 0; i < n; i++) if (t >= a[i] && t < b[i]) return 1; return 0 }
    FILENAME ~ /labels/ { a[n] = $1; b[n++] = $2; next }
    { c[m] = $2; d[m++] = $4 }
    END {
        for (f = 0; f < 400; f++) same += within(f * 0.032, n, a, b) == within(f * 0.032, m, c, d)
        printf "speech: %.1f %% of frames as annotated\n", same / 4
        exit same < 380
    }' "$source/examples/vad/labels.txt" "$work/said"
