/* Look-up of int8 in a table of one-byte entries, sixteen at a time by gathering loads, the tail
 * predicated. The host has exchanged the halves of the table, so that an activation's byte is its
 * index. entry_size is 1. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "mve.h"

void ctn_table_s8_mve(const CtnTableS8Args *a, const CtnFrame *frame) {
    const uint8_t *input = ctn_at(frame, a->input);
    const uint8_t *table = ctn_at(frame, a->table);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t count = a->count, i = 0;
    for (; i <= count - 16; i += 16) {
        uint8x16_t q = vldrbq_u8(input + i);
        vstrbq_u8(output + i, vldrbq_gather_offset_u8(table, q));
    }
    if (i < count) {
        mve_pred16_t live = vctp8q((uint32_t)(count - i));
        uint8x16_t q = vldrbq_z_u8(input + i, live);
        vstrbq_p_u8(output + i, vldrbq_gather_offset_z_u8(table, q, live), live);
    }
}
#endif
