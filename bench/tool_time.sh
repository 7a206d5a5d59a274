#!/bin/sh
# Time and memory of `corten compile` on one core, and of a second command beside it, run in turn so
# that both see the same machine: A B A B A B. Prints seconds (user + system) and peak MB per run.
#
# usage: tool_time.sh CORTEN MODEL.pt2 CALIBRATION [OTHER COMMAND ...]
# The other command is, for example, another compiler's flow for the same model and data.
set -eu
corten=$1 model=$2 data=$3
shift 3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
measure() { # name, command...
    name=$1
    shift
    /usr/bin/time -o "$out/time" -f '%U %S %M' taskset -c 0 "$@" > "$out/log" 2>&1 || { cat "$out/log"; exit 1; }
    awk -v name="$name" '{ printf "%-8s %6.2f s %7.1f MB\n", name, $1 + $2, $3 / 1024 }' "$out/time"
}
for run in 1 2 3; do
    measure corten "$corten" compile "$model" -c "$data" -t cortex-m55 -o "$out/model" --threads 1 -q
    [ $# -eq 0 ] || measure other "$@"
done
