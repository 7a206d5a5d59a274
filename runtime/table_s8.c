/* Look-up of int8 in a table of 256 entries of 1, 2, 4 or 8 bytes. */
#include "ctn.h"

void ctn_table_s8(const CtnTableS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const void *table = ctn_at(frame, a->table);
    void *output = ctn_at(frame, a->output);
    if (a->entry_size == 1)
        for (int32_t i = 0; i < a->count; i++)
            ((uint8_t *)output)[i] = ((const uint8_t *)table)[input[i] + 128];
    else if (a->entry_size == 2)
        for (int32_t i = 0; i < a->count; i++)
            ((uint16_t *)output)[i] = ((const uint16_t *)table)[input[i] + 128];
    else if (a->entry_size == 8)
        for (int32_t i = 0; i < a->count; i++)
            ((uint64_t *)output)[i] = ((const uint64_t *)table)[input[i] + 128];
    else
        for (int32_t i = 0; i < a->count; i++)
            ((uint32_t *)output)[i] = ((const uint32_t *)table)[input[i] + 128];
}
