/* The list of references. */
#include "kernel/wide.h"

#include "kernel/wide_math.h"

#define WIDE_CASE(name)                                                                            \
    case CTN_KERNEL_##name:                                                                        \
        wide_##name(args, frame);                                                                  \
        break;

bool wide_knows(int id) {
    bool is_float = id >= CTN_KERNEL_program_f32 && id <= CTN_KERNEL_sort_f32;
    return id != CTN_KERNEL_layer_norm_s8 && !is_float;
}

void wide_run(int id, const void *args, const CtnFrame *frame) {
    switch (id) {
        WIDE_CASE(conv2d_s8)
        WIDE_CASE(conv2d_add_s8)
        WIDE_CASE(conv2d_add_s8w4)
        WIDE_CASE(conv2d_channels_s8)
        WIDE_CASE(depthwise_conv2d_s8)
        WIDE_CASE(conv3d_s8)
        WIDE_CASE(conv_transpose2d_s8)
        WIDE_CASE(linear_s8)
        WIDE_CASE(conv2d_s8w4)
        WIDE_CASE(depthwise_conv2d_s8w4)
        WIDE_CASE(linear_s8w4)
        WIDE_CASE(matmul_s8)
        WIDE_CASE(add_s8)
        WIDE_CASE(add_s16)
        WIDE_CASE(add_map_s16)
        WIDE_CASE(mul_s8)
        WIDE_CASE(mul_s16)
        WIDE_CASE(mul_map_s16)
        WIDE_CASE(div_s8)
        WIDE_CASE(div_s16)
        WIDE_CASE(minmax_s8)
        WIDE_CASE(minmax_s16)
        WIDE_CASE(compare_s8)
        WIDE_CASE(compare_s16)
        WIDE_CASE(logical_s8)
        WIDE_CASE(where)
        WIDE_CASE(prelu_s8)
        WIDE_CASE(pointwise2_s8)
        WIDE_CASE(integer)
        WIDE_CASE(quantize_integer)
        WIDE_CASE(rescale)
        WIDE_CASE(table_s8)
        WIDE_CASE(lstm_s8)
        WIDE_CASE(gru_s8)
        WIDE_CASE(rnn_s8)
        WIDE_CASE(table_s16)
        WIDE_CASE(pieces_s16)
        WIDE_CASE(copy)
        WIDE_CASE(gather)
        WIDE_CASE(move)
        WIDE_CASE(fill)
        WIDE_CASE(take)
        WIDE_CASE(upsample_bilinear2d_s8)
        WIDE_CASE(upsample_bilinear2d_s16)
        WIDE_CASE(max_pool2d_s8)
        WIDE_CASE(avg_pool2d_s8)
        WIDE_CASE(reduce_sum_s8)
        WIDE_CASE(reduce_max_s8)
        WIDE_CASE(reduce_max_s16)
        WIDE_CASE(reduce_max_map_s16)
        WIDE_CASE(softmax_s8)
        WIDE_CASE(argmax)
        WIDE_CASE(cumsum_s8)
        WIDE_CASE(adaptive_pool2d_s8)
        WIDE_CASE(adaptive_max_indices_s8)
        WIDE_CASE(max_pool2d_indices_s8)
        WIDE_CASE(reduce_int)
        WIDE_CASE(masked_softmax_s8)
        WIDE_CASE(log_softmax_s8)
        WIDE_CASE(linear_s16)
        WIDE_CASE(conv2d_s16)
        WIDE_CASE(matmul_s16)
        WIDE_CASE(reduce_sum_s16)
        WIDE_CASE(reduce_sum_map_s16)
        WIDE_CASE(avg_pool2d_s16)
        WIDE_CASE(avg_pool2d_map_s16)
        WIDE_CASE(max_pool2d_s16)
        WIDE_CASE(max_pool2d_map_s16)
        WIDE_CASE(softmax_s16)
        WIDE_CASE(quantize_s8)
        WIDE_CASE(dequantize_s8)
        WIDE_CASE(quantize_s16)
        WIDE_CASE(dequantize_s16)
    }
}
