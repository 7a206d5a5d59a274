#!/bin/sh
# What the memory of emitted models promises, on the host and on QEMU: two models share an arena;
# inputs are kept with --keep-inputs and only then; memory that is not aligned is refused.
# usage: memory.sh CORTEN SOURCE_FOLDER
set -eu
corten=$1
source=$2
for tool in arm-none-eabi-gcc qemu-system-arm cc; do
    command -v $tool >/dev/null || exit 77
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
digits=$source/examples/digits_silu
flow=$source/tests/flow
boards=$source/boards
strict="-std=gnu11 -O2 -ffp-contract=off -Wall -Wextra -Werror"

# compile MODEL_STEM FOLDER CPU OPTION...
compile() {
    stem=$1
    out=$2
    cpu=$3
    shift 3
    case $stem in digits_silu) data=$digits/digits_silu.pt2 calib=$digits/calib.npz ;;
    *) data=$flow/$stem.pt2 calib=$flow/$stem.npz ;; esac
    "$corten" compile "$data" -c "$calib" -t "$cpu" -o "$out" -q "$@"
}
# host PROGRAM FLAG...: built for and run on this machine
host() {
    program=$1
    shift
    cc $strict -DCTN_EMULATE -I"$source/runtime" "$@" -o "$program" && "./$program"
}
# machine of a CPU and flags for it
flags() {
    case $1 in cortex-m0plus) machine=mps2-an385 cpu="-mcpu=cortex-m0plus" ;;
    cortex-m55) machine=mps3-an547 cpu="-mcpu=cortex-m55 -mfloat-abi=hard" ;; esac
}
# chip CPU SCRIPT FLAG...: built for and run on its QEMU board, with its linker script or another
chip() {
    flags "$1"
    script=$2
    shift 2
    arm-none-eabi-gcc $cpu -mthumb $strict -ffreestanding -nostdlib -Wl,--gc-sections -ffunction-sections \
        -fdata-sections -I"$boards" -I"$boards/$machine" "$@" "$boards/startup.c" "$boards/semihost.c" \
        "$boards/memory.c" "$boards/counter.c" -L. -L"$boards" -T"${script:-$boards/$machine/link.ld}" \
        -lgcc -o firmware.elf || exit 1
    qemu-system-arm -M $machine -kernel firmware.elf -display none -monitor none -serial none \
        -chardev stdio,id=console -semihosting-config enable=on,target=native,chardev=console </dev/null
}
# the exit code of a command
code() {
    code=0
    "$@" >said 2>&1 || code=$?
}
must() {
    [ "$code" = "$1" ] || { echo "$2: exit code $code, not $1"; cat said; exit 1; }
}

for name in cortex-m0plus cortex-m55; do
    for stem in digits_silu image; do
        compile $stem "own_$stem" $name
        compile $stem "shared_$stem" $name --arena shared_arena
    done
    sources="own_digits_silu/digits_silu.c own_image/image.c"
    runtime=$(cd shared_digits_silu && ls -d runtime/*.c | sed 's,^,shared_digits_silu/,')
    for file in shared_image/runtime/*.c; do
        [ -e "shared_digits_silu/runtime/$(basename "$file")" ] || runtime="$runtime $file"
    done
    includes="-Ishared_digits_silu/runtime -Ishared_image/runtime"
    two=$source/tests/firmware/two_models.c
    host alone -DSEPARATE -Iown_digits_silu -Iown_image $includes "$two" $sources $runtime >alone.txt
    grep -c . alone.txt | grep -q '^6$'
    shared="-Ishared_digits_silu -Ishared_image $includes $two shared_digits_silu/digits_silu.c"
    shared="$shared shared_image/image.c $runtime"
    host together $shared >host.txt
    cmp alone.txt host.txt
    chip $name "" $shared >chip.txt
    cmp alone.txt chip.txt
done

for name in cortex-m0plus cortex-m55; do
    compile digits_silu kept $name --keep-inputs
    compile digits_silu reused $name
    for folder in kept reused; do
        twice="-DMODEL_H=\"digits_silu.h\" -DMODEL=digits_silu -DARENA_BYTES=DIGITS_SILU_ARENA_BYTES
 -DINPUT_BYTES=DIGITS_SILU_INPUT0_BYTES -DOUTPUT_BYTES=DIGITS_SILU_OUTPUT0_BYTES -DDIGITS_SILU_OWN_MEMORY
 -I$folder -I$folder/runtime $flow/twice.c $folder/digits_silu.c $(ls $folder/runtime/*.c)"
        [ $folder = kept ] && want=0 || want=2 # 2: the input is no longer what it was
        code host twice $twice
        must $want "$folder on the host for $name"
        code chip $name "" $twice
        must $want "$folder on $name"
    done
done

# start-up hands over memory as it is: _init says whether it will do
cat >start.c <<'C'
#include "digits_silu.h"
CTN_ALIGN(16) static uint8_t memory[DIGITS_SILU_ARENA_BYTES + 16];
int main(void) {
    digits_silu_t model;
    if (digits_silu_init(&model, memory + 4, 0) == 0)
        return 2;
    return digits_silu_init(&model, memory, 0) != 0;
}
C
# a linker script that moves the constants by 4 bytes and has no alignment kept
sed 's,^    .ARM.exidx,    .moved : SUBALIGN(4) { LONG(0) *(.moved) } > CONST\n&,' "$boards/sections.ld" >moved.ld
sed 's,sections.ld,moved.ld,' "$boards/mps2-an385/link.ld" >link.ld
compile digits_silu kept cortex-m0plus
start="-Ikept -Ikept/runtime -DDIGITS_SILU_OWN_MEMORY start.c kept/digits_silu.c $(ls kept/runtime/*.c)"
moved="-DDIGITS_SILU_WEIGHTS_SECTION=__attribute__((section(\".moved\")))"
code host start $start
must 0 "an arena that is aligned, on the host"
code chip cortex-m0plus "" $start
must 0 "an arena that is aligned, on the chip"
code chip cortex-m0plus link.ld $start "$moved"
must 1 "constants that are not aligned"
code chip cortex-m0plus link.ld $start "$moved" -DNDEBUG
must 0 "constants that are not aligned, without the check"
