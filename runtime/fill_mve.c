/* One value in every element by MVE: sixteen bytes hold a whole number of elements. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "run_mve.h"

void ctn_fill_mve(const CtnFillArgs *a, const CtnFrame *frame) {
    uint8_t *output = ctn_at(frame, a->output);
    uint32_t low = (uint32_t)a->value, high = (uint32_t)(a->value >> 31); /* sign-extended */
    if (a->element_size == 1)
        low = (low & 0xff) * 0x01010101u;
    else if (a->element_size == 2)
        low = (low & 0xffff) * 0x00010001u;
    if (a->element_size < 8)
        high = low;
    const uint32_t sixteen[4] = {low, high, low, high};
    const uint8x16_t value = vldrbq_u8((const uint8_t *)sixteen);
    const CtnByteRows rows = {a->runs, a->count * a->element_size, 0, a->stride * a->element_size};
    if (rows.count > 0)
        ctn_fill_rows_mve(output, value, &rows);
}
#endif
