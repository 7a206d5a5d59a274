/* The MVE intrinsics that the kernels use, lane by lane in plain C, after Arm's description of
 * each. A predicate has one bit per byte lane. */
#ifndef CTN_EMUL_MVE_H
#define CTN_EMUL_MVE_H

#include <stdint.h>

typedef struct {
    uint8_t lane[16];
} uint8x16_t;

typedef struct {
    int8_t lane[16];
} int8x16_t;

typedef uint16_t mve_pred16_t;

/* The first n of 16 byte lanes. */
static inline mve_pred16_t vctp8q(uint32_t n) {
    return (mve_pred16_t)(n >= 16 ? 0xffffu : (1u << n) - 1u);
}

static inline uint8x16_t vdupq_n_u8(uint8_t v) {
    uint8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = v;
    return r;
}

static inline uint8x16_t veorq_u8(uint8x16_t a, uint8x16_t b) {
    for (int i = 0; i < 16; i++)
        a.lane[i] ^= b.lane[i];
    return a;
}

static inline uint8x16_t vldrbq_u8(const uint8_t *p) {
    uint8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = p[i];
    return r;
}

static inline void vstrbq_u8(uint8_t *p, uint8x16_t v) {
    for (int i = 0; i < 16; i++)
        p[i] = v.lane[i];
}

static inline uint8x16_t vldrbq_gather_offset_u8(const uint8_t *p, uint8x16_t offset) {
    for (int i = 0; i < 16; i++)
        offset.lane[i] = p[offset.lane[i]];
    return offset;
}

/* Lanes whose bit is clear are zero and not read. */
static inline uint8x16_t vldrbq_z_u8(const uint8_t *p, mve_pred16_t live) {
    uint8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = (live >> i & 1) ? p[i] : 0;
    return r;
}

static inline void vstrbq_p_u8(uint8_t *p, uint8x16_t v, mve_pred16_t live) {
    for (int i = 0; i < 16; i++)
        if (live >> i & 1)
            p[i] = v.lane[i];
}

static inline uint8x16_t vldrbq_gather_offset_z_u8(const uint8_t *p, uint8x16_t offset,
                                                   mve_pred16_t live) {
    uint8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = (live >> i & 1) ? p[offset.lane[i]] : 0;
    return r;
}

static inline int8x16_t vdupq_n_s8(int8_t v) {
    int8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = v;
    return r;
}

static inline int8x16_t vldrbq_z_s8(const int8_t *p, mve_pred16_t live) {
    int8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = (int8_t)((live >> i & 1) ? p[i] : 0);
    return r;
}

static inline void vstrbq_s8(int8_t *p, int8x16_t v) {
    for (int i = 0; i < 16; i++)
        p[i] = v.lane[i];
}

static inline int8x16_t vldrbq_s8(const int8_t *p) {
    int8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = p[i];
    return r;
}

static inline int8x16_t vpselq_s8(int8x16_t a, int8x16_t b, mve_pred16_t first) {
    for (int i = 0; i < 16; i++)
        if (!(first >> i & 1))
            a.lane[i] = b.lane[i];
    return a;
}

#endif
