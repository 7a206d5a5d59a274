#!/bin/sh
# TOSA programs in the reference model of the wheel tosa-tools, number for number against the
# simulator: an example, modules that once failed for users, and the real models that lie beside the
# checkout in CI. Without the wheel skipped (77).
# usage: run.sh SOURCE CORTEN
set -eu
source=$1
corten=$2
venv=${CORTEN_VENV:-$source/.venv}
model=$venv/bin/tosa_reference_model
if ! [ -x "$model" ]; then
    echo "no $model: tools/python_environment.sh installs it"
    exit 77
fi
cases=$source/examples/digits_silu
for name in add_of_unlike_scales boxes_and_scores cat_of_free_and_fixed concat conv_hardswish_inplace \
    conv_norm_relu_inplace linear_of_tiny_inputs norm_after_cat pad_same_asymmetric pad_with_one \
    permutations residual_relu_inplace squeeze_excite stack upsample_2 upsample_2_25 wide_conv1d; do
    cases="$cases $source/tests/pains/$name"
done
"$venv/bin/python" "$source/tests/tosa/check.py" "$corten" "$model" 2 $cases
shared=$source/../shared/models
[ -d "$shared" ] || exit 0
"$venv/bin/python" "$source/tests/tosa/check.py" "$corten" "$model" 4 "$shared/ds_cnn" \
    "$shared/resnet8" "$shared/mobilenet_v1_025" "$shared/deep_autoencoder"
"$venv/bin/python" "$source/tests/tosa/check.py" "$corten" "$model" 1 "$shared/yolo11n_320"
