/* Copying and filling bytes by MVE, in whole vectors: up to 15 bytes behind the end are written,
 * none behind it are read. */
#ifndef CTN_VECTOR_MVE_H
#define CTN_VECTOR_MVE_H

#include "mve.h"

static inline void ctn_vector_copy(int8_t *to, const int8_t *from, int32_t bytes) {
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64) {
        int8x16_t a = vldrbq_s8(from), b = vldrbq_s8(from + 16);
        int8x16_t c = vldrbq_s8(from + 32), d = vldrbq_s8(from + 48);
        vstrbq_s8(to, a);
        vstrbq_s8(to + 16, b);
        vstrbq_s8(to + 32, c);
        vstrbq_s8(to + 48, d);
    }
    for (; bytes >= 16; bytes -= 16, to += 16, from += 16)
        vstrbq_s8(to, vldrbq_s8(from));
    if (bytes > 0)
        vstrbq_s8(to, vldrbq_z_s8(from, vctp8q((uint32_t)bytes)));
}

static inline void ctn_vector_fill(int8_t *to, int32_t value, int32_t bytes) {
    const int8x16_t v = vdupq_n_s8((int8_t)value);
    for (; bytes > 0; bytes -= 16, to += 16)
        vstrbq_s8(to, v);
}

/* A strip: the rows of an image that one output row reads, from column x0 on, with the padding on
 * all sides filled in. */
typedef struct {
    const int8_t *image;
    int32_t in_h, in_w, channels;
    int32_t x0, width; /* columns */
    int32_t rows, row_step, zero_point;
} CtnStrip;

/* Writes rows * width * channels bytes and up to 15 more. */
static inline void ctn_strip_mve(const CtnStrip *s, int32_t y0, int8_t *to) {
    int32_t left = s->x0 < 0 ? -s->x0 : 0, right = s->in_w - s->x0;
    left = left > s->width ? s->width : left;
    right = right > s->width ? s->width : right;
    for (int32_t k = 0; k < s->rows; k++, to += s->width * s->channels) {
        int32_t y = y0 + k * s->row_step;
        if (y < 0 || y >= s->in_h) {
            ctn_vector_fill(to, s->zero_point, s->width * s->channels);
            continue;
        }
        if (left > 0)
            ctn_vector_fill(to, s->zero_point, left * s->channels);
        ctn_vector_copy(to + left * s->channels,
                        s->image + (y * s->in_w + s->x0 + left) * s->channels,
                        (right - left) * s->channels);
        if (right < s->width)
            ctn_vector_fill(to + right * s->channels, s->zero_point,
                            (s->width - right) * s->channels);
    }
}

#endif
