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
check() {
    "$venv/bin/python" "$source/tests/tosa/check.py" "$corten" "$model" "$@"
}

cases=$source/examples/digits_silu
for name in adaptive_avg_pool add_of_unlike_scales avg_pool_ceil_counting_pads avg_pool_ceil_not_counting_pads \
    avg_pool_divisor boxes_and_scores boxes_and_scores_moved boxes_and_scores_of_two_scales cat_of_free_and_fixed concat conv_hardswish_inplace \
    conv_norm_relu_inplace grouped_conv_without_bias linear_computed_weight linear_of_tiny_inputs norm_after_cat \
    pad_same_asymmetric pad_with_one permutations residual_relu_inplace squeeze_excite stack upsample_2 \
    upsample_2_25 wide_conv1d; do
    cases="$cases $source/tests/pains/$name"
done
for name in adaptive_max_pool average_of_whole_images average_over_padding conv_of_stride_4 groups_of_channels matmul_broadcast \
    bilinear_2 bilinear_aligned differences flipped_and_gathered least_of_rows linear_3 masked_softmax permuted_six_dims \
    operators_by_other_names outer_product prelu_of_slopes_below_zero softmax_of_channels softmax_of_long_rows strided_slices transposed_convs; do
    cases="$cases $source/tests/tosa/cases/$name"
done
for name in dilated_transposed_conv wide_signal; do
    cases="$cases $source/tests/tosa/cases/$name"
done
for name in _prelu_kernel/every_element adaptive_avg_pool1d/7_to_3 adaptive_max_pool1d/7_to_3 avg_pool1d/ceil_count \
    conv_transpose2d.input/groups max_pool1d/stride_padding \
    all/of_bools any.dim/kept argmax/after_conv argmax/all_kept argmin/last bitwise_not/bool cond/taken eq.Tensor/broadcast eye.m/tall gt.Tensor/broadcast le.Tensor/broadcast logical_and/float \
    logical_xor/bool masked_fill.Scalar/broadcast tril/main where.self/broadcast; do
    cases="$cases $source/tests/op/$name"
done
for name in delays mask_turned odd/identity odd/views; do
    cases="$cases $source/tests/flow/$name"
done
for name in norms_before_linear norm_of_small_deviations norm_of_tiny_numbers rms_norm_of_32768 layer_norm layer_norm_of_images rms_norm group_norm instance_norm; do
    cases="$cases $source/tests/tosa/cases/$name"
done
for name in gru_both_ways gru_cell_that_streams gru_from_states lstm_between lstm_both_ways lstm_from_states lstm_of_100_steps rnn_of_relu \
    rnn_of_tanh running_mean; do
    cases="$cases $source/tests/tosa/cases/$name"
done
# In 16 bits bit for bit too, but for averages and sums of more than 32 bits.
for name in add_of_unlike_scales boxes_and_scores cat_of_free_and_fixed concat conv_hardswish_inplace grouped_conv_without_bias \
    linear_of_tiny_inputs pad_with_one permutations squeeze_excite stack upsample_2 upsample_2_25 wide_conv1d; do
    cases="$cases $source/tests/pains/$name=0,int16"
done
for name in adaptive_max_pool bilinear_2 bilinear_aligned differences flipped_and_gathered groups_of_channels least_of_rows \
    layer_norm linear_3 masked_softmax matmul_broadcast norms_before_linear operators_by_other_names outer_product permuted_six_dims \
    prelu_of_slopes_below_zero softmax_of_channels softmax_of_long_rows strided_slices transposed_convs; do
    cases="$cases $source/tests/tosa/cases/$name=0,int16"
done
for name in eq.Tensor/broadcast gt.Tensor/broadcast masked_fill.Scalar/broadcast where.self/broadcast; do
    cases="$cases $source/tests/op/$name=0,int16"
done
for name in pains/grouped_conv_without_bias pains/wide_conv1d tosa/cases/groups_of_channels tosa/cases/long_sums; do # weights of 4 bits
    cases="$cases $source/tests/$name=0,w4"
done
for name in pains/avg_pool_ceil_counting_pads pains/avg_pool_divisor tosa/cases/average_over_padding tosa/cases/long_sums; do
    cases="$cases $source/tests/$name=1,int16"
done
check 2 $cases
shared=$source/../shared/models
[ -d "$shared" ] || exit 0
check 2 "$shared/ds_cnn" "$shared/resnet8" "$shared/mobilenet_v1_025" "$shared/deep_autoencoder" \
    "$shared/digits_vit" "$shared/mtcnn_pnet" "$shared/silero_vad"
check 2 "$shared/digits_silu=0,int16" "$shared/resnet8=0,int16" "$shared/deep_autoencoder=0,int16"
check 1 "$shared/mobilenet_v2" "$shared/yolo11n_320"
