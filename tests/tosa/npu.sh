#!/bin/sh
# Models with parts for an Ethos-U: their C with Vela's real output in it, on the host and under QEMU,
# with a driver hook that plays the NPU. Without the wheels skipped (77).
# usage: npu.sh SOURCE CORTEN
set -eu
source=$1
corten=$2
venv=${CORTEN_VENV:-$source/.venv}
for tool in vela tosa_reference_model; do
    if ! [ -x "$venv/bin/$tool" ]; then
        echo "no $venv/bin/$tool: tools/python_environment.sh installs it"
        exit 77
    fi
done

# play NPU CASE...
play() {
    npu=$1
    shift
    "$venv/bin/python" "$source/tests/tosa/npu.py" "$corten" "$source" "$venv/bin/vela" \
        "$venv/bin/tosa_reference_model" "$npu" "$@"
}

play ethos-u55-128 "$source/examples/digits_silu" "$source/tests/tosa/cases/lstm_between" \
    "$source/tests/tosa/cases/conv_of_stride_4"
play ethos-u85-256 "$source/tests/tosa/cases/lstm_between"
shared=$source/../shared/models
[ -d "$shared" ] || exit 0
play ethos-u55-128 "$shared/mtcnn_pnet" "$shared/resnet8"
