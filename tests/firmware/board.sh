#!/bin/sh
# `corten verify --on board` against QEMU's UART, which QEMU makes a terminal of this machine.
# usage: board.sh CORTEN SOURCE_FOLDER CPU
set -eu
corten=$1
source=$2
cpu=$3
for tool in arm-none-eabi-gcc qemu-system-arm make; do
    command -v $tool >/dev/null || exit 77
done
work=$(mktemp -d)
qemu=
trap 'if [ -n "$qemu" ]; then kill $qemu; fi; rm -rf "$work"' EXIT
cd "$source/examples/board_verify"
make -s CPU="$cpu" CORTEN="$corten" BUILD="$work" all >"$work/made" 2>&1 || { cat "$work/made"; exit 1; }
. /dev/stdin <<MACHINE
$(sed -n 's/^MACHINE := /machine=/p' "$work/$cpu/model/make/cpu.mk")
MACHINE
: >"$work/qemu" # is looked into before QEMU may have made it
qemu-system-arm -M "$machine" -kernel "$work/$cpu/firmware.elf" -display none -monitor none \
    -serial pty >"$work/qemu" 2>&1 &
qemu=$!
for i in $(seq 100); do
    port=$(sed -n 's/.*redirected to \([^ ]*\).*/\1/p' "$work/qemu")
    [ -n "$port" ] && break
    sleep 0.1
done
data=$source/examples/digits_silu
verify() {
    "$corten" verify "$1" -i "$data/test.npz" --limit 5 --on board --port "$port" "$2"
}
verify "$work/$cpu/model" -q >"$work/said"
grep -q 'agree bit for bit: yes' "$work/said"
printf 'noise \307 \176\307' >"$port" # as a board prints while it starts
verify "$work/$cpu/model" --json | grep -q '"bit_exact": true'

# the same archive compiled otherwise is another model
"$corten" compile "$data/digits_silu.pt2" -c "$data/calib.npz" -t "$cpu" --io float -o "$work/other" -q
code=0
verify "$work/other" -q >"$work/said" 2>&1 || code=$?
[ $code = 4 ] && grep -q 'the board has another model' "$work/said"
code=0
"$corten" verify "$work/other" -i "$data/test.npz" --on board --port "$work/qemu" >"$work/said" 2>&1 || code=$?
[ $code = 4 ] && grep -q 'no serial line' "$work/said"
