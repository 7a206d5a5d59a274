/* One value in every element. */
#include "ctn.h"
#include "element.h"

static void fill_run(uint8_t *output, int32_t bytes, const uint32_t element[2]) {
    if (((uintptr_t)output & 3) == 0)
        for (; bytes >= 32; bytes -= 32, output += 32) {
            CtnWord *word = (CtnWord *)output;
            word[0] = word[2] = word[4] = word[6] = element[0];
            word[1] = word[3] = word[5] = word[7] = element[1];
        }
    for (int32_t i = 0; i < bytes; i++)
        output[i] = (uint8_t)(element[i >> 2 & 1] >> (i & 3) * 8);
}

void ctn_fill(const CtnFillArgs *a, const CtnFrame *frame) {
    uint8_t *output = ctn_at(frame, a->output);
    uint32_t element[2] = {(uint32_t)a->value, (uint32_t)(a->value >> 31)}; /* sign-extended */
    if (a->element_size == 1)
        element[0] = (element[0] & 0xff) * 0x01010101u;
    else if (a->element_size == 2)
        element[0] = (element[0] & 0xffff) * 0x00010001u;
    if (a->element_size < 8)
        element[1] = element[0];
    for (int32_t run = 0; run < a->runs; run++, output += a->stride * a->element_size)
        fill_run(output, a->count * a->element_size, element);
}
