/* Sum or mean over dimensions, from and to 8 or 16 bits (reduce_sum_s16.h). */
#include "ctn.h"

typedef CtnReduceSumS16Args SumArgs;
#define SUM_STORED(map, q) ((void)(map), (q))
#include "reduce_sum_s16.h"

void ctn_reduce_sum_s16(const CtnReduceSumS16Args *a, const CtnFrame *frame) {
    reduce_sum(a, frame, 0);
}
