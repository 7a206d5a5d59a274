/* What the variants of kernels ask of a call before it may run: the `accepts` and `pack` functions
 * that runtime/kernels.h names in CTN_VARIANTS. */
#ifndef CORTEN_PACKING_H
#define CORTEN_PACKING_H

#include "lower/lower.h"
#include "reach.h"

bool any_call(const Call *call);
bool units_fill_four(const Call *call);
bool norm_of_runs(const Call *call);
bool prelu_of_channels(const Call *call);
void keep_constants(C *c, Graph *g, Call *call);

/* The bytes of the constant that a field refers to; NULL if it is absent. */
const void *call_data(const Call *call, const uint32_t *field);

/* The constants of all outputs are one stream now, in the place of the weights. */
void constants_pack(Call *call, const char *what, DType element, const void *stream, int64_t bytes,
                    int align);
/* A clamp that is not the saturation of 8 bits becomes a table. */
void store_pack(Call *call);

/* A convolution whose pixels can lie in one row, which becomes so; its kernel takes `block` pixels
 * at once. */
bool conv2d_is_matrix(const CtnConv2dS8Args *a);
void conv2d_to_one_row(Call *call, int block);

bool table_of_bytes(const Call *call);
void pack_table_of_bytes(C *c, Graph *g, Call *call);

bool softmax_by_table(const Call *call);
void pack_softmax_table(C *c, Graph *g, Call *call);

/* DSP: dot_dsp.h says how weights lie. */
bool conv2d_accepts_dsp(const Call *call);
void conv2d_pack_dsp(C *c, Graph *g, Call *call);
void conv2d_pack_dsp_small(C *c, Graph *g, Call *call);
bool depthwise_accepts_dsp(const Call *call);
bool depthwise_accepts_dsp_small(const Call *call);
void depthwise_pack_dsp_small(C *c, Graph *g, Call *call);
void depthwise_pack_dsp(C *c, Graph *g, Call *call);
bool max_pool_of_quads(const Call *call);
bool avg_pool_of_quads(const Call *call);
/* The weights of the taps that reach one pair of remainders of a transposed convolution, [out_c]
 * and side by side: those of the convolution that it is. */
const int8_t *reached_weights(C *c, const CtnConvTranspose2dS8Args *a, const int8_t *weights,
                              const CtnReach *down, const CtnReach *across);
/* Calls `visit` for each pair, rows first. */
void for_each_reach(const CtnConvTranspose2dS8Args *a,
                    void (*visit)(void *user, const CtnReach *down, const CtnReach *across),
                    void *user);
bool conv_transpose2d_accepts_dsp(const Call *call);
void conv_transpose2d_pack_dsp(C *c, Graph *g, Call *call);
bool matmul_accepts_dsp(const Call *call);
bool matmul_of_dense_rows(const Call *call);
bool matmul_of_small_sums(const Call *call);
void pack_matmul_sums(C *c, Graph *g, Call *call);
void matmul_pack_dsp(C *c, Graph *g, Call *call);
/* Does a sum's operand have half of its value, to the bit? */
bool add_is_exact(int32_t multiplier, int32_t shift);
/* Is the store that dot_dsp.h describes exact for sums up to `sum`? */
bool short_store_is_exact(int64_t sum, int32_t multiplier, int32_t shift, int32_t zero_point);
bool add_in_short_store(const Call *call);
void pack_add_dims(C *c, Graph *g, Call *call);
bool mul_in_short_store(const Call *call);
void pack_mul_dims(C *c, Graph *g, Call *call);
bool linear_accepts_dsp(const Call *call);
void linear_pack_dsp(C *c, Graph *g, Call *call);

/* All `count` shifts are -1 or less: the rounding of VRSHL is put right for those only. */
bool shifts_right(const Call *call, const uint32_t *field, int count);

/* ARMv6-M: dot_v6m.h says how weights lie. */
void pack_conv2d_bytes(C *c, Graph *g, Call *call);
void pack_conv_transpose2d_bytes(C *c, Graph *g, Call *call);
void pack_linear_bytes(C *c, Graph *g, Call *call);
bool depthwise_words(const Call *call);
void pack_depthwise_words(C *c, Graph *g, Call *call);

/* ARMv7-M without DSP: dot_v7m.h and vector_v7m.h say how weights lie. */
bool conv2d_dots(const Call *call);
void pack_conv_transpose2d_dots(C *c, Graph *g, Call *call);
void pack_conv2d_dots(C *c, Graph *g, Call *call);
bool depthwise_strips(const Call *call);
void pack_depthwise_strips(C *c, Graph *g, Call *call);
bool linear_dots(const Call *call);
void pack_linear_dots(C *c, Graph *g, Call *call);

/* MVE: pair_s8_mve.h says how weights lie. */
bool conv2d_pairs(const Call *call);
void pack_conv2d_pairs(C *c, Graph *g, Call *call);
/* The same with all channels in groups. */
void pack_conv2d_whole_pairs(C *c, Graph *g, Call *call);
bool conv_transpose2d_pairs(const Call *call);
void pack_conv_transpose2d_pairs(C *c, Graph *g, Call *call);

/* MVE: taps_s8_mve.h says how weights lie. */
bool depthwise_taps(const Call *call);
void pack_depthwise_taps(C *c, Graph *g, Call *call);

/* MVE: row_s8_mve.h says how weights lie. */
bool linear_rows(const Call *call);
void pack_linear_rows(C *c, Graph *g, Call *call);

/* MVE: operand a dense along the last dim, b dense or broadcast there. */
bool add_runs(const Call *call);
void pack_add_runs(C *c, Graph *g, Call *call);
bool mul_runs(const Call *call);
void pack_mul_runs(C *c, Graph *g, Call *call);

/* MVE: pools. */
bool max_pool_of_bytes(const Call *call);
bool avg_pool_of_few_taps(const Call *call);

/* MVE: outputs side by side in the input; a copy along a dim that is dense on one side. */
bool sum_of_neighbours(const Call *call);
bool sum_of_neighbouring_bytes(const Call *call);
bool copy_of_bytes(const Call *call);
void pack_copy_of_bytes(C *c, Graph *g, Call *call);
bool mapped_copy_of_runs(const Call *call);
void pack_mapped_copy(C *c, Graph *g, Call *call);

/* MVE: a product of activations whose rows are dense. */
bool matmul_of_rows(const Call *call);
void pack_matmul_of_rows(C *c, Graph *g, Call *call);

/* Weights of 4 bits (pack_int4.c). A call of theirs becomes one of the kernel for 8 if the level
 * has a variant of that. MVE: pair_w4_mve.h and row_w4_mve.h say how they lie. */
void int4_to_bytes(Call *call, const char *isa);
bool conv2d_int4_pairs(const Call *call);
void pack_conv2d_int4_pairs(C *c, Graph *g, Call *call);
bool linear_int4_rows(const Call *call);
void pack_linear_int4_rows(C *c, Graph *g, Call *call);

/* Scalar levels: rows_w4.h says how they lie. */
bool conv2d_int4_bytes(const Call *call);
void pack_conv2d_int4_bytes(C *c, Graph *g, Call *call);
void pack_linear_int4_bytes(C *c, Graph *g, Call *call);
/* DSP: dot_w4_dsp.h and linear_s8w4_dsp.c say how they lie. */
bool conv2d_int4_rows(const Call *call);
void pack_conv2d_int4_rows(C *c, Graph *g, Call *call);
bool linear_int4_words(const Call *call);
void pack_linear_int4_words(C *c, Graph *g, Call *call);
/* Linear layers of several rows can be the pixels of a convolution with one tap. Is the call's
 * variant one that has them so? */
bool linear_runs_as_pixels(const Call *call);
void linear_to_pixels(C *c, Call *call);
/* The same for a call that was not settled, and packs it by the same level. */
void pack_as_pixels(C *c, Graph *g, Call *call);

/* Layers between 8 and 16 bits: rows_s16.h says how weights lie. */
bool conv2d_by_rows(const Call *call);
bool conv2d_by_rows_mapped(const Call *call);
void pack_conv2d_by_rows(C *c, Graph *g, Call *call);
void pack_conv2d_by_rows_dsp(C *c, Graph *g, Call *call);
bool linear_of_rows(const Call *call);
bool linear_of_rows_mapped(const Call *call);
void pack_linear_by_rows(C *c, Graph *g, Call *call);
void pack_linear_by_rows_dsp(C *c, Graph *g, Call *call);

/* int16 operands that go on by 0 or 1 along the last dim, factors that shift to the right. */
bool add_of_halves(const Call *call);
bool mul_of_halves(const Call *call);
/* The same of operands of any width, with a function in the store. */
bool add_mapped(const Call *call);
bool mul_mapped(const Call *call);

/* Sums in the store of what makes an operand (runtime/residual_s8.h). */
bool conv2d_add_dots(const Call *call);
void pack_conv2d_add_bytes(C *c, Graph *g, Call *call);
void pack_conv2d_add_dots(C *c, Graph *g, Call *call);
bool conv2d_add_accepts_dsp(const Call *call);
void conv2d_add_pack_dsp(C *c, Graph *g, Call *call);
bool conv2d_add_pairs(const Call *call);
void pack_conv2d_add_pairs(C *c, Graph *g, Call *call);
bool conv2d_add_int4_rows(const Call *call);
void pack_conv2d_add_int4_rows(C *c, Graph *g, Call *call);
bool conv2d_add_int4_pairs(const Call *call);
void pack_conv2d_add_int4_pairs(C *c, Graph *g, Call *call);

#endif
