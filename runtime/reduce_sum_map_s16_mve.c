/* Sum or mean of int8 values over dimensions by MVE with a function of the result in its store
 * (reduce_sum_s16_mve.h, map_s16.h). */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "map_s16.h"

typedef CtnReduceSumMapS16Args SumArgs;
#define SUM_STORED(map, q) ctn_map_s16(map, q)
#include "reduce_sum_s16_mve.h"

void ctn_reduce_sum_map_s16_mve(const CtnReduceSumMapS16Args *a, const CtnFrame *frame) {
    const CtnMapS16 map = CTN_MAP_S16(a, frame);
    reduce_sum(a, frame, &map);
}
#endif
