#!/bin/sh
# The main job on real data: installs what is missing, builds Corten, compiles examples/digits_silu
# to int8 C for a Cortex-M55, and runs all 497 test images on the host and on QEMU's Corstone-300.
set -eu
cd "$(dirname "$0")/.."
tools/dependencies.sh
cmake --preset release -G Ninja
cmake --build --preset release --target corten
example=examples/digits_silu
out=build/digits_silu
build/corten compile $example/digits_silu.pt2 -c $example/calib.npz -t cortex-m55 -o $out
build/corten verify $out -i $example/test.npz --labels label --on qemu
