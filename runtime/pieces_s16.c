/* A function of int16 by quadratic pieces: for functions with bends, jumps or poles that tables
 * with interpolation are too coarse for. */
#include "ctn.h"
#include "wide.h"

/* The last piece that starts at q or before it. */
static int32_t piece_of(const int16_t *start, int32_t pieces, int32_t q) {
    int32_t low = 0, high = pieces;
    while (high - low > 1) {
        int32_t middle = (low + high) >> 1;
        if (start[middle] <= q)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void ctn_pieces_s16(const CtnPiecesS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input), *start = ctn_at(frame, a->start);
    const int32_t *piece = ctn_at(frame, a->piece);
    void *output = ctn_at(frame, a->output);
    for (int32_t i = 0; i < a->count; i++) {
        int32_t k = piece_of(start, a->pieces, input[i]);
        ctn_store_wide(output, a->output_bytes, i,
                       ctn_piece_s16(piece + 4 * k, input[i] - start[k]));
    }
}
