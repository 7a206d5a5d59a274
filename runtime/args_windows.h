/* Argument lists (ctn.h) of what makes one number of many: pools, reductions, softmax, norms; of
 * resizes; and of recurrent layers. */
#ifndef CTN_ARGS_WINDOWS_H
#define CTN_ARGS_WINDOWS_H

/* Pools, channels last. Padding never wins a maximum. avg: the rounded mean of raw q over the
 * taps that count (`include_padding`: padding taps count with the value zero point; divisor > 0
 * overrides). Unless multiplier is 0: the mean of q - input_zero_point, rounded to 1/256, times
 * multiplier and shift. */
#define CTN_MAX_POOL2D_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(channels)                                                                                  \
    INT(out_h) INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top)     \
        INT(pad_left) INT(dilation_h) INT(dilation_w) INT(clamp_min) INT(clamp_max)
#define CTN_AVG_POOL2D_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(channels)                                                                                  \
    INT(out_h) INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top)     \
        INT(pad_left) INT(pad_bottom) INT(pad_right) INT(include_padding) INT(divisor)             \
            INT(input_zero_point) INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min) \
                INT(clamp_max)

/* max: 16 bits in and out. avg: 8 or 16 bits in and out, the mean
 * of q - input_zero_point in steps of 2^-16 times multiplier and shift. */
#define CTN_MAX_POOL2D_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(channels)                                                                                  \
    INT(out_h)                                                                                     \
    INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top) INT(pad_left)  \
        INT(dilation_h) INT(dilation_w) INT(clamp_min) INT(clamp_max)
#define CTN_AVG_POOL2D_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(channels)                                                                                  \
    INT(out_h)                                                                                     \
    INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top) INT(pad_left)  \
        INT(pad_bottom) INT(pad_right) INT(include_padding) INT(divisor) INT(input_bytes)          \
            INT(output_bytes) INT(input_zero_point) INT(output_zero_point) INT(multiplier)         \
                INT(shift) INT(clamp_min) INT(clamp_max)

/* The same with a function in the store (CTN_MAP_S16_FIELDS). Of bytes a maximum has a table of
 * int16 [257]: one entry for each byte and a last that counts for nothing. */
#define CTN_MAX_POOL2D_MAP_S16_FIELDS(REF, INT, INTS)                                              \
    CTN_MAX_POOL2D_S16_FIELDS(REF, INT, INTS)                                                      \
    CTN_MAP_S16_FIELDS(REF, INT) INT(input_bytes) INT(output_bytes)
#define CTN_AVG_POOL2D_MAP_S16_FIELDS(REF, INT, INTS)                                              \
    CTN_AVG_POOL2D_S16_FIELDS(REF, INT, INTS) CTN_MAP_S16_FIELDS(REF, INT)

/* Sum over reduced dims of (q - input_zero_point), requantized (a mean has 1/count in its
 * multiplier). Output contiguous over dim[0..5]; in_stride its strides in the input. */
#define CTN_REDUCE_SUM_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6)                                                                             \
    INTS(reduced, 6)                                                                               \
    INTS(reduced_stride, 6)                                                                        \
    INT(input_zero_point)                                                                          \
    INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)
/* mode 0: maximum, 1: minimum. */
#define CTN_REDUCE_MAX_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table) INTS(dim, 6) INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(mode)

/* The same of int16, without a table. */
#define CTN_REDUCE_MAX_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output) INTS(dim, 6) INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(mode)
/* With a function in the store, as max_pool2d_map_s16 has it. */
#define CTN_REDUCE_MAX_MAP_S16_FIELDS(REF, INT, INTS)                                              \
    CTN_REDUCE_MAX_S16_FIELDS(REF, INT, INTS)                                                      \
    CTN_MAP_S16_FIELDS(REF, INT) INT(input_bytes) INT(output_bytes)

/* arm_softmax_s8's arithmetic over rows of row_size contiguous values; output scale 1/256, zero
 * point -128. exponentials are for variants (int32, by distance from the maximum). */
#define CTN_SOFTMAX_S8_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(exponentials)                                                                              \
    REF(scratch) INT(rows) INT(row_size) INT(multiplier) INT(shift) INT(diff_min)

/* Softmax with a mask, and to any output grid: probabilities in Q.24 times multiplier and shift.
 * mask, if present: bytes [mask_rows][row_size], used over and over; a value counts where its
 * byte's truth differs from mask_hides. A row without any gives all zeros. */
#define CTN_MASKED_SOFTMAX_S8_FIELDS(REF, INT, INTS)                                               \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(mask)                                                                                      \
    INT(rows)                                                                                      \
    INT(row_size)                                                                                  \
    INT(mask_rows)                                                                                 \
    INT(mask_hides)                                                                                \
    INT(multiplier) INT(shift) INT(diff_min) INT(output_zero_point) INT(output_multiplier)         \
        INT(output_shift)

/* masked_softmax_s8 from and to 8 or 16 bits. */
#define CTN_SOFTMAX_S16_FIELDS(REF, INT, INTS)                                                     \
    CTN_MASKED_SOFTMAX_S8_FIELDS(REF, INT, INTS) INT(input_bytes) INT(output_bytes)

/* log_softmax over rows of row_size contiguous values: exponentials as in softmax_s8;
 * (q - max) is scaled by ratio_multiplier and ratio_shift, the logarithm of the sum in Q5.26 by
 * log_multiplier and log_shift, both to 1/256 of an output step. */
#define CTN_LOG_SOFTMAX_S8_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(rows)                                                                                      \
    INT(row_size)                                                                                  \
    INT(multiplier)                                                                                \
    INT(shift)                                                                                     \
    INT(diff_min)                                                                                  \
    INT(output_zero_point) INT(ratio_multiplier) INT(ratio_shift) INT(log_multiplier)              \
        INT(log_shift)

/* (x - mean) / sqrt(variance + epsilon) * gamma + beta, statistics over the reduced dims for each
 * step of dim[0..3]; input and output have the same strides. gamma int16 and beta int32 in gamma's
 * scale (2^-16 without gamma), both optional, at the sum of both parameter strides; multiplier and
 * shift take that scale to the output. count: elements of a group, below 2^22. centered 0: the
 * mean is taken as zero (RMS). epsilon: low and high half of epsilon * count^2 / scale^2. */
#define CTN_LAYER_NORM_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(gamma)                                                                                     \
    REF(beta)                                                                                      \
    REF(table)                                                                                     \
    INTS(dim, 4)                                                                                   \
    INTS(stride, 4)                                                                                \
    INTS(parameter_stride, 4) INTS(reduced, 4) INTS(reduced_stride, 4)                             \
        INTS(reduced_parameter_stride, 4) INT(count) INT(centered) INT(epsilon_low)                \
            INT(epsilon_high) INT(input_zero_point) INT(output_zero_point) INT(multiplier)         \
                INT(shift) INT(clamp_min) INT(clamp_max)

/* int64 place of the first maximum (mode 0) or minimum (mode 1) among count values a stride
 * apart, of input_bytes (1 or 2) each, for each step of dim[0..5]. */
#define CTN_ARGMAX_FIELDS(REF, INT, INTS)                                                          \
    REF(input)                                                                                     \
    REF(output) INTS(dim, 6) INTS(in_stride, 6) INT(count) INT(stride) INT(mode) INT(input_bytes)

/* Running sums of (q - input_zero_point) along count values, for each step of dim[0..5]. */
#define CTN_CUMSUM_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6)                                                                             \
    INTS(out_stride, 6)                                                                            \
    INT(count)                                                                                     \
    INT(in_step)                                                                                   \
    INT(out_step) INT(input_zero_point) INT(output_zero_point) INT(multiplier) INT(shift)

/* Pools whose window i of n covers floor(i * in / n) .. ceil((i + 1) * in / n) - 1.
 * mode 0: mean, as avg_pool2d_s8, in steps of 1/256 before it is requantized; 1: maximum.
 * Requantized unless multiplier is 0. */
#define CTN_ADAPTIVE_POOL2D_S8_FIELDS(REF, INT, INTS)                                              \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(channels)                                                                                  \
    INT(out_h) INT(out_w) INT(mode) INT(input_zero_point) INT(output_zero_point) INT(multiplier)   \
        INT(shift) INT(clamp_min) INT(clamp_max)

/* int64 place in the plane, y * in_w + x, of the first maximum of max_pool2d_s8's windows. */
#define CTN_MAX_POOL2D_INDICES_S8_FIELDS(REF, INT, INTS)                                           \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w)                                                                                      \
    INT(channels)                                                                                  \
    INT(out_h)                                                                                     \
    INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top) INT(pad_left)  \
        INT(dilation_h) INT(dilation_w)

/* int64 place in the plane of the first maximum of adaptive_pool2d_s8's windows. */
#define CTN_ADAPTIVE_MAX_INDICES_S8_FIELDS(REF, INT, INTS)                                         \
    REF(input)                                                                                     \
    REF(output) INT(batches) INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w)

/* Integers of in_size bytes (1, 4, 8, signed), reduced as in reduce_sum_s8 to out_size bytes.
 * mode 0: sum, 1: maximum, 2: minimum. */
#define CTN_REDUCE_INT_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(in_size) INT(out_size) INT(mode)

/* Recurrent layers, one direction: input [steps][batches][in_size], output
 * [steps][batches][size]; the hidden state between steps is the output. x_weights
 * [gates * size][in_size] and h_weights [gates * size][size] with a factor to Q15.16 per row; bias
 * int32 in Q15.16; tangent (and sigmoid) int16 [513] from Q3.12 to Q0.15. multiplier and shift:
 * from the new state (lstm Q0.30, gru of state_bits, rnn tanh Q0.15, relu Q15.16) to the output. */
#define CTN_RECURRENT_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(x_weights)                                                                                 \
    REF(h_weights)                                                                                 \
    REF(bias)                                                                                      \
    REF(x_multiplier)                                                                              \
    REF(x_shift) REF(h_multiplier) REF(h_shift) REF(tangent) INT(steps) INT(batches) INT(in_size)  \
        INT(size) INT(reverse) INT(input_zero_point) INT(output_zero_point) INT(multiplier)        \
            INT(shift)
/* h0 [batches][size]: the int8 state before, absent for zeros; h0_multiplier and h0_shift are the
 * ratio of its scale to the output's. */
#define CTN_HIDDEN_FIELDS(REF, INT, INTS)                                                          \
    REF(h0) INT(h0_zero_point) INT(h0_multiplier) INT(h0_shift)
#define CTN_RNN_S8_FIELDS(REF, INT, INTS)                                                          \
    CTN_RECURRENT_FIELDS(REF, INT, INTS) CTN_HIDDEN_FIELDS(REF, INT, INTS)
/* h0 and state [batches][size]: int16 with state_bits fraction bits (at most 15), before (absent
 * for zeros) and after all steps. scratch: int8 [batches][size], if there is h0. */
#define CTN_GRU_S8_FIELDS(REF, INT, INTS)                                                          \
    CTN_RECURRENT_FIELDS(REF, INT, INTS)                                                           \
    REF(sigmoid) REF(h0) REF(state) REF(scratch) INT(state_bits)
/* c0 and cell [batches][size]: int16 with cell_bits fraction bits (at most 12), before (absent for
 * zeros) and after all steps. */
#define CTN_LSTM_S8_FIELDS(REF, INT, INTS)                                                         \
    CTN_RECURRENT_FIELDS(REF, INT, INTS)                                                           \
    CTN_HIDDEN_FIELDS(REF, INT, INTS) REF(sigmoid) REF(c0) REF(cell) INT(cell_bits)

/* As reduce_sum_s8, between 8 and 16 bits, as linear_s16. */
#define CTN_REDUCE_SUM_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6)                                                                             \
    INTS(reduced, 6)                                                                               \
    INTS(reduced_stride, 6)                                                                        \
    INT(input_bytes)                                                                               \
    INT(output_bytes)                                                                              \
    INT(input_zero_point) INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min)         \
        INT(clamp_max)
/* With a function in the store (CTN_MAP_S16_FIELDS). */
#define CTN_REDUCE_SUM_MAP_S16_FIELDS(REF, INT, INTS)                                              \
    CTN_REDUCE_SUM_S16_FIELDS(REF, INT, INTS) CTN_MAP_S16_FIELDS(REF, INT)

/* Channels last. rows[out_h] and columns[out_w] say between which two inputs an output lies:
 * low << 13 | weight of low + 1 (or of the last), 0..4096. */
#define CTN_UPSAMPLE_BILINEAR2D_S8_FIELDS(REF, INT, INTS)                                          \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(rows) REF(columns) INT(batches) INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w)
#define CTN_UPSAMPLE_BILINEAR2D_S16_FIELDS(REF, INT, INTS)                                         \
    CTN_UPSAMPLE_BILINEAR2D_S8_FIELDS(REF, INT, INTS)

#endif
