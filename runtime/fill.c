/* One value in every element. */
#include "ctn.h"
#include "element.h"

void ctn_fill(const CtnFillArgs *a, const CtnFrame *frame) {
    uint8_t *output = ctn_at(frame, a->output);
    uint8_t element[8];
    for (int k = 0; k < 8; k++) /* little-endian; wider elements are sign-extended */
        element[k] = (uint8_t)((uint32_t)(k < 4 ? a->value : a->value >> 31) >> (k % 4 * 8));
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t k = 0; k < a->element_size; k++)
            *output++ = element[k];
}
