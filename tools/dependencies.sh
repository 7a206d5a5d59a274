#!/bin/sh
# Installs what Corten needs to build, to test and to simulate, on Debian 12 or Ubuntu 22.04 and
# later. Packages that are there already are left alone.
set -eu
packages="cmake ninja-build gcc g++ clang pkg-config python3 python3-dev python3-venv
 libzip-dev libjansson-dev libopenblas-dev libflatbuffers-dev flatbuffers-compiler
 libmd-dev libstb-dev libpng-dev libjpeg-dev libcmocka-dev qemu-system-arm gcc-arm-none-eabi
 libnewlib-arm-none-eabi dpkg-dev mkdocs doxygen"
missing=""
for p in $packages; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
