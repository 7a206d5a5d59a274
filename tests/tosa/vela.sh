#!/bin/sh
# TOSA programs through Arm's Vela: every operator on the NPU, none left to the CPU. Without the
# wheel ethos-u-vela skipped (77).
# usage: vela.sh SOURCE CORTEN
set -eu
source=$1
corten=$2
venv=${CORTEN_VENV:-$source/.venv}
if ! [ -x "$venv/bin/vela" ]; then
    echo "no $venv/bin/vela: tools/python_environment.sh installs it"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# through FOLDER ACCELERATOR...: its archive and calib.npz
through() {
    folder=$1
    shift
    rm -rf "$work/out"
    "$corten" compile "$folder"/*.pt2 -c "$folder/calib.npz" -t cortex-m55 --emit tosa -o "$work/out" -q
    for accelerator; do
        if ! "$venv/bin/vela" "$work"/out/*.tosa --accelerator-config "$accelerator" \
            --output-dir "$work/vela" >"$work/log" 2>&1 ||
            ! grep -q '^CPU operators = 0 ' "$work/log" || grep -q '^NPU operators = 0 ' "$work/log"; then
            cat "$work/log"
            echo "$folder on $accelerator: not all on the NPU"
            exit 1
        fi
        echo "$(basename "$folder") on $accelerator: $(sed -n 's/ *$//; /^NPU operators/p; /^Total SRAM used/p' "$work/log" | tr '\n' ' ')"
    done
}

through "$source/examples/digits_silu" ethos-u55-128 ethos-u65-256 ethos-u85-256
shared=$source/../shared/models
[ -d "$shared" ] || exit 0
for model in ds_cnn resnet8 mobilenet_v1_025 deep_autoencoder; do
    through "$shared/$model" ethos-u55-128 ethos-u65-256 ethos-u85-256
done
through "$shared/mobilenet_v2" ethos-u55-128
through "$shared/yolo11n_320" ethos-u55-128
