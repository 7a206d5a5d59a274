#!/bin/sh
# ExecuTorch programs in the wheel executorch, number for number against the simulator, and their
# planned memory against what ExecuTorch plans for the same model on a Cortex-M55: an example, modules
# that once failed for users, and the real models that lie beside the checkout in CI. Without the
# wheel skipped (77).
# usage: run.sh SOURCE CORTEN
set -eu
source=$1
corten=$2
venv=${CORTEN_VENV:-$source/.venv}
if ! "$venv/bin/python" -c 'import executorch' 2>/dev/null; then
    echo "no executorch in $venv: tools/python_environment.sh installs it"
    exit 77
fi
check() {
    "$venv/bin/python" -W ignore "$source/tests/pte/check.py" "$corten" "$@"
}
cases=$source/examples/digits_silu=0,6512
for name in add_of_unlike_scales conv_norm_relu_inplace linear_of_tiny_inputs residual_relu_inplace wide_conv1d; do
    cases="$cases $source/tests/pains/$name"
done
check 4 $cases
shared=$source/../shared/models
[ -d "$shared" ] || exit 0
peer=$source/../shared/peer
check 1 "$peer/batch_matmul/bmm_large_batch" "$peer/max_pool2d/maxpool_3x3_s2_pad1" "$peer/conv/conv1d" \
    "$peer/conv/depthwise_conv2d" "$peer/linear/linear_rank4"
check 2 "$shared/ds_cnn=1,20464" "$shared/resnet8=1,50768" "$shared/mobilenet_v1_025=1,138240" \
    "$shared/deep_autoencoder=0,3200"
