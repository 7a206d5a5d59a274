/* Look-up of int16 by interpolation between 513 entries by MVE, four elements at a time. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "mve.h"

void ctn_table_s16_mve(const CtnTableS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input), *table = ctn_at(frame, a->table);
    int16_t *output = ctn_at(frame, a->output);
    const int32x4_t fraction = vdupq_n_s32(127);
    for (int32_t left = a->count; left > 0; left -= 4, input += 4, output += 4) {
        mve_pred16_t live = vctp32q((uint32_t)left);
        int32x4_t position = vaddq_n_s32(vldrhq_z_s32(input, live), 32768);
        uint32x4_t entry = vreinterpretq_u32_s32(vshrq_n_s32(position, 7));
        int32x4_t first = vldrhq_gather_shifted_offset_s32(table, entry);
        int32x4_t slope = vsubq_s32(vldrhq_gather_shifted_offset_s32(table + 1, entry), first);
        slope = vmulq_s32(slope, vandq_s32(position, fraction));
        vstrhq_p_s32(output, vaddq_s32(first, vrshrq_n_s32(slope, 7)), live);
    }
}
#endif
