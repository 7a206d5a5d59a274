#!/bin/sh
# Installs what Corten needs to build and to simulate, on Debian 12 or Ubuntu 22.04 and later; with
# the argument `tests`, also what only its tests use. Packages that are there already are left alone.
set -eu
packages="cmake ninja-build gcc g++ pkg-config python3
 libzip-dev libjansson-dev libopenblas-dev libflatbuffers-dev flatbuffers-compiler
 libcmocka-dev libmd-dev libstb-dev libpng-dev libjpeg-dev qemu-system-arm gcc-arm-none-eabi
 libnewlib-arm-none-eabi"
[ "${1:-}" = tests ] &&
    packages="$packages clang python3-dev python3-venv dpkg-dev file mkdocs doxygen
 libxml2-utils"
missing=""
for p in $packages; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
sudo=""
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
