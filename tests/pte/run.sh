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
cases=$source/examples/digits_silu=0,6512
for name in adaptive_avg_pool add_of_unlike_scales avg_pool_ceil_counting_pads avg_pool_ceil_not_counting_pads=1 avg_pool_divisor \
    boxes_and_scores cat_of_free_and_fixed conv_norm_relu_inplace grouped_conv_without_bias linear_computed_weight \
    linear_of_tiny_inputs pad_same_asymmetric pad_with_one permutations residual_relu_inplace squeeze_excite stack upsample_2 \
    wide_conv1d; do
    cases="$cases $source/tests/pains/$name"
done
for name in adaptive_max_pool average_over_padding differences flipped_and_gathered groups_of_channels matmul_broadcast \
    operators_by_other_names outer_product \
    permuted_six_dims prelu_of_slopes_below_zero quotients=1 softmax_of_channels=1 softmax_of_long_rows=1 strided_slices \
    dilated_transposed_conv long_upsampled_signals=0,28000 transposed_convs; do
    cases="$cases $source/tests/tosa/cases/$name"
done
for name in _prelu_kernel/every_element avg_pool1d/ceil_count avg_pool1d/plain=1 max_pool1d/stride_padding adaptive_max_pool1d/7_to_3; do
    cases="$cases $source/tests/op/$name"
done
for name in pains/linear_of_tiny_inputs pains/wide_conv1d tosa/cases/groups_of_channels tosa/cases/transposed_convs; do # weights of 4 bits
    cases="$cases $source/tests/$name=0,,cortex-m55,w4"
done
set -- 2 $cases
shared=$source/../shared/models
peer=$source/../shared/peer
if [ -d "$shared" ]; then
    set -- "$@" "$shared/ds_cnn=1,20464" "$shared/resnet8=1,50768" "$shared/mobilenet_v1_025=1,138240,cortex-m4" \
        "$shared/deep_autoencoder=0,3200"
    set -- "$@" 1 "$peer/batch_matmul/bmm_large_batch" "$peer/max_pool2d/maxpool_3x3_s2_pad1" "$peer/conv/conv1d" \
        "$peer/conv/depthwise_conv2d" "$peer/linear/linear_rank4" "$shared/digits_silu=0,6512" \
        "$shared/mtcnn_pnet=1,116000" "$shared/mobilenet_v2=1,1509744,cortex-m55" "$shared/yolo11n_320=1,1619200,cortex-m55"
fi
"$venv/bin/python" -W ignore "$source/tests/pte/check.py" "$corten" "$@"
