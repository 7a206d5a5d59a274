#!/bin/sh
# The Debian package: made by cpack, with the version that the command has, and whole in itself.
# usage: package.sh BUILD_FOLDER SOURCE_FOLDER
set -eu
build=$1
source=$2
command -v dpkg-shlibdeps >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$build"
cpack -G DEB -B "$work/package" >/dev/null
cd "$work"
deb=$(echo package/*.deb)
dpkg-deb -x "$deb" root
version=$(root/usr/bin/corten --version)
[ "corten $(dpkg-deb -f "$deb" Version)" = "$version" ]
dpkg-deb -f "$deb" Depends | grep -q libzip
dpkg-deb -f "$deb" Recommends | grep -q qemu-system-arm
numbers=$(sed -n 's/#define CORTEN_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' root/usr/include/corten/version.h)
[ "corten $(echo $numbers | tr ' ' .)" = "$version" ]
test -s "$(find root/usr/lib -name libcorten.a)"
for file in usr/share/corten/runtime/ctn.h usr/share/corten/boards/startup.c \
    usr/share/corten/exports/make/Makefile usr/share/doc/corten/CHANGELOG.md; do
    test -s root/$file
done
grep -q "^## $(echo "$version" | cut -d' ' -f2)" root/usr/share/doc/corten/CHANGELOG.md
example=$source/examples/digits_silu
root/usr/bin/corten compile "$example/digits_silu.pt2" -c "$example/calib.npz" -t cortex-m4 -o out \
    --export cmake -q
test -s out/cmake/CMakeLists.txt
