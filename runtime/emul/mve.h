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

typedef struct {
    int16_t lane[8];
} int16x8_t;

typedef struct {
    uint16_t lane[8];
} uint16x8_t;

typedef struct {
    int32_t lane[4];
} int32x4_t;

typedef struct {
    uint32_t lane[4];
} uint32x4_t;

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

/* ---- 32-bit lanes: arithmetic wraps -------------------------------------------------------- */

static inline int32_t emul_wrap(uint32_t v) {
    return (int32_t)v;
}

/* The first n of four lanes. */
static inline mve_pred16_t vctp32q(uint32_t n) {
    return (mve_pred16_t)(n >= 4 ? 0xffffu : (1u << 4 * n) - 1u);
}

static inline int32x4_t vdupq_n_s32(int32_t v) {
    return (int32x4_t){{v, v, v, v}};
}

static inline uint32x4_t vreinterpretq_u32_s32(int32x4_t a) {
    uint32x4_t r;
    for (int i = 0; i < 4; i++)
        r.lane[i] = (uint32_t)a.lane[i];
    return r;
}

static inline int32x4_t vaddq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = emul_wrap((uint32_t)a.lane[i] + (uint32_t)b.lane[i]);
    return a;
}

static inline int32x4_t vaddq_n_s32(int32x4_t a, int32_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = emul_wrap((uint32_t)a.lane[i] + (uint32_t)b);
    return a;
}

static inline int32x4_t vsubq_n_s32(int32x4_t a, int32_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = emul_wrap((uint32_t)a.lane[i] - (uint32_t)b);
    return a;
}

static inline int32x4_t vmulq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = emul_wrap((uint32_t)a.lane[i] * (uint32_t)b.lane[i]);
    return a;
}

/* a * b + c */
/* Addresses wrap: an index of 2^32 - 1 is that of the element before. */
static inline int32x4_t vldrwq_gather_shifted_offset_s32(const int32_t *p, uint32x4_t index) {
    int32x4_t r;
    for (int i = 0; i < 4; i++)
        r.lane[i] = p[(int32_t)index.lane[i]];
    return r;
}

static inline int32x4_t vmlaq_n_s32(int32x4_t sum, int32x4_t a, int32_t b) {
    for (int i = 0; i < 4; i++)
        sum.lane[i] = (int32_t)((uint32_t)sum.lane[i] + (uint32_t)a.lane[i] * (uint32_t)b);
    return sum;
}

static inline int32x4_t vmlasq_n_s32(int32x4_t a, int32x4_t b, int32_t c) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = emul_wrap((uint32_t)a.lane[i] * (uint32_t)b.lane[i] + (uint32_t)c);
    return a;
}

static inline int32x4_t vminq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

static inline int32x4_t vmaxq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

static inline int32x4_t vshrq_n_s32(int32x4_t a, int n) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = a.lane[i] >> n;
    return a;
}

/* 2 * a * b, rounded half up to its upper 32 bits; b is not INT32_MIN. */
static inline int32x4_t vqrdmulhq_n_s32(int32x4_t a, int32_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = (int32_t)(((int64_t)a.lane[i] * b + ((int64_t)1 << 30)) >> 31);
    return a;
}

/* A left shift, or for n < 0 a right shift rounded half up. */
static inline int32x4_t vrshlq_n_s32(int32x4_t a, int32_t n) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = n >= 0 ? emul_wrap((uint32_t)a.lane[i] << n)
                           : (int32_t)(((int64_t)a.lane[i] + ((int64_t)1 << (-n - 1))) >> -n);
    return a;
}

/* Bytes widened to lanes; lanes that are not live are zero and not read. */
static inline int32x4_t vldrbq_z_s32(const int8_t *p, mve_pred16_t live) {
    int32x4_t r;
    for (int i = 0; i < 4; i++)
        r.lane[i] = (live >> 4 * i & 1) ? p[i] : 0;
    return r;
}

static inline int32x4_t vldrbq_gather_offset_s32(const int8_t *p, uint32x4_t offset) {
    int32x4_t r;
    for (int i = 0; i < 4; i++)
        r.lane[i] = p[offset.lane[i]];
    return r;
}

/* The low byte of each live lane. */
static inline void vstrbq_p_s32(int8_t *p, int32x4_t v, mve_pred16_t live) {
    for (int i = 0; i < 4; i++)
        if (live >> 4 * i & 1)
            p[i] = (int8_t)v.lane[i];
}

static inline int32x4_t vldrbq_s32(const int8_t *p) {
    return (int32x4_t){{p[0], p[1], p[2], p[3]}};
}

static inline void vstrbq_s32(int8_t *p, int32x4_t v) {
    for (int i = 0; i < 4; i++)
        p[i] = (int8_t)v.lane[i];
}

/* ---- more of 8-bit and 16-bit lanes --------------------------------------------------------- */

static inline int8x16_t vmaxq_s8(int8x16_t a, int8x16_t b) {
    for (int i = 0; i < 16; i++)
        a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

static inline int8x16_t vminq_s8(int8x16_t a, int8x16_t b) {
    for (int i = 0; i < 16; i++)
        a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}

static inline int8x16_t vsubq_s8(int8x16_t a, int8x16_t b) { /* wraps */
    for (int i = 0; i < 16; i++)
        a.lane[i] = (int8_t)(uint8_t)(a.lane[i] - b.lane[i]);
    return a;
}

static inline uint8x16_t vreinterpretq_u8_s8(int8x16_t a) {
    uint8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = (uint8_t)a.lane[i];
    return r;
}

static inline int8x16_t vldrbq_gather_offset_s8(const int8_t *p, uint8x16_t offset) {
    int8x16_t r;
    for (int i = 0; i < 16; i++)
        r.lane[i] = p[offset.lane[i]];
    return r;
}

static inline void vstrbq_p_s8(int8_t *p, int8x16_t v, mve_pred16_t live) {
    for (int i = 0; i < 16; i++)
        if (live >> i & 1)
            p[i] = v.lane[i];
}

/* The first n of eight lanes. */
static inline mve_pred16_t vctp16q(uint32_t n) {
    return (mve_pred16_t)(n >= 8 ? 0xffffu : (1u << 2 * n) - 1u);
}

static inline int16x8_t vdupq_n_s16(int16_t v) {
    return (int16x8_t){{v, v, v, v, v, v, v, v}};
}

static inline int16x8_t vaddq_s16(int16x8_t a, int16x8_t b) { /* wraps */
    for (int i = 0; i < 8; i++)
        a.lane[i] = (int16_t)(uint16_t)(a.lane[i] + b.lane[i]);
    return a;
}

static inline int16x8_t vldrbq_s16(const int8_t *p) {
    int16x8_t r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = p[i];
    return r;
}

static inline int16x8_t vldrbq_z_s16(const int8_t *p, mve_pred16_t live) {
    int16x8_t r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = (int16_t)((live >> 2 * i & 1) ? p[i] : 0);
    return r;
}

static inline void vstrhq_s16(int16_t *p, int16x8_t v) {
    for (int i = 0; i < 8; i++)
        p[i] = v.lane[i];
}

/* start, start + step, ... */
static inline uint16x8_t vidupq_n_u16(uint32_t start, int step) {
    uint16x8_t r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = (uint16_t)(start + (uint32_t)(step * i));
    return r;
}

static inline uint16x8_t vmulq_n_u16(uint16x8_t a, uint16_t b) {
    for (int i = 0; i < 8; i++)
        a.lane[i] = (uint16_t)((uint32_t)a.lane[i] * b);
    return a;
}

/* Bytes, widened. */
static inline uint16x8_t vldrbq_u16(const uint8_t *p) {
    uint16x8_t r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = p[i];
    return r;
}

static inline uint16x8_t vldrbq_gather_offset_u16(const uint8_t *p, uint16x8_t offset) {
    for (int i = 0; i < 8; i++)
        offset.lane[i] = p[offset.lane[i]];
    return offset;
}

/* Low bytes. */
static inline void vstrbq_u16(uint8_t *p, uint16x8_t v) {
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)v.lane[i];
}

static inline void vstrbq_scatter_offset_u16(uint8_t *p, uint16x8_t offset, uint16x8_t v) {
    for (int i = 0; i < 8; i++)
        p[offset.lane[i]] = (uint8_t)v.lane[i];
}

/* sum + a[0] * b[0] + a[1] * b[1] ... */
static inline int32_t vmladavaq_s8(int32_t sum, int8x16_t a, int8x16_t b) {
    for (int i = 0; i < 16; i++)
        sum = emul_wrap((uint32_t)sum + (uint32_t)(a.lane[i] * b.lane[i]));
    return sum;
}

static inline int32_t vaddvaq_s8(int32_t sum, int8x16_t a) {
    for (int i = 0; i < 16; i++)
        sum += a.lane[i];
    return sum;
}

static inline int32x4_t vldrwq_s32(const int32_t *p) {
    return (int32x4_t){{p[0], p[1], p[2], p[3]}};
}

static inline int32x4_t vsetq_lane_s32(int32_t v, int32x4_t a, int lane) {
    a.lane[lane] = v;
    return a;
}

/* ---- words of halves ----------------------------------------------------------------------- */

static inline int32x4_t vsubq_s32(int32x4_t a, int32x4_t b) { /* wraps */
    for (int i = 0; i < 4; i++)
        a.lane[i] = (int32_t)((uint32_t)a.lane[i] - (uint32_t)b.lane[i]);
    return a;
}

static inline int32x4_t vandq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] &= b.lane[i];
    return a;
}

static inline int32x4_t vshlq_s32(int32x4_t a, int32x4_t n) { /* 0 <= n < 32 */
    for (int i = 0; i < 4; i++)
        a.lane[i] = (int32_t)((uint32_t)a.lane[i] << n.lane[i]);
    return a;
}

static inline int32x4_t vrshlq_s32(int32x4_t a, int32x4_t n) { /* n <= 0 */
    for (int i = 0; i < 4; i++)
        if (n.lane[i] < 0)
            a.lane[i] =
                (int32_t)(((int64_t)a.lane[i] + ((int64_t)1 << (-n.lane[i] - 1))) >> -n.lane[i]);
    return a;
}

static inline int32x4_t vqrdmulhq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++)
        a = vsetq_lane_s32(vqrdmulhq_n_s32(a, b.lane[i]).lane[i], a, i);
    return a;
}

static inline int32x4_t vldrhq_s32(const int16_t *p) {
    int32x4_t v;
    for (int i = 0; i < 4; i++)
        v.lane[i] = p[i];
    return v;
}

static inline int32x4_t vldrhq_gather_shifted_offset_s32(const int16_t *p, uint32x4_t index) {
    int32x4_t v;
    for (int i = 0; i < 4; i++)
        v.lane[i] = p[index.lane[i]];
    return v;
}

static inline void vstrhq_s32(int16_t *p, int32x4_t v) {
    for (int i = 0; i < 4; i++)
        p[i] = (int16_t)v.lane[i];
}

static inline int16x8_t vldrhq_s16(const int16_t *p) {
    int16x8_t r;
    for (int i = 0; i < 8; i++)
        r.lane[i] = p[i];
    return r;
}

static inline int16x8_t vsubq_s16(int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i++)
        a.lane[i] = (int16_t)(uint16_t)(a.lane[i] - b.lane[i]);
    return a;
}

static inline int32_t vmladavaq_s16(int32_t sum, int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i++)
        sum = (int32_t)((uint32_t)sum + (uint32_t)(a.lane[i] * b.lane[i]));
    return sum;
}

static inline int32x4_t vmullbq_int_s16(int16x8_t a, int16x8_t b) {
    int32x4_t r;
    for (int i = 0; i < 4; i++)
        r.lane[i] = a.lane[2 * i] * b.lane[2 * i];
    return r;
}

static inline int32x4_t vmulltq_int_s16(int16x8_t a, int16x8_t b) {
    int32x4_t r;
    for (int i = 0; i < 4; i++)
        r.lane[i] = a.lane[2 * i + 1] * b.lane[2 * i + 1];
    return r;
}

static inline void vstrwq_s32(int32_t *p, int32x4_t v) {
    for (int i = 0; i < 4; i++)
        p[i] = v.lane[i];
}

static inline int32x4_t vldrwq_z_s32(const int32_t *p, mve_pred16_t live) {
    int32x4_t r;
    for (int i = 0; i < 4; i++)
        r.lane[i] = live >> 4 * i & 1 ? p[i] : 0;
    return r;
}

static inline int32x4_t vmulhq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = (int32_t)((int64_t)a.lane[i] * b.lane[i] >> 32);
    return a;
}

static inline void vstrhq_p_s32(int16_t *p, int32x4_t v, mve_pred16_t live) {
    for (int i = 0; i < 4; i++)
        if (live >> 4 * i & 1)
            p[i] = (int16_t)v.lane[i];
}

typedef struct {
    int32x4_t val[2];
} int32x4x2_t;

static inline void vst2q_s32(int32_t *p, int32x4x2_t v) {
    for (int i = 0; i < 8; i++)
        p[i] = v.val[i & 1].lane[i >> 1];
}

static inline int32x4_t vldrhq_z_s32(const int16_t *p, mve_pred16_t live) {
    int32x4_t v;
    for (int i = 0; i < 4; i++)
        v.lane[i] = live >> 4 * i & 1 ? p[i] : 0;
    return v;
}

static inline int32x4_t vrshrq_n_s32(int32x4_t v, int n) { /* n > 0, rounded half up */
    for (int i = 0; i < 4; i++)
        v.lane[i] = (int32_t)(((int64_t)v.lane[i] + ((int64_t)1 << (n - 1))) >> n);
    return v;
}

#endif
