#!/bin/sh
# Time and memory of --emit tosa and --emit pte after quantization: from the quantized graph to the
# files, layout, lowering and the memory plan among it. Prints seconds (user + system, one core) and
# peak MB; fails beyond 1 s or 300 MB.
#
# usage: emit_time.sh CORTEN MODEL.pt2 CALIBRATION
set -eu
corten=$1 model=$2 data=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for format in tosa pte; do
    "$corten" compile "$model" -c "$data" -t cortex-m55 --emit $format --dump quantize -q > "$out/graph" 2> "$out/log" || {
        cat "$out/log"
        exit 1
    }
    /usr/bin/time -o "$out/time" -f '%U %S %M' taskset -c 0 "$corten" compile "$out/graph" --from layout -t cortex-m55 \
        --emit $format -o "$out/$format" --threads 1 -q > "$out/log" 2>&1 || {
        cat "$out/log"
        exit 1
    }
    awk -v name="$format" '{ s = $1 + $2; m = $3 / 1024; printf "%-5s %6.2f s %7.1f MB\n", name, s, m
                             exit s > 1 || m > 300 }' "$out/time"
done
