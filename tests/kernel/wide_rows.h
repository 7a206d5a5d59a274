/* The references of wide_rows.c, for wide_run, and what they need of wide.c. */
#ifndef CORTEN_KERNEL_WIDE_ROWS_H
#define CORTEN_KERNEL_WIDE_ROWS_H

#include "ctn.h"

int64_t wide_requantize(int64_t v, int32_t multiplier, int32_t shift);
void wide_argmax(const CtnArgmaxArgs *a, const CtnFrame *f);
void wide_cumsum_s8(const CtnCumsumS8Args *a, const CtnFrame *f);
void wide_adaptive_pool2d_s8(const CtnAdaptivePool2dS8Args *a, const CtnFrame *f);
void wide_adaptive_max_indices_s8(const CtnAdaptiveMaxIndicesS8Args *a, const CtnFrame *f);
void wide_max_pool2d_indices_s8(const CtnMaxPool2dIndicesS8Args *a, const CtnFrame *f);
void wide_reduce_int(const CtnReduceIntArgs *a, const CtnFrame *f);
void wide_masked_softmax_s8(const CtnMaskedSoftmaxS8Args *a, const CtnFrame *f);
void wide_log_softmax_s8(const CtnLogSoftmaxS8Args *a, const CtnFrame *f);

#endif
