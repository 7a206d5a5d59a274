/* Mean over windows from and to 8 or 16 bits (avg_pool2d_s16.h). */
#include "ctn.h"

typedef CtnAvgPool2dS16Args AvgArgs;
#define AVG_STORED(map, q) ((void)(map), (q))
#include "avg_pool2d_s16.h"

void ctn_avg_pool2d_s16(const CtnAvgPool2dS16Args *a, const CtnFrame *frame) {
    avg_pool(a, frame, 0);
}
