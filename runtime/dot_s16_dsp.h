/* The loops of rows_s16.h on DSP cores. Of four neighbouring weights the two in the middle are
 * swapped, so that SXTB16 gives the pairs that lie side by side in a row. */
#ifndef CTN_DOT_S16_DSP_H
#define CTN_DOT_S16_DSP_H

#include "dsp.h"
#include "word.h"

static inline void dot_2x2(const int16_t *x0, const int16_t *x1, const int8_t *w0, const int8_t *w1,
                           int32_t count, int32_t sum[4]) {
    int32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (; count > 0; count -= 4, x0 += 4, x1 += 4, w0 += 4, w1 += 4) {
        uint32_t w = ctn_load_word(w0), v = ctn_load_word(w1);
        uint32_t we = ctn_sxtb16(w), wo = ctn_sxtb16_odd(w);
        uint32_t ve = ctn_sxtb16(v), vo = ctn_sxtb16_odd(v);
        uint32_t a = ctn_load_word(x0), b = ctn_load_word(x0 + 2);
        s0 = ctn_smlad(b, wo, ctn_smlad(a, we, s0));
        s2 = ctn_smlad(b, vo, ctn_smlad(a, ve, s2));
        a = ctn_load_word(x1);
        b = ctn_load_word(x1 + 2);
        s1 = ctn_smlad(b, wo, ctn_smlad(a, we, s1));
        s3 = ctn_smlad(b, vo, ctn_smlad(a, ve, s3));
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

static inline int32_t dot_word(uint32_t a, uint32_t b, uint32_t w, int32_t sum) {
    return ctn_smlad(b, ctn_sxtb16_odd(w), ctn_smlad(a, ctn_sxtb16(w), sum));
}

static inline void dot_1x4(const int16_t *x, const int8_t *w, int32_t pitch, int32_t count,
                           int32_t sum[4]) {
    const int8_t *w1 = w + pitch, *w2 = w1 + pitch, *w3 = w2 + pitch;
    int32_t s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (int32_t k = 0; k < count; k += 4, x += 4) {
        uint32_t a = ctn_load_word(x), b = ctn_load_word(x + 2);
        s0 = dot_word(a, b, ctn_load_word(w + k), s0);
        s1 = dot_word(a, b, ctn_load_word(w1 + k), s1);
        s2 = dot_word(a, b, ctn_load_word(w2 + k), s2);
        s3 = dot_word(a, b, ctn_load_word(w3 + k), s3);
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

#endif
