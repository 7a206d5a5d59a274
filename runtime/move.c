/* Bytes to a lower address: what a ring of rows keeps goes to its front. */
#include "ctn.h"
#include "element.h"

/* Words where both sides and the count allow it: rows begin on words as a rule. */
void ctn_move(const CtnMoveArgs *a, const CtnFrame *frame) {
    uint8_t *output = ctn_at(frame, a->output);
    const uint8_t *input = ctn_at(frame, a->input);
    int32_t word = ((a->output | a->input | (uint32_t)a->count) & 3u) == 0 ? 4 : 1;
    ctn_move_elements(output, 1, input, 1, a->count / word, word);
}
