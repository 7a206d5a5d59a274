/* Mean over windows from 8 or 16 bits with a function of the result in its store
 * (avg_pool2d_s16.h, map_s16.h). */
#include "ctn.h"
#include "map_s16.h"

typedef CtnAvgPool2dMapS16Args AvgArgs;
#define AVG_STORED(map, q) ctn_map_s16(map, q)
#include "avg_pool2d_s16.h"

void ctn_avg_pool2d_map_s16(const CtnAvgPool2dMapS16Args *a, const CtnFrame *frame) {
    const CtnMapS16 map = CTN_MAP_S16(a, frame);
    avg_pool(a, frame, &map);
}
