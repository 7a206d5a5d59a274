/* The references of wide_s16.c, for wide_run. */
#ifndef CORTEN_KERNEL_WIDE_S16_H
#define CORTEN_KERNEL_WIDE_S16_H

#include "ctn.h"

void wide_linear_s16(const CtnLinearS16Args *a, const CtnFrame *f);
void wide_conv2d_s16(const CtnConv2dS16Args *a, const CtnFrame *f);
void wide_matmul_s16(const CtnMatmulS16Args *a, const CtnFrame *f);
void wide_reduce_sum_s16(const CtnReduceSumS16Args *a, const CtnFrame *f);
void wide_avg_pool2d_s16(const CtnAvgPool2dS16Args *a, const CtnFrame *f);
void wide_max_pool2d_s16(const CtnMaxPool2dS16Args *a, const CtnFrame *f);
void wide_softmax_s16(const CtnSoftmaxS16Args *a, const CtnFrame *f);

#endif
