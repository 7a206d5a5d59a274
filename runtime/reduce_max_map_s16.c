/* Maximum or minimum of 8 or 16 bits over dimensions with a function of it in its store
 * (map_s16.h); of nothing it is the smallest or largest value. */
#include "ctn.h"
#include "loop.h"
#include "map_s16.h"
#include "wide.h"

static const int32_t still[6] = {0};

static int32_t best_of(const CtnReduceMaxMapS16Args *a, const void *input, int32_t from) {
    int32_t index[6] = {0}, zero = 0, most = a->input_bytes == 1 ? 127 : 32767;
    int32_t best = a->mode == 0 ? -most : most;
    if (ctn_is_empty(6, a->reduced))
        return best;
    do {
        int32_t q = ctn_load_wide(input, a->input_bytes, from);
        if (a->mode == 0 ? q > best : q < best)
            best = q;
    } while (ctn_step(6, a->reduced, index, a->reduced_stride, &from, still, &zero));
    return best;
}

void ctn_reduce_max_map_s16(const CtnReduceMaxMapS16Args *a, const CtnFrame *frame) {
    const CtnMapS16 map = CTN_MAP_S16(a, frame);
    const void *input = ctn_at(frame, a->input);
    void *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, offset = 0, zero = 0, at = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int32_t q = best_of(a, input, offset);
        q = a->input_bytes == 1 ? ctn_map_byte(q) : q;
        ctn_store_wide(output, a->output_bytes, at++, ctn_map_s16(&map, q));
    } while (ctn_step(6, a->dim, index, a->in_stride, &offset, still, &zero));
}
