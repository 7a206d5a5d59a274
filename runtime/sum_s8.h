/* Sum of two activations, on a level whose header of scaling was included before (ctn_smmlar,
 * ctn_ssat8_half). The operand with the larger scale has the factor 1/2, which is exact:
 * (q - z) * 2^19. The other is 2 (q - z) * 2^20 times its multiplier by SMMLAR, the rounding added
 * in the same step, then shifted right by n >= 1; a negative value rounds half away from zero,
 * hence one less. Packing has joined dimensions and has proven that one operand is exact; n <= 30;
 * |operand| < 2^27, so that twice the sum stays below 2^29; and for the output what dot_dsp.h asks
 * of a store. */
#ifndef CTN_SUM_S8_H
#define CTN_SUM_S8_H

#include "ctn.h"
#include "fix.h"
#include "loop.h"

typedef struct {
    int32_t exact_factor;                             /* of twice the exact operand: +-2^20 */
    int32_t factor, offset, multiplier, round, shift; /* of the other */
    int32_t sum;                                      /* zero point of the exact one, doubled */
    int32_t out_multiplier, out_round, out_shift;
    int32_t min, max;
    const int8_t *table;
} CtnSum8;

static inline int32_t ctn_sum_of(const CtnSum8 *s, int32_t exact, int32_t other) {
    int32_t x = other * s->factor + s->offset;
    int32_t t = ctn_smmlar(x, s->multiplier, s->round) + (x >> 31);
    int32_t sum = s->sum + (int32_t)((uint32_t)(t >> s->shift) << 1) + exact * s->exact_factor;
    return (ctn_smmlar(sum, s->out_multiplier, s->out_round) + (sum >> 31)) >> s->out_shift;
}

static inline void ctn_sum_line(const CtnSum8 *sum, const int8_t *exact, int32_t exact_step,
                                const int8_t *other, int32_t other_step, int8_t *output,
                                int32_t count) {
    const CtnSum8 s = *sum; /* a copy, which stores of bytes cannot change */
    if (!s.table && s.max - s.min == 255 && exact_step == 1 && other_step == 1)
        for (; count > 0; count--)
            *output++ = (int8_t)ctn_ssat8_half(ctn_sum_of(&s, *exact++, *other++));
    for (; count > 0; count--, exact += exact_step, other += other_step)
        *output++ = ctn_finish_s8(ctn_sum_of(&s, *exact, *other) >> 1, s.min, s.max, s.table);
}

typedef struct {
    int8_t *q;
    const int32_t *stride;
    int32_t zero_point, multiplier, shift;
} CtnSumOperand;

/* Where both operands are exact, `other` is (q - z) * 2^22 / 2, rounded to what it is. */
static inline void ctn_sum_begin(CtnSum8 *s, const CtnAddS8Args *a, const CtnSumOperand *exact,
                                 const CtnSumOperand *other, const CtnSumOperand *output) {
    int both = other->shift == 0;
    int32_t factor = 1 << (both ? 22 : 21), shift = both ? 1 : -other->shift;
    factor = other->multiplier < 0 ? -factor : factor;
    int32_t exact_factor = exact->multiplier < 0 ? -(1 << 20) : 1 << 20;
    s->exact_factor = exact_factor;
    s->factor = factor;
    s->offset = -other->zero_point * factor;
    s->multiplier = other->multiplier < 0 ? -other->multiplier : other->multiplier;
    s->round = 1 << (shift - 1);
    s->shift = shift;
    s->sum = -exact->zero_point * exact_factor;
    s->out_multiplier = output->multiplier;
    s->out_shift = -output->shift - 1;
    s->out_round = (2 * output->zero_point + 1) * (1 << s->out_shift);
    s->min = a->clamp_min;
    s->max = a->clamp_max;
}

/* Out of line, for a kernel of a single addition shall stay below 1 KB. numbers: zero point,
 * multiplier and shift, as the arguments have them. */
__attribute__((noinline)) static void ctn_sum_operand(CtnSumOperand *o, const CtnFrame *frame,
                                                      CtnRef ref, const int32_t *stride,
                                                      const int32_t *numbers) {
    o->q = ctn_at(frame, ref);
    o->stride = stride;
    o->zero_point = numbers[0];
    o->multiplier = numbers[1];
    o->shift = numbers[2];
}

static inline void ctn_sum_s8(const CtnAddS8Args *a, const CtnFrame *frame) {
    CtnSumOperand both[2], to; /* the exact one first */
    ctn_sum_operand(&both[a->a_shift != 0], frame, a->a, a->a_stride, &a->a_zero_point);
    ctn_sum_operand(&both[a->a_shift == 0], frame, a->b, a->b_stride, &a->b_zero_point);
    ctn_sum_operand(&to, frame, a->output, 0, &a->output_zero_point);
    const CtnSumOperand *exact = &both[0], *other = &both[1];
    CtnSum8 s;
    ctn_sum_begin(&s, a, exact, other, &to);
    s.table = ctn_at(frame, a->table);
    int8_t *output = to.q;
    int32_t index[5] = {0}, l = 0, r = 0;
    if (ctn_is_empty(6, a->dim))
        return;
    do {
        ctn_sum_line(&s, exact->q + l, exact->stride[5], other->q + r, other->stride[5], output,
                     a->dim[5]);
        output += a->dim[5];
    } while (ctn_step(5, a->dim, index, exact->stride, &l, other->stride, &r));
}

#endif
