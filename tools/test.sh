#!/bin/sh
# Installs what is missing, builds Corten and its tests, and runs them; arguments are for ctest.
set -eu
cd "$(dirname "$0")/.."
tools/dependencies.sh tests
cmake --preset release -G Ninja >/dev/null
cmake --build --preset release
ctest --preset release -j2 "$@"
