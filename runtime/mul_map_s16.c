/* Product of two activations of 8 or 16 bits with a function of it in its store (map_s16.h). Of
 * int16, zero points are 0 and values within +-32767, so a product is below 2^30. */
#include "ctn.h"
#include "loop.h"
#include "map_s16.h"
#include "wide.h"

void ctn_mul_map_s16(const CtnMulMapS16Args *a, const CtnFrame *frame) {
    const void *lhs = ctn_at(frame, a->a), *rhs = ctn_at(frame, a->b);
    const CtnMapS16 map = CTN_MAP_S16(a, frame);
    void *output = ctn_at(frame, a->output);
    int32_t index[5] = {0}, first = 0, second = 0, at = 0, bytes = a->input_bytes;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        int32_t p = first, r = second;
        for (int32_t i = 0; i < a->dim[5]; i++, p += a->a_stride[5], r += a->b_stride[5]) {
            int32_t q = (ctn_load_wide(lhs, bytes, p) - a->a_zero_point) *
                        (ctn_load_wide(rhs, bytes, r) - a->b_zero_point);
            q = ctn_requantize(q, a->multiplier, a->shift);
            q = ctn_clamp(q + a->output_zero_point, a->clamp_min, a->clamp_max);
            ctn_store_wide(output, a->output_bytes, at++, ctn_map_s16(&map, q));
        }
    } while (ctn_step(5, a->dim, index, a->a_stride, &first, a->b_stride, &second));
}
