/* Corten's runtime: what a compiled model calls on the chip. Freestanding C, no heap, no globals.
 *
 * A kernel is `void ctn_<kernel>(const Ctn<Kernel>Args *, const CtnFrame *)`. Args lie in flash
 * and hold shapes, constants and (region, offset) references; the frame holds where the regions
 * are. Kernels return nothing, allocate nothing and decide nothing: whatever could be known
 * before the run was decided on the host.
 *
 * Conventions. Activations are int8 (s8) or int16 (s16) with real = scale * (q - zero_point);
 * images are stored N, H, W, C; weights are symmetric, int8 or (s8w4) int4. `multiplier`/`shift`
 * are the fixed point factors of fix.h. Arguments were checked on the host and are trusted here. */
#ifndef CTN_H
#define CTN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of what an emitted model and this folder agree on: counts up when one of another version would
 * not do. */
#define CTN_INTERFACE 2

/* C99 knows neither; all compilers for these chips know this. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CTN_ALIGN(bytes) _Alignas(bytes)
#define CTN_ASSERT(condition, text) _Static_assert(condition, text)
#else
#define CTN_ALIGN(bytes) __attribute__((aligned(bytes)))
#define CTN_ASSERT(condition, text) extern char ctn_assertion[(condition) ? 1 : -1]
#endif

/* Of two sizes the larger: for memory that several models share. */
#define CTN_LARGER(a, b) ((a) > (b) ? (a) : (b))

/* ---- references ---------------------------------------------------------------------------- */

typedef enum {
    CTN_ARENA,   /* activations and scratch of one run */
    CTN_STATE,   /* buffers that live from run to run */
    CTN_WEIGHTS, /* constants in flash */
    CTN_INPUTS,  /* what a run only reads, bound before it */
    CTN_OUTPUTS, /* where a run leaves its results, bound before it */
    CTN_MORE,    /* from here on: further memories of the chip, as a model's header names them */
    CTN_REGIONS = CTN_MORE + 5
} CtnRegion;

typedef uint32_t CtnRef; /* region in the top 4 bits, byte offset (below 2^28) in the rest */

#define CTN_REF(region, offset) (((uint32_t)(region) << 28) | (uint32_t)(offset))
#define CTN_NONE 0xffffffffu /* an optional operand that is absent */

typedef struct {
    uint8_t *base[CTN_REGIONS]; /* 16-byte aligned; the weights, never written, to 4 */
} CtnFrame;

static inline void *ctn_at(const CtnFrame *frame, CtnRef ref) {
    return ref == CTN_NONE ? (void *)0 : (void *)(frame->base[ref >> 28] + (ref & 0x0fffffffu));
}

typedef struct {        /* of a call, for whoever traces a model */
    const char *name;   /* the archive's node */
    const char *kernel; /* the function */
    const char *type;   /* of the output: "int8", "float32", "none" if it lies nowhere whole */
    CtnRef output;
    uint32_t bytes;
    float scale; /* real = scale * (q - zero_point) */
    int32_t zero_point;
} CtnCallInfo;

/* ---- argument lists ------------------------------------------------------------------------ */
/* Each list is written once and makes the struct below, the emitter's field table, the
 * simulator's call and the tests' loop. REF(name): a CtnRef. INT(name): an int32_t.
 * INTS(name, n): int32_t[n]. All fields are 4 bytes wide. */

#include "args_elements.h"
#include "args_f32.h"
#include "args_layers.h"
#include "args_windows.h"
#include "kernels.h"

#define CTN_FIELD_REF(name) CtnRef name;
#define CTN_FIELD_INT(name) int32_t name;
#define CTN_FIELD_INTS(name, n) int32_t name[n];
#define CTN_DECLARE_KERNEL(name, Struct, FIELDS)                                                   \
    typedef struct {                                                                               \
        FIELDS(CTN_FIELD_REF, CTN_FIELD_INT, CTN_FIELD_INTS)                                       \
    } Ctn##Struct##Args;                                                                           \
    void ctn_##name(const Ctn##Struct##Args *args, const CtnFrame *frame);
#define CTN_DECLARE_VARIANT(name, Struct, isa, accepts, pack)                                      \
    void ctn_##name##_##isa(const Ctn##Struct##Args *args, const CtnFrame *frame);

CTN_KERNELS(CTN_DECLARE_KERNEL)
CTN_VARIANTS(CTN_DECLARE_VARIANT)

#define CTN_KERNEL_ID(name, Struct, FIELDS) CTN_KERNEL_##name,
typedef enum { CTN_KERNELS(CTN_KERNEL_ID) CTN_KERNEL_COUNT } CtnKernelId;

#ifdef __cplusplus
}
#endif
#endif
