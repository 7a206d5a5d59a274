/* A function of int16 by MVE, four numbers at a time, and their operands and results of 8 or 16
 * bits. */
#ifndef CTN_MAP_S16_MVE_H
#define CTN_MAP_S16_MVE_H

#include "map_s16.h"
#include "mve.h"
#include "wide.h"

/* The interpolation of table_s16_mve.c. */
static inline int32x4_t ctn_map_four(const CtnMapS16 *m, int32x4_t v) {
    if (!m->table) {
        int32_t q[4];
        vstrwq_s32(q, v);
        for (int i = 0; i < 4; i++)
            q[i] = ctn_map_s16(m, q[i]);
        return vldrwq_s32(q);
    }
    int32x4_t position = vaddq_n_s32(v, 32768);
    uint32x4_t entry = vreinterpretq_u32_s32(vshrq_n_s32(position, 7));
    int32x4_t first = vldrhq_gather_shifted_offset_s32(m->table, entry);
    int32x4_t slope = vsubq_s32(vldrhq_gather_shifted_offset_s32(m->table + 1, entry), first);
    slope = vmulq_s32(slope, vandq_s32(position, vdupq_n_s32(127)));
    return vaddq_s32(first, vrshrq_n_s32(slope, 7));
}

/* Four numbers from place i on, or one for all if they have a step of 0. */
static inline int32x4_t ctn_load_four(const void *q, int32_t bytes, int32_t step, int32_t i,
                                      mve_pred16_t live) {
    if (step == 0)
        return vdupq_n_s32(ctn_load_wide(q, bytes, i));
    return bytes == 2 ? vldrhq_z_s32((const int16_t *)q + i, live)
                      : vldrbq_z_s32((const int8_t *)q + i, live);
}

static inline void ctn_store_four(void *q, int32_t bytes, int32_t i, int32x4_t v,
                                  mve_pred16_t live) {
    if (bytes == 2)
        vstrhq_p_s32((int16_t *)q + i, v, live);
    else
        vstrbq_p_s32((int8_t *)q + i, v, live);
}

#endif
