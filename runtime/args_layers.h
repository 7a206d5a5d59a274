/* Argument lists (ctn.h) of convolutions, linear layers and matrix products. */
#ifndef CTN_ARGS_LAYERS_H
#define CTN_ARGS_LAYERS_H

/* Convolution, channels last. input [batches][in_h][in_w][in_c];
 * weights [out_c][kernel_h][kernel_w][in_c / groups]; bias int32 [out_c] or absent;
 * multiplier int32 [out_c], shift int8 [out_c]; output [batches][out_h][out_w][out_c].
 * out = clamp(requantize(bias + sum((q - input_zero_point) * w)) + output_zero_point); taps in the
 * padding count as zero. If table (int8 [clamp_max - clamp_min + 1]: 256, or 1024 for clamps of
 * -512..511) is present, out = table[out - clamp_min]. So with every kernel that has a clamp.
 * `gathered` is for variants, bits: CTN_GATHERED when the host found that windows are better copied
 * together, CTN_UNFOLDED when the channels beyond whole groups are stored without padding. */
enum { CTN_GATHERED = 1, CTN_UNFOLDED = 2 };

#define CTN_CONV2D_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(in_c)                                                                                      \
    INT(out_h)                                                                                     \
    INT(out_w)                                                                                     \
    INT(out_c)                                                                                     \
    INT(kernel_h)                                                                                  \
    INT(kernel_w)                                                                                  \
    INT(stride_h)                                                                                  \
    INT(stride_w)                                                                                  \
    INT(pad_top)                                                                                   \
    INT(pad_left)                                                                                  \
    INT(dilation_h)                                                                                \
    INT(dilation_w)                                                                                \
    INT(groups)                                                                                    \
    INT(input_zero_point) INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(gathered)

/* A sum in the store of what makes one of its operands: of each result q, which is stored nowhere,
 * and the element s of `skip` beside it (same shape, dense). With x, y = q, s or, if looks_up_skip
 * is set, s, q:
 *
 *   out = clamp(requantize(addends[x + 128] + y * factor) + sum_zero_point)
 *
 * by sum_multiplier, sum_shift and sum_clamp_*, then sum_table if there is one. addends, int32
 * [256], has what add_s8 makes of x, and y's zero point; factor is that of the operand with the
 * larger scale, +-2^19: so the result is, bit for bit, that of add_s8. output may be the memory of
 * skip. `block` is for variants: where in scratch they have room for a few results. */
#define CTN_RESIDUAL_FIELDS(REF, INT)                                                              \
    REF(skip)                                                                                      \
    REF(addends)                                                                                   \
    REF(sum_table)                                                                                 \
    INT(block)                                                                                     \
    INT(looks_up_skip)                                                                             \
    INT(factor)                                                                                    \
    INT(sum_multiplier) INT(sum_shift) INT(sum_zero_point) INT(sum_clamp_min) INT(sum_clamp_max)

#define CTN_CONV2D_ADD_S8_FIELDS(REF, INT, INTS)                                                   \
    CTN_CONV2D_S8_FIELDS(REF, INT, INTS)                                                           \
    CTN_RESIDUAL_FIELDS(REF, INT)

/* As conv2d_s8 with groups = in_c: output channel c reads input channel c / (out_c / in_c).
 * weights [kernel_h][kernel_w][out_c]. `turned` is for variants: set when the host found that to go
 * down the columns is better, and packed the weights so. */
#define CTN_DEPTHWISE_CONV2D_S8_FIELDS(REF, INT, INTS)                                             \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(in_c)                                                                                      \
    INT(out_h)                                                                                     \
    INT(out_w)                                                                                     \
    INT(out_c)                                                                                     \
    INT(kernel_h)                                                                                  \
    INT(kernel_w)                                                                                  \
    INT(stride_h)                                                                                  \
    INT(stride_w)                                                                                  \
    INT(pad_top)                                                                                   \
    INT(pad_left)                                                                                  \
    INT(dilation_h)                                                                                \
    INT(dilation_w)                                                                                \
    INT(input_zero_point) INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(turned)

/* The same with weights of 4 bits, -7..7, two a byte in their order, the first in the low bits;
 * each stands for 16 times its value. */
#define CTN_CONV2D_S8W4_FIELDS(REF, INT, INTS) CTN_CONV2D_S8_FIELDS(REF, INT, INTS)
#define CTN_CONV2D_ADD_S8W4_FIELDS(REF, INT, INTS) CTN_CONV2D_ADD_S8_FIELDS(REF, INT, INTS)
#define CTN_DEPTHWISE_CONV2D_S8W4_FIELDS(REF, INT, INTS)                                           \
    CTN_DEPTHWISE_CONV2D_S8_FIELDS(REF, INT, INTS)

/* conv2d_s8 with a depth: input [batches][in_d][in_h][in_w][in_c],
 * weights [out_c][kernel_d][kernel_h][kernel_w][in_c / groups]. */
#define CTN_CONV3D_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(table)                                                                                     \
    INT(batches)                                                                                   \
    INT(in_d)                                                                                      \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(in_c)                                                                                      \
    INT(out_d)                                                                                     \
    INT(out_h)                                                                                     \
    INT(out_w)                                                                                     \
    INT(out_c)                                                                                     \
    INT(kernel_d)                                                                                  \
    INT(kernel_h)                                                                                  \
    INT(kernel_w)                                                                                  \
    INT(stride_d)                                                                                  \
    INT(stride_h)                                                                                  \
    INT(stride_w)                                                                                  \
    INT(pad_front)                                                                                 \
    INT(pad_top)                                                                                   \
    INT(pad_left)                                                                                  \
    INT(dilation_d)                                                                                \
    INT(dilation_h)                                                                                \
    INT(dilation_w)                                                                                \
    INT(groups) INT(input_zero_point) INT(output_zero_point) INT(clamp_min) INT(clamp_max)

/* Some of the output channels of a convolution: channels, int32 [channel_count][2], says which and
 * the first of the `depth` input channels that each reads; weights
 * [channel_count][kernel_h][kernel_w][depth], bias, multiplier and shift have those alone. Of the
 * output nothing else is written. Along each axis tap k of output o reads input p / ratio for
 * p = start + o * step + k * tap, where that is an integer within the image: start = -padding,
 * step = stride, tap = dilation and ratio = 1 for a convolution, start = padding, step = 1,
 * tap = -dilation and ratio = stride for a transposed one. */
#define CTN_CONV2D_CHANNELS_S8_FIELDS(REF, INT, INTS)                                              \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(table)                                                                                     \
    REF(channels)                                                                                  \
    INT(channel_count)                                                                             \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(in_c)                                                                                      \
    INT(out_h)                                                                                     \
    INT(out_w)                                                                                     \
    INT(out_c)                                                                                     \
    INT(kernel_h)                                                                                  \
    INT(kernel_w)                                                                                  \
    INT(start_h)                                                                                   \
    INT(start_w)                                                                                   \
    INT(step_h)                                                                                    \
    INT(step_w)                                                                                    \
    INT(tap_h)                                                                                     \
    INT(tap_w)                                                                                     \
    INT(ratio_h)                                                                                   \
    INT(ratio_w)                                                                                   \
    INT(depth) INT(input_zero_point) INT(output_zero_point) INT(clamp_min) INT(clamp_max)

/* Transposed convolution, as a gather: out[oy][ox] sums the taps with
 * oy + pad_top - ky * dilation_h = iy * stride_h, 0 <= iy < in_h.
 * weights [out_c][kernel_h][kernel_w][in_c / groups], filter not reversed. */
#define CTN_CONV_TRANSPOSE2D_S8_FIELDS(REF, INT, INTS) CTN_CONV2D_S8_FIELDS(REF, INT, INTS)

/* input [rows][depth], weights [columns][depth], output [rows][columns]; per-column factors. */
#define CTN_LINEAR_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INT(rows)                                                                                      \
    INT(depth)                                                                                     \
    INT(columns) INT(input_zero_point) INT(output_zero_point) INT(clamp_min) INT(clamp_max)

/* With weights of 4 bits as in conv2d_s8w4. */
#define CTN_LINEAR_S8W4_FIELDS(REF, INT, INTS) CTN_LINEAR_S8_FIELDS(REF, INT, INTS)

/* Product of two activations over batch[0..3] with element strides (0 broadcasts):
 * out[b][m][n] = sum_k (lhs - lhs_zero_point) * (rhs - rhs_zero_point). Output is contiguous. */
#define CTN_MATMUL_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(lhs)                                                                                       \
    REF(rhs)                                                                                       \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INTS(batch, 4)                                                                                 \
    INTS(lhs_batch_stride, 4)                                                                      \
    INTS(rhs_batch_stride, 4)                                                                      \
    INT(rows)                                                                                      \
    INT(depth)                                                                                     \
    INT(columns)                                                                                   \
    INT(lhs_row_stride)                                                                            \
    INT(lhs_depth_stride)                                                                          \
    INT(rhs_depth_stride)                                                                          \
    INT(rhs_column_stride)                                                                         \
    INT(lhs_zero_point)                                                                            \
    INT(rhs_zero_point)                                                                            \
    INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)

/* Between activations of 8 and 16 bits, weights int8: as the kernels named _s8, with 64-bit sums,
 * one rounding half up (wide.h). *_bytes: 1 or 2, the width of that operand; int16 has zero point
 * 0. shift <= 14. conv2d_s16 is also depthwise. `narrow` is for variants: set when the host found
 * that all sums fit int32 and all shifts are -2 or less.
 *
 * A function in the store: with a table (as of table_s16) or pieces (as of pieces_s16) the clamped
 * result is an int16 that is stored nowhere, and what is stored, output_bytes wide, is the function
 * of it. */
#define CTN_MAP_S16_FIELDS(REF, INT) REF(table) REF(start) REF(piece) INT(pieces)
#define CTN_LINEAR_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(scratch)                                                                                   \
    CTN_MAP_S16_FIELDS(REF, INT)                                                                   \
    INT(rows)                                                                                      \
    INT(depth)                                                                                     \
    INT(columns)                                                                                   \
    INT(input_bytes)                                                                               \
    INT(output_bytes)                                                                              \
    INT(input_zero_point) INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(narrow)
#define CTN_CONV2D_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(scratch)                                                                                   \
    CTN_MAP_S16_FIELDS(REF, INT)                                                                   \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(in_c)                                                                                      \
    INT(out_h)                                                                                     \
    INT(out_w)                                                                                     \
    INT(out_c)                                                                                     \
    INT(kernel_h)                                                                                  \
    INT(kernel_w)                                                                                  \
    INT(stride_h)                                                                                  \
    INT(stride_w)                                                                                  \
    INT(pad_top)                                                                                   \
    INT(pad_left)                                                                                  \
    INT(dilation_h)                                                                                \
    INT(dilation_w)                                                                                \
    INT(groups)                                                                                    \
    INT(input_bytes)                                                                               \
    INT(output_bytes)                                                                              \
    INT(input_zero_point) INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(narrow)
#define CTN_MATMUL_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(lhs)                                                                                       \
    REF(rhs)                                                                                       \
    REF(output)                                                                                    \
    INTS(batch, 4)                                                                                 \
    INTS(lhs_batch_stride, 4)                                                                      \
    INTS(rhs_batch_stride, 4)                                                                      \
    INT(rows)                                                                                      \
    INT(depth)                                                                                     \
    INT(columns)                                                                                   \
    INT(lhs_row_stride)                                                                            \
    INT(lhs_depth_stride)                                                                          \
    INT(rhs_depth_stride)                                                                          \
    INT(rhs_column_stride)                                                                         \
    INT(lhs_bytes)                                                                                 \
    INT(rhs_bytes)                                                                                 \
    INT(output_bytes)                                                                              \
    INT(lhs_zero_point)                                                                            \
    INT(rhs_zero_point)                                                                            \
    INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)

#endif
