#!/bin/sh
# Installs into an empty folder and uses what is there as another project would: the command with
# the runtime beside it, the CMake package, the pkg-config file.
# usage: run.sh BUILD_FOLDER SOURCE_FOLDER
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/usr" >/dev/null
example=$source/examples/digits_silu
"$work/usr/bin/corten" compile "$example/digits_silu.pt2" -c "$example/calib.npz" -t cortex-m4 -o "$work/out" -q
test -f "$work/out/runtime/ctn.h"
for page in corten corten-compile corten-verify; do
    test -s "$(find "$work/usr" -path "*/man1/$page.1")"
done
bash -n "$(find "$work/usr" -path '*/bash-completion/completions/corten')"
test -s "$(find "$work/usr" -name _corten)"
test -s "$(find "$work/usr" -name corten.fish)"
cmake -S "$source/tests/install" -B "$work/b" -DCMAKE_PREFIX_PATH="$work/usr" >/dev/null
cmake --build "$work/b" >/dev/null
"$work/b/user" | grep -q cortex-m55
PKG_CONFIG_PATH=$(dirname "$(find "$work/usr" -name corten.pc)")
export PKG_CONFIG_PATH
cc "$source/tests/install/main.c" $(pkg-config --define-variable=prefix="$work/usr" --cflags --libs corten) -o "$work/user"
"$work/user" | grep -q cortex-m0plus
