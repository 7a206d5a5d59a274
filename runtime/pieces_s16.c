/* A function of int16 by quadratic pieces: for functions with bends, jumps or poles that tables
 * with interpolation are too coarse for. */
#include "ctn.h"
#include "map_s16.h"
#include "wide.h"

void ctn_pieces_s16(const CtnPiecesS16Args *a, const CtnFrame *frame) {
    const int16_t *input = ctn_at(frame, a->input);
    const CtnMapS16 map = {NULL, ctn_at(frame, a->start), ctn_at(frame, a->piece), a->pieces};
    void *output = ctn_at(frame, a->output);
    for (int32_t i = 0; i < a->count; i++)
        ctn_store_wide(output, a->output_bytes, i, ctn_map_pieces(&map, input[i]));
}
