#!/bin/sh
# Every kind of --export, built by the tool that it is for: CMake and make as they are, Arduino and
# Zephyr by the layout that they document and a stub of what they bring, the pack by the schema of
# packs (PACK.xsd 1.7.60 as Open-CMSIS-Pack publishes it, under the licence that it names) and by
# what else a pack must have.
# usage: exports.sh CORTEN SOURCE_FOLDER
set -eu
corten=$1
source=$2
here=$source/tests/firmware
command -v arm-none-eabi-gcc >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
example=$source/examples/digits_silu
"$corten" compile "$example/digits_silu.pt2" -c "$example/calib.npz" -t cortex-m4 -o out -q \
    --export cmake --export make --export arduino --export zephyr --export cmsis-pack
cpu="-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"
generic="-DCMAKE_SYSTEM_NAME=Generic -DCMAKE_C_COMPILER=arm-none-eabi-gcc
 -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"
strict="-Wall -Wextra -Wpedantic -Wconversion -Werror"

# links a program with the archive $1 from the headers in the folders after it
link() {
    archive=$1
    shift
    flags=""
    for folder; do flags="$flags -I$folder"; done
    arm-none-eabi-gcc $cpu -std=c11 $strict $flags "$here/user.c" "$archive" \
        --specs=nosys.specs -Wl,--no-warn-mismatch -o user.elf 2>link.log || { cat link.log; exit 1; }
    test -s user.elf
}

# a folder is whole in itself: whatever else was written is not there
alone() {
    mv "out/$1" "$1"
}

for kind in cmake make arduino zephyr cmsis-pack; do alone $kind; done
rm -r out

cmake -S cmake -B b1 $generic "-DCMAKE_C_FLAGS=$cpu $strict" >/dev/null
cmake --build b1 >/dev/null
link b1/libdigits_silu.a cmake cmake/runtime
cmake -S "$here/cmake" -B b2 $generic -DMODEL="$work/cmake" "-DCMAKE_C_FLAGS=$cpu" >/dev/null
cmake --build b2 >/dev/null

make -s -C make CFLAGS="-O1 $strict"
link make/build/libdigits_silu.a make make/runtime
make -s -C make clean

for property in name version author maintainer sentence paragraph category url architectures; do
    grep -q "^$property=." arduino/library.properties
done
mkdir b3
for c in arduino/src/*.c; do
    arm-none-eabi-gcc $cpu -std=gnu11 -Os $strict -Iarduino/src -c "$c" -o "b3/$(basename "$c").o"
done
arm-none-eabi-ar rcs b3/library.a b3/*.o
arm-none-eabi-g++ $cpu -std=gnu++11 -Os -Wall -Wextra -Werror -x c++ -include "$here/Arduino.h" \
    -Iarduino/src -c arduino/examples/digits_silu/digits_silu.ino -o b3/sketch.o
arm-none-eabi-gcc $cpu b3/sketch.o b3/library.a --specs=nosys.specs -o b3/sketch.elf 2>link.log ||
    { cat link.log; exit 1; } # nothing of the sketch or the library needs libstdc++

grep -q '^name: digits_silu$' zephyr/zephyr/module.yml
grep -q '^config DIGITS_SILU$' zephyr/Kconfig
cmake -S "$here/zephyr" -B b4 $generic -DMODULE="$work/zephyr" -DCONFIG_DIGITS_SILU=y \
    "-DCMAKE_C_FLAGS=$cpu $strict" >/dev/null
cmake --build b4 >/dev/null
link b4/module/libdigits_silu.a zephyr/src zephyr/src/runtime
cmake -S "$here/zephyr" -B b5 $generic -DMODULE="$work/zephyr" >/dev/null # switched off

python3 "$here/check_pack.py" cmsis-pack
xmllint --nonet --noout --schema "$here/PACK.xsd" cmsis-pack/*.pdsc 2>schema.log || { cat schema.log; exit 1; }
mkdir b6
for c in cmsis-pack/model/*.c cmsis-pack/runtime/*.c; do
    arm-none-eabi-gcc $cpu -std=c11 -O2 $strict -Icmsis-pack/model -Icmsis-pack/runtime -c "$c" \
        -o "b6/$(basename "$c").o"
done
