/* Sum or mean of int8 values over dimensions by MVE (reduce_sum_s16_mve.h). */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"

typedef CtnReduceSumS16Args SumArgs;
#define SUM_STORED(map, q) ((void)(map), (q))
#include "reduce_sum_s16_mve.h"

void ctn_reduce_sum_s16_mve(const CtnReduceSumS16Args *a, const CtnFrame *frame) {
    reduce_sum(a, frame, 0);
}
#endif
