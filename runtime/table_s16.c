/* Look-up of int16 by interpolation between 513 entries. */
#include "ctn.h"
#include "fix.h"

void ctn_table_s16(const CtnTableS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input);
    const int16_t *table = ctn_at(frame, a->table);
    int16_t *output = ctn_at(frame, a->output);
    for (int32_t i = 0; i < a->count; i++)
        output[i] = ctn_interpolate_s16(table, input[i]);
}
