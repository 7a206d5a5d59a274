/* Look-up of int8 in a table of one-byte entries on all levels without vectors. The host has
 * exchanged the halves of the table, so that an activation's byte is its index. entry_size is 1. */
#include "ctn.h"

void ctn_table_s8_v6m(const CtnTableS8Args *a, const CtnFrame *frame) {
    const uint8_t *input = ctn_at(frame, a->input), *table = ctn_at(frame, a->table);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t count = a->count;
    for (; count >= 8; count -= 8, input += 8, output += 8) {
        output[0] = table[input[0]];
        output[1] = table[input[1]];
        output[2] = table[input[2]];
        output[3] = table[input[3]];
        output[4] = table[input[4]];
        output[5] = table[input[5]];
        output[6] = table[input[6]];
        output[7] = table[input[7]];
    }
    for (; count > 0; count--)
        *output++ = table[*input++];
}
