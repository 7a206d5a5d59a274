/* Look-up of int8 in a table of one-byte entries, four at a time. q + 128 is q with its top bit
 * flipped, so one exclusive or makes four indices. entry_size is 1. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "word.h"

void ctn_table_s8_dsp(const CtnTableS8Args *a, const CtnFrame *frame) {
    const uint8_t *input = ctn_at(frame, a->input);
    const uint8_t *table = ctn_at(frame, a->table);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t count = a->count, i = 0;
    for (; i <= count - 4; i += 4) {
        uint32_t q = ctn_load_word(input + i) ^ 0x80808080u;
        output[i] = table[q & 0xff];
        output[i + 1] = table[q >> 8 & 0xff];
        output[i + 2] = table[q >> 16 & 0xff];
        output[i + 3] = table[q >> 24];
    }
    for (; i < count; i++)
        output[i] = table[input[i] ^ 0x80u];
}
#endif
