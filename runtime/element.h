/* Moving elements whose type does not matter: runs of `count` elements of 1, 2, 4 or more bytes,
 * strides in elements. Elements lie aligned to their size when that is 1, 2 or 4. */
#ifndef CTN_ELEMENT_H
#define CTN_ELEMENT_H

#include <stdint.h>

#ifdef __GNUC__
#define CTN_ALIASES __attribute__((may_alias))
#else
#define CTN_ALIASES /* build without type-based alias analysis (IAR: --no_tbaa) */
#endif
typedef uint16_t CTN_ALIASES CtnHalf;
typedef uint32_t CTN_ALIASES CtnWord;

/* As many words as compilers move by one LDM and one STM. */
#ifdef __ARM_ARCH_6M__
enum { CTN_MOVED_WORDS = 3 };
#else
enum { CTN_MOVED_WORDS = 4 };
#endif
typedef struct {
    uint32_t word[CTN_MOVED_WORDS];
} CTN_ALIASES CtnWords;

/* Bytes side by side, in ascending order, by words where both begin on one: if `out` lies below
 * `in`, they may overlap. */
static inline void ctn_move_bytes(uint8_t *out, const uint8_t *in, int32_t bytes) {
    if ((((uintptr_t)out | (uintptr_t)in) & 3) == 0) {
        const int32_t some = sizeof(CtnWords);
        for (; bytes >= 2 * some; bytes -= 2 * some) {
            *(CtnWords *)out = *(const CtnWords *)in;
            out += some, in += some;
            *(CtnWords *)out = *(const CtnWords *)in;
            out += some, in += some;
        }
        for (; bytes >= 4; bytes -= 4, out += 4, in += 4)
            *(CtnWord *)out = *(const CtnWord *)in;
    }
    for (; bytes > 0; bytes--)
        *out++ = *in++;
}

static inline void ctn_move_elements(uint8_t *out, int32_t out_stride, const uint8_t *in,
                                     int32_t in_stride, int32_t count, int32_t element_size) {
    if (out_stride == 1 && in_stride == 1) {
        ctn_move_bytes(out, in, count * element_size);
    } else if (element_size == 1) {
        for (; count >= 4; count -= 4) {
            *out = *in;
            out += out_stride, in += in_stride;
            *out = *in;
            out += out_stride, in += in_stride;
            *out = *in;
            out += out_stride, in += in_stride;
            *out = *in;
            out += out_stride, in += in_stride;
        }
        for (; count > 0; count--, out += out_stride, in += in_stride)
            *out = *in;
    } else if (element_size == 2) {
        for (int32_t i = 0; i < count; i++)
            ((CtnHalf *)out)[i * out_stride] = ((const CtnHalf *)in)[i * in_stride];
    } else if (element_size == 4) {
        for (int32_t i = 0; i < count; i++)
            ((CtnWord *)out)[i * out_stride] = ((const CtnWord *)in)[i * in_stride];
    } else {
        for (int32_t i = 0; i < count; i++)
            for (int32_t k = 0; k < element_size; k++)
                out[i * out_stride * element_size + k] = in[i * in_stride * element_size + k];
    }
}

#endif
