/* Sum of two activations of 8 or 16 bits on ARMv7-M with a function of it in its store
 * (scale_s16.h, map_s16.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "map_s16.h"
#include "scale_s16.h"
#include "wide.h"

typedef struct {
    const CtnAddMapS16Args *args;
    const void *a, *b;
    void *output;
    CtnMapS16 map;
    CtnSumS16 sum;
} Sum;

static void run(const void *user, int32_t first, int32_t second, int32_t at, int32_t count) {
    const Sum *s = user;
    const CtnAddMapS16Args *a = s->args;
    int32_t first_step = a->a_stride[5], second_step = a->b_stride[5];
    for (; count > 0; count--, first += first_step, second += second_step, at++) {
        int32_t p = ctn_load_wide(s->a, a->input_bytes, first) - a->a_zero_point;
        int32_t r = ctn_load_wide(s->b, a->input_bytes, second) - a->b_zero_point;
        int32_t sum = ctn_sum_s16(&s->sum, p, r);
        ctn_store_wide(s->output, a->output_bytes, at, ctn_map_s16(&s->map, sum));
    }
}

void ctn_add_map_s16_v7m(const CtnAddMapS16Args *a, const CtnFrame *frame) {
    const Sum s = {a,
                   ctn_at(frame, a->a),
                   ctn_at(frame, a->b),
                   ctn_at(frame, a->output),
                   CTN_MAP_S16(a, frame),
                   CTN_SUM_S16(a)};
    ctn_runs_at(a->dim, a->a_stride, a->b_stride, run, &s);
}
#endif
