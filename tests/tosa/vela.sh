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

# through CASE NPU...: a folder with an archive and calib.npz, or a stem. Vela takes a TOSA file whole.
through() {
    case=$1
    shift
    archive=$case.pt2 data=$case.npz
    if [ -d "$case" ]; then
        archive=$(echo "$case"/*.pt2) data=$case/calib.npz
    fi
    for npu; do
        rm -rf "$work/out"
        "$corten" compile "$archive" -c "$data" -t "$npu" --emit tosa -o "$work/out" -q
        if ! "$venv/bin/vela" "$work"/out/*.tosa --accelerator-config "$npu" \
            --output-dir "$work/vela" >"$work/log" 2>&1 ||
            ! grep -q '^CPU operators = 0 ' "$work/log" || grep -q '^NPU operators = 0 ' "$work/log"; then
            cat "$work/log"
            echo "$case on $npu: not all on the NPU"
            exit 1
        fi
        echo "$(basename "$case") on $npu: $(sed -n 's/ *$//; /^NPU operators/p; /^Total SRAM used/p' "$work/log" | tr '\n' ' ')"
    done
}

through "$source/examples/digits_silu" ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256 ethos-u65-256 \
    ethos-u65-512 ethos-u85-128 ethos-u85-256 ethos-u85-512 ethos-u85-1024 ethos-u85-2048
for name in adaptive_max_pool bilinear_2 bilinear_aligned differences flipped_and_gathered least_of_rows masked_softmax permuted_six_dims average_of_whole_images average_over_padding group_norm groups_of_channels instance_norm layer_norm \
    layer_norm_of_images matmul_broadcast prelu_of_slopes_below_zero rms_norm softmax_of_channels softmax_of_long_rows \
    strided_slices; do
    through "$source/tests/tosa/cases/$name" ethos-u55-128 ethos-u85-256
done
for name in conv_of_stride_4 transposed_convs; do
    through "$source/tests/tosa/cases/$name" ethos-u85-256
done
shared=$source/../shared/models
[ -d "$shared" ] || exit 0
for model in digits_silu ds_cnn resnet8 mobilenet_v1_025 deep_autoencoder mobilenet_v2 yolo11n_320; do
    through "$shared/$model" ethos-u55-128 ethos-u65-256 ethos-u85-256
done
for model in digits_vit mtcnn_pnet; do
    through "$shared/$model" ethos-u55-128 ethos-u85-256
done
