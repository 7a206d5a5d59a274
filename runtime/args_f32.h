/* Argument lists (ctn.h) of what the user allowed to stay in float, in the arithmetic of float32.h:
 * the same bits on every chip and host. Elements are float32 unless a type is given. */
#ifndef CTN_ARGS_F32_H
#define CTN_ARGS_F32_H

/* The C boundary and float islands. scale and its inverse are float bits in an int32. */
#define CTN_QUANTIZE_S8_FIELDS(REF, INT, INTS)                                                     \
    REF(input) REF(output) INT(count) INT(inverse_scale) INT(zero_point)
#define CTN_DEQUANTIZE_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input) REF(output) INT(count) INT(scale) INT(zero_point)
#define CTN_QUANTIZE_S16_FIELDS(REF, INT, INTS) CTN_QUANTIZE_S8_FIELDS(REF, INT, INTS)
#define CTN_DEQUANTIZE_S16_FIELDS(REF, INT, INTS) CTN_DEQUANTIZE_S8_FIELDS(REF, INT, INTS)

/* A pointwise function as a program for a stack of up to 8 numbers: pairs of bytes, an operator and
 * the index that CTN_FLOAT_CONSTANT has. The rest take their operands from the stack. Each kernel
 * knows the operators up to its own last one, so that an image has only what it needs. */
typedef enum {
    CTN_FLOAT_A, /* operands at this place */
    CTN_FLOAT_B,
    CTN_FLOAT_C,
    CTN_FLOAT_CONSTANT,
    CTN_FLOAT_DUPLICATE,
    CTN_FLOAT_ADD,
    CTN_FLOAT_SUB,
    CTN_FLOAT_MUL,
    CTN_FLOAT_DIV,
    CTN_FLOAT_MAX, /* NaN wins */
    CTN_FLOAT_MIN,
    CTN_FLOAT_FMAX, /* NaN loses */
    CTN_FLOAT_FMIN,
    CTN_FLOAT_EQ,
    CTN_FLOAT_LT,
    CTN_FLOAT_LE,
    CTN_FLOAT_AND, /* of numbers that are not zero */
    CTN_FLOAT_OR,
    CTN_FLOAT_COPYSIGN,
    CTN_FLOAT_SELECT, /* condition, if it is not zero, if it is */
    CTN_FLOAT_NOT,
    CTN_FLOAT_NEG,
    CTN_FLOAT_ABS,
    CTN_FLOAT_SIGNBIT,
    CTN_FLOAT_FLOOR,
    CTN_FLOAT_TRUNC,
    CTN_FLOAT_ROUND,
    CTN_FLOAT_SQRT, /* the last of program_basic_f32 */
    CTN_FLOAT_EXP,
    CTN_FLOAT_LOG,
    CTN_FLOAT_EXPM1,
    CTN_FLOAT_LOG1P,
    CTN_FLOAT_TANH,
    CTN_FLOAT_SIGMOID, /* the last of program_exp_f32 */
    CTN_FLOAT_ERF,
    CTN_FLOAT_ERFC, /* the last of program_erf_f32 */
    CTN_FLOAT_FMOD,
    CTN_FLOAT_POW,
    CTN_FLOAT_ATAN2,
    CTN_FLOAT_LOG2,
    CTN_FLOAT_LOG10,
    CTN_FLOAT_SIN,
    CTN_FLOAT_COS,
    CTN_FLOAT_TAN,
    CTN_FLOAT_ASIN,
    CTN_FLOAT_ACOS,
    CTN_FLOAT_ATAN,
    CTN_FLOAT_SINH,
    CTN_FLOAT_COSH,
    CTN_FLOAT_ASINH,
    CTN_FLOAT_ACOSH,
    CTN_FLOAT_ATANH /* the last of program_f32 */
} CtnFloatOp;

/* Elementwise with broadcasting, as add_s8. Types are those of `integer`, and 7 for float32; to an
 * integer, numbers are cut towards zero and saturated, NaN gives 0. */
#define CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)                                                     \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(c)                                                                                         \
    REF(output)                                                                                    \
    REF(program)                                                                                   \
    REF(constants)                                                                                 \
    INT(length)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6)                                                                              \
    INTS(b_stride, 6) INTS(c_stride, 6) INT(a_type) INT(b_type) INT(c_type) INT(output_type)
#define CTN_PROGRAM_ERF_F32_FIELDS(REF, INT, INTS) CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)
#define CTN_PROGRAM_EXP_F32_FIELDS(REF, INT, INTS) CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)
#define CTN_PROGRAM_BASIC_F32_FIELDS(REF, INT, INTS) CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)

/* As conv3d_s8, conv2d's having a depth of one. transposed 1: as conv_transpose2d_s8. Sums begin
 * with the first tap; the bias is added last. */
#define CTN_CONV_F32_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    INT(batches)                                                                                   \
    INT(in_c)                                                                                      \
    INT(out_c)                                                                                     \
    INT(groups)                                                                                    \
    INT(transposed) INTS(in, 3) INTS(out, 3) INTS(kernel, 3) INTS(stride, 3) INTS(pad, 3)          \
        INTS(dilation, 3)

/* As matmul_s8; bias, if present, is one float per column. */
#define CTN_MATMUL_F32_FIELDS(REF, INT, INTS)                                                      \
    REF(lhs)                                                                                       \
    REF(rhs)                                                                                       \
    REF(output)                                                                                    \
    REF(bias)                                                                                      \
    INTS(batch, 4)                                                                                 \
    INTS(lhs_batch_stride, 4)                                                                      \
    INTS(rhs_batch_stride, 4)                                                                      \
    INT(rows)                                                                                      \
    INT(depth) INT(columns) INT(lhs_row_stride) INT(lhs_depth_stride) INT(rhs_depth_stride)        \
        INT(rhs_column_stride)

/* Pools, channels last; mode 0: mean, 1: maximum, 2: its int64 place in the plane. A mean divides
 * by the taps in the image, or with include_padding in the padded one. adaptive: windows as in
 * adaptive_pool2d_s8. */
#define CTN_POOL_F32_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(mode)                                                                                      \
    INT(adaptive)                                                                                  \
    INT(batches)                                                                                   \
    INT(channels)                                                                                  \
    INTS(in, 2)                                                                                    \
    INTS(out, 2) INTS(kernel, 2) INTS(stride, 2) INTS(pad_before, 2) INTS(pad_after, 2)            \
        INTS(dilation, 2) INT(include_padding)

/* Loops as in reduce_sum_s8. mode 0: the sum times factor (float bits), 1: maximum, 2: minimum,
 * 3 and 4: their int64 places, counted along the reduced dims. */
#define CTN_REDUCE_F32_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6) INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(mode) INT(factor)

/* Running sums, as cumsum_s8. */
#define CTN_CUMSUM_F32_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6) INTS(in_stride, 6) INTS(out_stride, 6) INT(count) INT(in_step) INT(out_step)

/* Softmax of beta (float bits) times the input, or its logarithm, over contiguous rows; mask as in
 * masked_softmax_s8. */
#define CTN_SOFTMAX_F32_FIELDS(REF, INT, INTS)                                                     \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(mask)                                                                                      \
    INT(rows) INT(row_size) INT(mask_rows) INT(mask_hides) INT(beta) INT(logarithm)

/* As layer_norm_s8, with gamma and beta in float; epsilon in float bits. */
#define CTN_LAYER_NORM_F32_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(gamma)                                                                                     \
    REF(beta)                                                                                      \
    INTS(dim, 4)                                                                                   \
    INTS(stride, 4)                                                                                \
    INTS(parameter_stride, 4)                                                                      \
    INTS(reduced, 4)                                                                               \
    INTS(reduced_stride, 4) INTS(reduced_parameter_stride, 4) INT(count) INT(centered)             \
        INT(epsilon)

/* Channels last. Output row y is the sum of row_weight[y][k] * input row row_index[y][k] over
 * `taps` taps, each input row of which is that of column taps likewise. */
#define CTN_RESAMPLE2D_F32_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(row_index)                                                                                 \
    REF(row_weight)                                                                                \
    REF(column_index)                                                                              \
    REF(column_weight)                                                                             \
    INT(batches) INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w) INT(taps)

/* Planes [batches][channels][in_h][in_w] at the places grid [batches][out_h * out_w][2], column
 * first. nearest, border, reflect, align_corners: 0 or 1. */
#define CTN_GRID_SAMPLE2D_F32_FIELDS(REF, INT, INTS)                                               \
    REF(input)                                                                                     \
    REF(grid)                                                                                      \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(channels)                                                                                  \
    INT(in_h) INT(in_w) INT(places) INT(nearest) INT(border) INT(reflect) INT(align_corners)

/* The first `keep` of `count` values along a line, `inner` lines interleaved, by rank: ties in the
 * order of place, NaN above all numbers. values and indices (int64) are [outer][keep][inner];
 * either may be absent, but not both. pick 0 or more: of each line only the one with that rank, or
 * NaN if there is one (keep is then count). scratch: int32 [keep]. */
#define CTN_SORT_F32_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(values)                                                                                    \
    REF(output) REF(scratch) INT(outer) INT(count) INT(inner) INT(keep) INT(descending) INT(pick)

#endif
