/* Sums of a producer's results (residual_s8.h) by MVE, four at a time. sum_shift is -1 or less. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "residual_s8_mve.h"
#include "scale_mve.h"

typedef struct {
    const int32_t *addends;
    const int8_t *table;
    int32_t factor, multiplier, shift, zero_point, min, max;
} Sum;

CTN_INLINE int32x4_t sum_of(const Sum *s, int32x4_t x, int32x4_t y) {
    int32x4_t sum = vldrwq_gather_shifted_offset_s32(s->addends, vreinterpretq_u32_s32(x));
    return vqrdmulhq_n_s32(vmlaq_n_s32(sum, y, s->factor), s->multiplier);
}

CTN_INLINE int32x4_t finish(const Sum *s, int32x4_t v, int looks_up) {
    v = vaddq_n_s32(vrshlq_n_s32(v, s->shift), s->zero_point);
    return ctn_end_mve(v, vdupq_n_s32(s->min), vdupq_n_s32(s->max), looks_up ? s->table : 0,
                       s->min);
}

/* Half away from zero, not up. */
CTN_INLINE int32x4_t half_away(int32x4_t v) {
    return vaddq_s32(v, vshrq_n_s32(v, 31));
}

/* Whole fours without a table. `relu`: all that is negative ends at clamp_min, however it rounds.
 */
CTN_INLINE void run_fours(const Sum *all, const int8_t *x, const int8_t *y, int8_t *to,
                          int32_t count, int relu) {
    const Sum s = *all;
    for (; count > 0; count -= 4, x += 4, y += 4, to += 4) {
        int32x4_t v = sum_of(&s, vldrbq_s32(x), vldrbq_s32(y));
        vstrbq_s32(to, finish(&s, relu ? v : half_away(v), 0));
    }
}

__attribute__((noinline)) static void run_exact(const Sum *s, const int8_t *x, const int8_t *y,
                                                int8_t *to, int32_t count) {
    run_fours(s, x, y, to, count, 0);
}

__attribute__((noinline)) static void run_relu(const Sum *s, const int8_t *x, const int8_t *y,
                                               int8_t *to, int32_t count) {
    run_fours(s, x, y, to, count, 1);
}

/* Anything else, and what is left behind fours. */
__attribute__((noinline)) static void run_any(const Sum *s, const int8_t *x, const int8_t *y,
                                              int8_t *to, int32_t count) {
    for (; count > 0; count -= 4, x += 4, y += 4, to += 4) {
        mve_pred16_t live = vctp32q((uint32_t)count);
        int32x4_t v = half_away(sum_of(s, vldrbq_z_s32(x, live), vldrbq_z_s32(y, live)));
        vstrbq_p_s32(to, finish(s, v, s->table != 0), live);
    }
}

void ctn_residual_add_mve(CtnResidual *r, const int8_t *from, int32_t count) {
    const CtnResidualArgs *a = r->a;
    const int8_t *x = a->looks_up_skip ? r->skip : from, *y = a->looks_up_skip ? from : r->skip;
    const Sum s = {r->addends,   r->table,          a->factor,        a->sum_multiplier,
                   a->sum_shift, a->sum_zero_point, a->sum_clamp_min, a->sum_clamp_max};
    int32_t whole = s.table ? 0 : count & ~3;
    if (whole > 0)
        (s.min == s.zero_point ? run_relu : run_exact)(&s, x, y, r->output, whole);
    if (whole < count)
        run_any(&s, x + whole, y + whole, r->output + whole, count - whole);
    r->skip += count;
    r->output += count;
}
#endif
