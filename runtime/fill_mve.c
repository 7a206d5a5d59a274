/* One value in every element by MVE: sixteen bytes hold a whole number of elements. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "mve.h"

void ctn_fill_mve(const CtnFillArgs *a, const CtnFrame *frame) {
    uint8_t *output = ctn_at(frame, a->output);
    uint32_t low = (uint32_t)a->value, high = (uint32_t)(a->value >> 31); /* sign-extended */
    int32_t bytes = a->count * a->element_size;
    if (a->element_size == 1)
        low = (low & 0xff) * 0x01010101u;
    else if (a->element_size == 2)
        low = (low & 0xffff) * 0x00010001u;
    if (a->element_size < 8)
        high = low;
    const uint32_t sixteen[4] = {low, high, low, high};
    const uint8x16_t value = vldrbq_u8((const uint8_t *)sixteen);
    for (; bytes >= 128; bytes -= 128, output += 128) {
        vstrbq_u8(output, value);
        vstrbq_u8(output + 16, value);
        vstrbq_u8(output + 32, value);
        vstrbq_u8(output + 48, value);
        vstrbq_u8(output + 64, value);
        vstrbq_u8(output + 80, value);
        vstrbq_u8(output + 96, value);
        vstrbq_u8(output + 112, value);
    }
    for (; bytes >= 16; bytes -= 16, output += 16)
        vstrbq_u8(output, value);
    if (bytes > 0)
        vstrbq_p_u8(output, value, vctp8q((uint32_t)bytes));
}
#endif
