/* Bytes to another address, which may overlap: what a ring of rows keeps makes way for new ones. */
#include "ctn.h"
#include "element.h"

/* Upward onto itself, the last bytes first, at once as many as the way is long: input and output
 * differ. */
void ctn_move(const CtnMoveArgs *a, const CtnFrame *frame) {
    uint8_t *output = ctn_at(frame, a->output);
    const uint8_t *input = ctn_at(frame, a->input);
    uint32_t way = a->output - a->input; /* downward: more than there are bytes */
    int32_t most = way < (uint32_t)a->count ? (int32_t)way : a->count;
    for (int32_t left = a->count; left > 0;) {
        int32_t bytes = left < most ? left : most;
        left -= bytes;
        ctn_move_bytes(output + left, input + left, bytes);
    }
}
