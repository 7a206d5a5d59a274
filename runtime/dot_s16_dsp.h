/* The loops of rows_s16.h on DSP cores. Of four neighbouring weights the two in the middle are
 * swapped, so that SXTB16 gives the pairs that lie side by side in a row. They stay out of line:
 * within another loop a compiler would keep their pointers in memory. */
#ifndef CTN_DOT_S16_DSP_H
#define CTN_DOT_S16_DSP_H

#include "dsp.h"
#include "rows_size_s16.h"
#include "word.h"

typedef struct {
    int32_t s0, s1, s2, s3;
} DotS16;

/* Four products of both rows and both channels. */
static inline DotS16 dot_step(DotS16 d, const int16_t *x0, const int16_t *x1, uint32_t w,
                              uint32_t v) {
    uint32_t we = ctn_sxtb16(w), wo = ctn_sxtb16_odd(w);
    uint32_t ve = ctn_sxtb16(v), vo = ctn_sxtb16_odd(v);
    uint32_t a = ctn_load_word(x0), b = ctn_load_word(x0 + 2);
    d.s0 = ctn_smlad(b, wo, ctn_smlad(a, we, d.s0));
    d.s1 = ctn_smlad(b, vo, ctn_smlad(a, ve, d.s1));
    a = ctn_load_word(x1);
    b = ctn_load_word(x1 + 2);
    d.s2 = ctn_smlad(b, wo, ctn_smlad(a, we, d.s2));
    d.s3 = ctn_smlad(b, vo, ctn_smlad(a, ve, d.s3));
    return d;
}

__attribute__((noinline, unused)) static void dot_2x2(const int16_t *x0, const int16_t *x1,
                                                      const int8_t *w, int32_t pitch, int32_t count,
                                                      int32_t *s) {
    DotS16 d = {0, 0, 0, 0};
    const int8_t *w1 = w + pitch;
    for (; count > 0; count -= 4, x0 += 4, x1 += 4, w += 4, w1 += 4)
        d = dot_step(d, x0, x1, ctn_load_word(w), ctn_load_word(w1));
    s[0] = d.s0;
    s[1] = d.s1;
    s[CTN_ROWS_BATCH] = d.s2;
    s[CTN_ROWS_BATCH + 1] = d.s3;
}

static inline int32_t dot_word(uint32_t a, uint32_t b, uint32_t w, int32_t sum) {
    return ctn_smlad(b, ctn_sxtb16_odd(w), ctn_smlad(a, ctn_sxtb16(w), sum));
}

__attribute__((noinline, unused)) static void dot_1x4(const int16_t *x, const int8_t *w,
                                                      int32_t pitch, int32_t count, int32_t *s) {
    const int8_t *w1 = w + pitch, *w2 = w1 + pitch, *w3 = w2 + pitch;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; count > 0; count -= 8, x += 8, w += 8, w1 += 8, w2 += 8, w3 += 8)
        for (int i = 0; i < 8; i += 4) {
            uint32_t a = ctn_load_word(x + i), b = ctn_load_word(x + i + 2);
            s0 = dot_word(a, b, ctn_load_word(w + i), s0);
            s1 = dot_word(a, b, ctn_load_word(w1 + i), s1);
            s2 = dot_word(a, b, ctn_load_word(w2 + i), s2);
            s3 = dot_word(a, b, ctn_load_word(w3 + i), s3);
        }
    s[0] = s0;
    s[1] = s1;
    s[2] = s2;
    s[3] = s3;
}

#endif
