/* Look-up of int8 in a table of one-byte entries, a word of them at a time: a byte's sign extension
 * is its index from the middle of the table. entry_size is 1. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "word.h"

static inline void look_up_4(const uint8_t *middle, const int8_t *input, uint8_t *output) {
    int32_t q = (int32_t)ctn_load_word(input);
    output[0] = middle[(int8_t)q];
    output[1] = middle[(int8_t)(q >> 8)];
    output[2] = middle[(int8_t)(q >> 16)];
    output[3] = middle[q >> 24];
}

void ctn_table_s8_dsp(const CtnTableS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const uint8_t *middle = (const uint8_t *)ctn_at(frame, a->table) + 128;
    uint8_t *output = ctn_at(frame, a->output);
    int32_t count = a->count;
    for (; count >= 16; count -= 16, input += 16, output += 16) {
        look_up_4(middle, input, output);
        look_up_4(middle, input + 4, output + 4);
        look_up_4(middle, input + 8, output + 8);
        look_up_4(middle, input + 12, output + 12);
    }
    for (; count > 0; count--)
        *output++ = middle[*input++];
}
#endif
