/* Corten's runtime: what a compiled model calls on the chip. Freestanding C, no heap, no globals.
 *
 * A kernel is `void ctn_<kernel>(const Ctn<Kernel>Args *, const CtnFrame *)`. Args lie in flash
 * and hold shapes, constants and (region, offset) references; the frame holds where the regions
 * are. Kernels return nothing, allocate nothing and decide nothing: whatever could be known
 * before the run was decided on the host.
 *
 * Conventions. Activations are int8 (s8) or int16 (s16) with real = scale * (q - zero_point);
 * images are stored N, H, W, C; weights are symmetric, int8 or (s8w4) int4. `multiplier`/`shift` are
 * the fixed point factors of fix.h. Arguments were checked on the host and are trusted here. */
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

/* Convolution, channels last. input [batches][in_h][in_w][in_c];
 * weights [out_c][kernel_h][kernel_w][in_c / groups]; bias int32 [out_c] or absent;
 * multiplier int32 [out_c], shift int8 [out_c]; output [batches][out_h][out_w][out_c].
 * out = clamp(requantize(bias + sum((q - input_zero_point) * w)) + output_zero_point); taps in the
 * padding count as zero. If table (int8 [clamp_max - clamp_min + 1]: 256, or 1024 for clamps of
 * -512..511) is present, out = table[out - clamp_min]. So with every kernel that has a clamp.
 * `gathered` is for variants: set when the host found that windows are better copied together. */
#define CTN_CONV2D_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift) REF(table) REF(scratch) INT(batches) INT(in_h) INT(in_w) INT(in_c) INT(out_h)       \
        INT(out_w) INT(out_c) INT(kernel_h) INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top) \
            INT(pad_left) INT(dilation_h) INT(dilation_w) INT(groups) INT(input_zero_point)        \
                INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(gathered)

/* A sum in the store of what makes one of its operands: of each result q, which is stored nowhere,
 * and the element s of `skip` beside it (same shape, dense). With x, y = q, s or, if looks_up_skip
 * is set, s, q:
 *
 *   out = clamp(requantize(addends[x + 128] + y * factor) + sum_zero_point)
 *
 * by sum_multiplier, sum_shift and sum_clamp_*, then sum_table if there is one. addends, int32 [256],
 * has what add_s8 makes of x, and y's zero point; factor is that of the operand with the larger
 * scale, +-2^19: so the result is, bit for bit, that of add_s8. output may be the memory of skip.
 * `block` is for variants: where in scratch they have room for a few results. */
#define CTN_RESIDUAL_FIELDS(REF, INT)                                                              \
    REF(skip)                                                                                      \
    REF(addends)                                                                                   \
    REF(sum_table)                                                                                 \
    INT(block) INT(looks_up_skip) INT(factor) INT(sum_multiplier) INT(sum_shift)                   \
        INT(sum_zero_point) INT(sum_clamp_min) INT(sum_clamp_max)

#define CTN_CONV2D_ADD_S8_FIELDS(REF, INT, INTS)                                                   \
    CTN_CONV2D_S8_FIELDS(REF, INT, INTS)                                                           \
    CTN_RESIDUAL_FIELDS(REF, INT)

/* As conv2d_s8 with groups = in_c: output channel c reads input channel c / (out_c / in_c).
 * weights [kernel_h][kernel_w][out_c]. `turned` is for variants: set when the host found that to go
 * down the columns is better, and packed the weights so. */
#define CTN_DEPTHWISE_CONV2D_S8_FIELDS(REF, INT, INTS)                                             \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift) REF(table) REF(scratch) INT(batches) INT(in_h) INT(in_w) INT(in_c) INT(out_h)       \
        INT(out_w) INT(out_c) INT(kernel_h) INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top) \
            INT(pad_left) INT(dilation_h) INT(dilation_w) INT(input_zero_point)                    \
                INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(turned)

/* The same with weights of 4 bits, -7..7, two a byte in their order, the first in the low bits; each
 * stands for 16 times its value. */
#define CTN_CONV2D_S8W4_FIELDS(REF, INT, INTS) CTN_CONV2D_S8_FIELDS(REF, INT, INTS)
#define CTN_DEPTHWISE_CONV2D_S8W4_FIELDS(REF, INT, INTS)                                           \
    CTN_DEPTHWISE_CONV2D_S8_FIELDS(REF, INT, INTS)

/* conv2d_s8 with a depth: input [batches][in_d][in_h][in_w][in_c],
 * weights [out_c][kernel_d][kernel_h][kernel_w][in_c / groups]. */
#define CTN_CONV3D_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift) REF(table) INT(batches) INT(in_d) INT(in_h) INT(in_w) INT(in_c) INT(out_d)          \
        INT(out_h) INT(out_w) INT(out_c) INT(kernel_d) INT(kernel_h) INT(kernel_w) INT(stride_d)   \
            INT(stride_h) INT(stride_w) INT(pad_front) INT(pad_top) INT(pad_left) INT(dilation_d)  \
                INT(dilation_h) INT(dilation_w) INT(groups) INT(input_zero_point)                  \
                    INT(output_zero_point) INT(clamp_min) INT(clamp_max)

/* Transposed convolution, as a gather: out[oy][ox] sums the taps with
 * oy + pad_top - ky * dilation_h = iy * stride_h, 0 <= iy < in_h.
 * weights [out_c][kernel_h][kernel_w][in_c / groups], filter not reversed. */
#define CTN_CONV_TRANSPOSE2D_S8_FIELDS(REF, INT, INTS) CTN_CONV2D_S8_FIELDS(REF, INT, INTS)

/* input [rows][depth], weights [columns][depth], output [rows][columns]; per-column factors. */
#define CTN_LINEAR_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift) REF(table) REF(scratch) INT(rows) INT(depth) INT(columns) INT(input_zero_point)     \
        INT(output_zero_point) INT(clamp_min) INT(clamp_max)

/* With weights of 4 bits as in conv2d_s8w4. */
#define CTN_LINEAR_S8W4_FIELDS(REF, INT, INTS) CTN_LINEAR_S8_FIELDS(REF, INT, INTS)

/* Product of two activations over batch[0..3] with element strides (0 broadcasts):
 * out[b][m][n] = sum_k (lhs - lhs_zero_point) * (rhs - rhs_zero_point). Output is contiguous. */
#define CTN_MATMUL_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(lhs)                                                                                       \
    REF(rhs)                                                                                       \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INTS(batch, 4) INTS(lhs_batch_stride, 4) INTS(rhs_batch_stride, 4) INT(rows) INT(depth)        \
        INT(columns) INT(lhs_row_stride) INT(lhs_depth_stride) INT(rhs_depth_stride)               \
            INT(rhs_column_stride) INT(lhs_zero_point) INT(rhs_zero_point) INT(output_zero_point)  \
                INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)

/* Between activations of 8 and 16 bits, weights int8: as the kernels named _s8, with 64-bit sums,
 * one rounding half up (wide.h) and no tables. *_bytes: 1 or 2, the width of that operand; int16
 * has zero point 0. shift <= 14. conv2d_s16 is also depthwise. `narrow` is for variants: set when
 * the host found that all sums fit int32 and all shifts are -2 or less. */
#define CTN_LINEAR_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(scratch) INT(rows) INT(depth) INT(columns) INT(input_bytes) INT(output_bytes) INT(input_zero_point)     \
        INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(narrow)
#define CTN_CONV2D_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    REF(scratch) INT(batches) INT(in_h) INT(in_w) INT(in_c) INT(out_h) INT(out_w) INT(out_c) INT(kernel_h)      \
        INT(kernel_w) INT(stride_h) INT(stride_w) INT(pad_top) INT(pad_left) INT(dilation_h)       \
            INT(dilation_w) INT(groups) INT(input_bytes) INT(output_bytes) INT(input_zero_point)   \
                INT(output_zero_point) INT(clamp_min) INT(clamp_max) INT(narrow)
#define CTN_MATMUL_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(lhs)                                                                                       \
    REF(rhs)                                                                                       \
    REF(output)                                                                                    \
    INTS(batch, 4)                                                                                 \
    INTS(lhs_batch_stride, 4)                                                                      \
    INTS(rhs_batch_stride, 4) INT(rows) INT(depth) INT(columns) INT(lhs_row_stride)                \
        INT(lhs_depth_stride) INT(rhs_depth_stride) INT(rhs_column_stride) INT(lhs_bytes)          \
            INT(rhs_bytes) INT(output_bytes) INT(lhs_zero_point) INT(rhs_zero_point)               \
                INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)
#define CTN_REDUCE_SUM_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6)                                                                             \
    INTS(reduced, 6)                                                                               \
    INTS(reduced_stride, 6) INT(input_bytes) INT(output_bytes) INT(input_zero_point)               \
        INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)

/* Elementwise with broadcasting: output is contiguous over dim[0..5] (outermost first, padded with
 * ones in front), operands have element strides (0 broadcasts).
 * add: design section 7; a negative multiplier subtracts. */
#define CTN_ADD_S8_FIELDS(REF, INT, INTS)                                                          \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6) INTS(b_stride, 6) INT(a_zero_point) INT(a_multiplier) INT(a_shift)           \
        INT(b_zero_point) INT(b_multiplier) INT(b_shift) INT(left_shift) INT(output_zero_point)    \
            INT(output_multiplier) INT(output_shift) INT(clamp_min) INT(clamp_max)
#define CTN_ADD_S16_FIELDS(REF, INT, INTS) CTN_ADD_S8_FIELDS(REF, INT, INTS)

/* mul: (a - za) * (b - zb) requantized. */
#define CTN_MUL_S8_FIELDS(REF, INT, INTS)                                                          \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6) INTS(b_stride, 6) INT(a_zero_point) INT(b_zero_point) INT(output_zero_point) \
        INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)
#define CTN_MUL_S16_FIELDS(REF, INT, INTS) CTN_MUL_S8_FIELDS(REF, INT, INTS)

/* div: (a - za) * multiplier * 2^(shift - 31) / (b - zb), rounded once, half away from zero; real
 * zero for a zero divisor. -14 <= shift <= 31. */
#define CTN_DIV_S8_FIELDS(REF, INT, INTS) CTN_MUL_S8_FIELDS(REF, INT, INTS)
#define CTN_DIV_S16_FIELDS(REF, INT, INTS) CTN_MUL_S8_FIELDS(REF, INT, INTS)

/* Maximum or minimum of both operands brought to the output's grid: int8 by tables (absent: there
 * already), int16 by factors. */
#define CTN_MINMAX_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    REF(a_table) REF(b_table) INTS(dim, 6) INTS(a_stride, 6) INTS(b_stride, 6) INT(minimum)
#define CTN_MINMAX_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6) INTS(b_stride, 6) INT(a_multiplier) INT(a_shift) INT(b_multiplier)           \
        INT(b_shift) INT(minimum)

/* Operators on integers as they are; comparisons (EQ and after) are shared by compare_s8/s16,
 * LOGICAL_... by logical_s8. Division by zero gives 0. */
typedef enum {
    CTN_INTEGER_ADD, /* a + alpha * b */
    CTN_INTEGER_SUB,
    CTN_INTEGER_RSUB, /* b - alpha * a */
    CTN_INTEGER_MUL,
    CTN_INTEGER_FLOOR_DIVIDE,
    CTN_INTEGER_TRUNC_DIVIDE,
    CTN_INTEGER_REMAINDER, /* the sign of b */
    CTN_INTEGER_FMOD,      /* the sign of a */
    CTN_INTEGER_MAX,
    CTN_INTEGER_MIN,
    CTN_INTEGER_AND,
    CTN_INTEGER_OR,
    CTN_INTEGER_XOR,
    CTN_INTEGER_SHIFT_LEFT,
    CTN_INTEGER_SHIFT_RIGHT,
    CTN_INTEGER_POW, /* of a negative exponent: what is left of the fraction */
    CTN_INTEGER_GCD,
    CTN_INTEGER_LCM,
    CTN_INTEGER_LOGICAL_AND,
    CTN_INTEGER_LOGICAL_OR,
    CTN_INTEGER_LOGICAL_XOR,
    CTN_INTEGER_EQ,
    CTN_INTEGER_NE,
    CTN_INTEGER_LT,
    CTN_INTEGER_LE,
    CTN_INTEGER_GT,
    CTN_INTEGER_GE
} CtnIntegerOp;

/* Types are 1 (uint8), 2 (int8), 3 (int16), 4 (int32), 5 (int64), 12 (bool); computed in 64 bits,
 * stored modulo the output's width. */
#define CTN_INTEGER_FIELDS(REF, INT, INTS)                                                         \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6) INTS(b_stride, 6) INT(a_type) INT(b_type) INT(output_type) INT(op)           \
        INT(alpha)

/* Plain integers as activations: clamp(v, -limit, limit), requantized, plus the zero point. The
 * output has 1 or 2 bytes. */
#define CTN_QUANTIZE_INTEGER_FIELDS(REF, INT, INTS)                                                \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(count)                                                                                     \
    INT(input_type) INT(output_bytes) INT(multiplier) INT(shift) INT(limit) INT(zero_point)

/* int8 or int16 from one grid to another of 1 or 2 bytes: requantized q - input_zero_point, plus
 * the output's zero point. shift <= 14. */
#define CTN_RESCALE_FIELDS(REF, INT, INTS)                                                         \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(count)                                                                                     \
    INT(input_bytes)                                                                               \
    INT(output_bytes) INT(input_zero_point) INT(output_zero_point) INT(multiplier) INT(shift)

/* output (bool) = (a - za) * a_factor op (b - zb) * b_factor; the products fit int32 for int8,
 * int64 for int16. */
#define CTN_COMPARE_S8_FIELDS(REF, INT, INTS)                                                      \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6) INTS(b_stride, 6) INT(a_zero_point) INT(b_zero_point) INT(a_factor)          \
        INT(b_factor) INT(op)
#define CTN_COMPARE_S16_FIELDS(REF, INT, INTS) CTN_COMPARE_S8_FIELDS(REF, INT, INTS)

/* output (bool) = (a != za) op (b != zb). */
#define CTN_LOGICAL_S8_FIELDS(REF, INT, INTS)                                                      \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    INTS(dim, 6) INTS(a_stride, 6) INTS(b_stride, 6) INT(a_zero_point) INT(b_zero_point) INT(op)

/* output = condition (bool) ? a : b, elements of element_size bytes; with a table (element_size 1)
 * an operand is mapped through it. */
#define CTN_WHERE_FIELDS(REF, INT, INTS)                                                           \
    REF(condition)                                                                                 \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    REF(a_table) REF(b_table) INT(element_size) INTS(dim, 6) INTS(condition_stride, 6)             \
        INTS(a_stride, 6) INTS(b_stride, 6)

/* v = (q - input_zero_point) * 2^16, requantized by the positive factors if v >= 0, else by those
 * of its channel: multiplier and shift int32, indexed by channel_stride. A negative multiplier is a
 * negative slope. */
#define CTN_PRELU_S8_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6) INTS(channel_stride, 6) INT(input_zero_point) INT(output_zero_point)        \
        INT(positive_multiplier) INT(positive_shift)

/* output = table[(b + 128) * 256 + a + 128], int8 or bool. */
#define CTN_POINTWISE2_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(a)                                                                                         \
    REF(b) REF(output) REF(table) INTS(dim, 6) INTS(a_stride, 6) INTS(b_stride, 6)

/* out[i] = table[in[i] + 128]; entries of entry_size bytes (1, 2, 4, 8) for any output type. */
#define CTN_TABLE_S8_FIELDS(REF, INT, INTS)                                                        \
    REF(input) REF(output) REF(table) INT(count) INT(entry_size)

/* out[i] by linear interpolation: table int16 [513], position (q + 32768) / 128, the low 7 bits
 * interpolate; result rounded half up. */
#define CTN_TABLE_S16_FIELDS(REF, INT, INTS) REF(input) REF(output) REF(table) INT(count)

/* out[i] of output_bytes (1 or 2) by the piece of a function that in[i] falls on (ctn_piece_s16):
 * the last whose start is not above it. start: int16 [pieces], rising from -32768; piece: int32
 * [pieces][4]. */
#define CTN_PIECES_S16_FIELDS(REF, INT, INTS)                                                      \
    REF(input) REF(output) REF(start) REF(piece) INT(count) INT(pieces) INT(output_bytes)

/* Affine copy of elements of element_size bytes over dim[0..7]; strides in elements, any sign;
 * offsets are in the references. With a table (element_size 1) each byte is mapped through it:
 * that is how cat and state writes change a grid. */
#define CTN_COPY_FIELDS(REF, INT, INTS)                                                            \
    REF(input)                                                                                     \
    REF(output) REF(table) INT(element_size) INTS(dim, 8) INTS(in_stride, 8) INTS(out_stride, 8)

/* Separable gather: out[i0..i7] (contiguous) = in[offset(0, i0) + ... + offset(7, i7)], where
 * offset(d, i) = in_stride[d] * i if index_start[d] < 0, else indices[index_start[d] + i]
 * (int32, in elements). */
#define CTN_GATHER_FIELDS(REF, INT, INTS)                                                          \
    REF(input)                                                                                     \
    REF(output) REF(indices) INT(element_size) INTS(dim, 8) INTS(in_stride, 8) INTS(index_start, 8)

/* A command stream of an Ethos-U with the weights that it reads, both aligned to 16 bytes; inputs and
 * outputs lie in scratch. */
#define CTN_NPU_FIELDS(REF, INT, INTS)                                                             \
    REF(commands)                                                                                  \
    REF(weights)                                                                                   \
    REF(scratch)                                                                                   \
    REF(fast) INT(command_bytes) INT(weight_bytes) INT(scratch_bytes) INT(fast_bytes)

/* count bytes, in ascending order: the regions may overlap if output lies below input. */
#define CTN_MOVE_FIELDS(REF, INT, INTS) REF(input) REF(output) INT(count)

/* Elements of element_size bytes, all equal to the low bytes of value: `runs` times `count` side by
 * side, `stride` elements from one run to the next. */
#define CTN_FILL_FIELDS(REF, INT, INTS)                                                            \
    REF(output) INT(element_size) INT(count) INT(value) INT(runs) INT(stride)

/* Pools, channels last. Padding never wins a maximum. avg: the rounded mean of raw q over the
 * taps that count (`include_padding`: padding taps count with the value zero point; divisor > 0
 * overrides). Unless multiplier is 0: the mean of q - input_zero_point, rounded to 1/256, times
 * multiplier and shift. */
#define CTN_MAX_POOL2D_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INT(batches)                                                                                   \
    INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w) INT(kernel_h) INT(kernel_w)            \
        INT(stride_h) INT(stride_w) INT(pad_top) INT(pad_left) INT(dilation_h) INT(dilation_w)     \
            INT(clamp_min) INT(clamp_max)
#define CTN_AVG_POOL2D_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    REF(scratch)                                                                                   \
    INT(batches)                                                                                   \
    INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w) INT(kernel_h) INT(kernel_w)            \
        INT(stride_h) INT(stride_w) INT(pad_top) INT(pad_left) INT(pad_bottom) INT(pad_right)      \
            INT(include_padding) INT(divisor) INT(input_zero_point) INT(output_zero_point)         \
                INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)

/* max: 16 bits in and out. avg: 8 or 16 bits in and out, the mean
 * of q - input_zero_point in steps of 2^-16 times multiplier and shift. */
#define CTN_MAX_POOL2D_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w) INT(channels) INT(out_h) INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h)        \
        INT(stride_w) INT(pad_top) INT(pad_left) INT(dilation_h) INT(dilation_w) INT(clamp_min)    \
            INT(clamp_max)
#define CTN_AVG_POOL2D_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w) INT(channels) INT(out_h) INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h)        \
        INT(stride_w) INT(pad_top) INT(pad_left) INT(pad_bottom) INT(pad_right)                    \
            INT(include_padding) INT(divisor) INT(input_bytes) INT(output_bytes)                   \
                INT(input_zero_point) INT(output_zero_point) INT(multiplier) INT(shift)            \
                    INT(clamp_min) INT(clamp_max)

/* Sum over reduced dims of (q - input_zero_point), requantized (a mean has 1/count in its
 * multiplier). Output contiguous over dim[0..5]; in_stride its strides in the input. */
#define CTN_REDUCE_SUM_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6)                                                                             \
    INTS(reduced, 6) INTS(reduced_stride, 6) INT(input_zero_point) INT(output_zero_point)          \
        INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)
/* mode 0: maximum, 1: minimum. */
#define CTN_REDUCE_MAX_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table) INTS(dim, 6) INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(mode)

/* The same of int16, without a table. */
#define CTN_REDUCE_MAX_S16_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output) INTS(dim, 6) INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(mode)

/* arm_softmax_s8's arithmetic over rows of row_size contiguous values; output scale 1/256, zero
 * point -128. exponentials are for variants (int32, by distance from the maximum). */
#define CTN_SOFTMAX_S8_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(exponentials)                                                                              \
    REF(scratch) INT(rows) INT(row_size) INT(multiplier) INT(shift) INT(diff_min)

/* Softmax with a mask, and to any output grid: probabilities in Q.24 times multiplier and shift.
 * mask, if present: bytes [mask_rows][row_size], used over and over; a value counts where its
 * byte's truth differs from mask_hides. A row without any gives all zeros. */
#define CTN_MASKED_SOFTMAX_S8_FIELDS(REF, INT, INTS)                                               \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(mask)                                                                                      \
    INT(rows)                                                                                      \
    INT(row_size) INT(mask_rows) INT(mask_hides) INT(multiplier) INT(shift) INT(diff_min)          \
        INT(output_zero_point) INT(output_multiplier) INT(output_shift)

/* masked_softmax_s8 from and to 8 or 16 bits. */
#define CTN_SOFTMAX_S16_FIELDS(REF, INT, INTS)                                                     \
    CTN_MASKED_SOFTMAX_S8_FIELDS(REF, INT, INTS) INT(input_bytes) INT(output_bytes)

/* log_softmax over rows of row_size contiguous values: exponentials as in softmax_s8;
 * (q - max) is scaled by ratio_multiplier and ratio_shift, the logarithm of the sum in Q5.26 by
 * log_multiplier and log_shift, both to 1/256 of an output step. */
#define CTN_LOG_SOFTMAX_S8_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(rows)                                                                                      \
    INT(row_size)                                                                                  \
    INT(multiplier) INT(shift) INT(diff_min) INT(output_zero_point) INT(ratio_multiplier)          \
        INT(ratio_shift) INT(log_multiplier) INT(log_shift)

/* (x - mean) / sqrt(variance + epsilon) * gamma + beta, statistics over the reduced dims for each
 * step of dim[0..3]; input and output have the same strides. gamma int16 and beta int32 in gamma's
 * scale (2^-16 without gamma), both optional, at the sum of both parameter strides; multiplier and
 * shift take that scale to the output. count: elements of a group, below 2^22. centered 0: the
 * mean is taken as zero (RMS). epsilon: low and high half of epsilon * count^2 / scale^2. */
#define CTN_LAYER_NORM_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(gamma)                                                                                     \
    REF(beta)                                                                                      \
    REF(table) INTS(dim, 4) INTS(stride, 4) INTS(parameter_stride, 4) INTS(reduced, 4)             \
        INTS(reduced_stride, 4) INTS(reduced_parameter_stride, 4) INT(count) INT(centered)         \
            INT(epsilon_low) INT(epsilon_high) INT(input_zero_point) INT(output_zero_point)        \
                INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)

/* int64 place of the first maximum (mode 0) or minimum (mode 1) among count values a stride
 * apart, of input_bytes (1 or 2) each, for each step of dim[0..5]. */
#define CTN_ARGMAX_FIELDS(REF, INT, INTS)                                                          \
    REF(input)                                                                                     \
    REF(output) INTS(dim, 6) INTS(in_stride, 6) INT(count) INT(stride) INT(mode) INT(input_bytes)

/* Running sums of (q - input_zero_point) along count values, for each step of dim[0..5]. */
#define CTN_CUMSUM_S8_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6)                                                                             \
    INTS(out_stride, 6) INT(count) INT(in_step) INT(out_step) INT(input_zero_point)                \
        INT(output_zero_point) INT(multiplier) INT(shift)

/* Pools whose window i of n covers floor(i * in / n) .. ceil((i + 1) * in / n) - 1.
 * mode 0: mean, as avg_pool2d_s8; 1: maximum. Requantized unless multiplier is 0. */
#define CTN_ADAPTIVE_POOL2D_S8_FIELDS(REF, INT, INTS)                                              \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INT(batches)                                                                                   \
    INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w) INT(mode) INT(input_zero_point)        \
        INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min) INT(clamp_max)

/* int64 place in the plane, y * in_w + x, of the first maximum of max_pool2d_s8's windows. */
#define CTN_MAX_POOL2D_INDICES_S8_FIELDS(REF, INT, INTS)                                           \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(in_h)                                                                                      \
    INT(in_w) INT(channels) INT(out_h) INT(out_w) INT(kernel_h) INT(kernel_w) INT(stride_h)        \
        INT(stride_w) INT(pad_top) INT(pad_left) INT(dilation_h) INT(dilation_w)

/* int64 place in the plane of the first maximum of adaptive_pool2d_s8's windows. */
#define CTN_ADAPTIVE_MAX_INDICES_S8_FIELDS(REF, INT, INTS)                                         \
    REF(input)                                                                                     \
    REF(output) INT(batches) INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w)

/* Integers of in_size bytes (1, 4, 8, signed), reduced as in reduce_sum_s8 to out_size bytes.
 * mode 0: sum, 1: maximum, 2: minimum. */
#define CTN_REDUCE_INT_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(in_size) INT(out_size)         \
        INT(mode)

/* Recurrent layers, one direction: input [steps][batches][in_size], output
 * [steps][batches][size]; the hidden state between steps is the output. x_weights
 * [gates * size][in_size] and h_weights [gates * size][size] with a factor to Q15.16 per row; bias
 * int32 in Q15.16; tangent (and sigmoid) int16 [513] from Q3.12 to Q0.15. multiplier and shift:
 * from the new state (lstm Q0.30, gru of state_bits, rnn tanh Q0.15, relu Q15.16) to the output. */
#define CTN_RECURRENT_FIELDS(REF, INT, INTS)                                                       \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(x_weights)                                                                                 \
    REF(h_weights) REF(bias) REF(x_multiplier) REF(x_shift) REF(h_multiplier) REF(h_shift)         \
        REF(tangent) INT(steps) INT(batches) INT(in_size) INT(size) INT(reverse)                   \
            INT(input_zero_point) INT(output_zero_point) INT(multiplier) INT(shift)
/* h0 [batches][size]: the int8 state before, absent for zeros; h0_multiplier and h0_shift are the
 * ratio of its scale to the output's. */
#define CTN_HIDDEN_FIELDS(REF, INT, INTS)                                                          \
    REF(h0) INT(h0_zero_point) INT(h0_multiplier) INT(h0_shift)
#define CTN_RNN_S8_FIELDS(REF, INT, INTS)                                                          \
    CTN_RECURRENT_FIELDS(REF, INT, INTS) CTN_HIDDEN_FIELDS(REF, INT, INTS)
/* h0 and state [batches][size]: int16 with state_bits fraction bits (at most 15), before (absent
 * for zeros) and after all steps. scratch: int8 [batches][size], if there is h0. */
#define CTN_GRU_S8_FIELDS(REF, INT, INTS)                                                          \
    CTN_RECURRENT_FIELDS(REF, INT, INTS)                                                           \
    REF(sigmoid) REF(h0) REF(state) REF(scratch) INT(state_bits)
/* c0 and cell [batches][size]: int16 with cell_bits fraction bits (at most 12), before (absent for
 * zeros) and after all steps. */
#define CTN_LSTM_S8_FIELDS(REF, INT, INTS)                                                         \
    CTN_RECURRENT_FIELDS(REF, INT, INTS)                                                           \
    CTN_HIDDEN_FIELDS(REF, INT, INTS) REF(sigmoid) REF(c0) REF(cell) INT(cell_bits)

/* The C boundary and float islands. scale and its inverse are float bits in an int32. */
#define CTN_QUANTIZE_S8_FIELDS(REF, INT, INTS)                                                     \
    REF(input) REF(output) INT(count) INT(inverse_scale) INT(zero_point)
#define CTN_DEQUANTIZE_S8_FIELDS(REF, INT, INTS)                                                   \
    REF(input) REF(output) INT(count) INT(scale) INT(zero_point)
#define CTN_QUANTIZE_S16_FIELDS(REF, INT, INTS) CTN_QUANTIZE_S8_FIELDS(REF, INT, INTS)
#define CTN_DEQUANTIZE_S16_FIELDS(REF, INT, INTS) CTN_DEQUANTIZE_S8_FIELDS(REF, INT, INTS)

/* Elements at places known only at run time: out[o][k][i] = in[o][indices[k]][i] over outer, count
 * and inner (in has `rows` in the middle), or with `each` in[o][indices[o][k][i]][i]. Indices have
 * index_size 4 or 8 bytes; negative ones count from the end, those beyond are kept inside. */
#define CTN_TAKE_FIELDS(REF, INT, INTS)                                                            \
    REF(input)                                                                                     \
    REF(indices)                                                                                   \
    REF(output)                                                                                    \
    INT(element_size) INT(index_size) INT(outer) INT(rows) INT(count) INT(inner) INT(each)

/* Channels last. rows[out_h] and columns[out_w] say between which two inputs an output lies:
 * low << 13 | weight of low + 1 (or of the last), 0..4096. */
#define CTN_UPSAMPLE_BILINEAR2D_S8_FIELDS(REF, INT, INTS)                                          \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(rows) REF(columns) INT(batches) INT(in_h) INT(in_w) INT(channels) INT(out_h) INT(out_w)
#define CTN_UPSAMPLE_BILINEAR2D_S16_FIELDS(REF, INT, INTS)                                         \
    CTN_UPSAMPLE_BILINEAR2D_S8_FIELDS(REF, INT, INTS)

/* ---- float32 ------------------------------------------------------------------------------- */
/* What the user allowed to stay in float, in runtime/float32.h's arithmetic: the same bits on every
 * machine. Elements are float32 unless a type is given. */

/* A pointwise function as a program for a stack of up to 8 numbers: pairs of bytes, an operator and
 * the index that CTN_FLOAT_CONSTANT has. The rest take their operands from the stack. Each kernel
 * knows the operators up to its own last one, so that an image has only what it needs. */
typedef enum {
    CTN_FLOAT_A, /* operands at this place */
    CTN_FLOAT_B,
    CTN_FLOAT_C,
    CTN_FLOAT_CONSTANT,
    CTN_FLOAT_DUPLICATE,
    CTN_FLOAT_ADD,
    CTN_FLOAT_SUB,
    CTN_FLOAT_MUL,
    CTN_FLOAT_DIV,
    CTN_FLOAT_MAX, /* NaN wins */
    CTN_FLOAT_MIN,
    CTN_FLOAT_FMAX, /* NaN loses */
    CTN_FLOAT_FMIN,
    CTN_FLOAT_EQ,
    CTN_FLOAT_LT,
    CTN_FLOAT_LE,
    CTN_FLOAT_AND, /* of numbers that are not zero */
    CTN_FLOAT_OR,
    CTN_FLOAT_COPYSIGN,
    CTN_FLOAT_SELECT, /* condition, if it is not zero, if it is */
    CTN_FLOAT_NOT,
    CTN_FLOAT_NEG,
    CTN_FLOAT_ABS,
    CTN_FLOAT_SIGNBIT,
    CTN_FLOAT_FLOOR,
    CTN_FLOAT_TRUNC,
    CTN_FLOAT_ROUND,
    CTN_FLOAT_SQRT, /* the last of program_basic_f32 */
    CTN_FLOAT_EXP,
    CTN_FLOAT_LOG,
    CTN_FLOAT_EXPM1,
    CTN_FLOAT_LOG1P,
    CTN_FLOAT_TANH,
    CTN_FLOAT_SIGMOID, /* the last of program_exp_f32 */
    CTN_FLOAT_ERF,
    CTN_FLOAT_ERFC, /* the last of program_erf_f32 */
    CTN_FLOAT_FMOD,
    CTN_FLOAT_POW,
    CTN_FLOAT_ATAN2,
    CTN_FLOAT_LOG2,
    CTN_FLOAT_LOG10,
    CTN_FLOAT_SIN,
    CTN_FLOAT_COS,
    CTN_FLOAT_TAN,
    CTN_FLOAT_ASIN,
    CTN_FLOAT_ACOS,
    CTN_FLOAT_ATAN,
    CTN_FLOAT_SINH,
    CTN_FLOAT_COSH,
    CTN_FLOAT_ASINH,
    CTN_FLOAT_ACOSH,
    CTN_FLOAT_ATANH /* the last of program_f32 */
} CtnFloatOp;

/* Elementwise with broadcasting, as add_s8. Types are those of `integer`, and 7 for float32; to an
 * integer, numbers are cut towards zero and saturated, NaN gives 0. */
#define CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)                                                     \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(c)                                                                                         \
    REF(output)                                                                                    \
    REF(program)                                                                                   \
    REF(constants)                                                                                 \
    INT(length) INTS(dim, 6) INTS(a_stride, 6) INTS(b_stride, 6) INTS(c_stride, 6) INT(a_type)     \
        INT(b_type) INT(c_type) INT(output_type)
#define CTN_PROGRAM_ERF_F32_FIELDS(REF, INT, INTS) CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)
#define CTN_PROGRAM_EXP_F32_FIELDS(REF, INT, INTS) CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)
#define CTN_PROGRAM_BASIC_F32_FIELDS(REF, INT, INTS) CTN_PROGRAM_F32_FIELDS(REF, INT, INTS)

/* As conv3d_s8, conv2d's having a depth of one. transposed 1: as conv_transpose2d_s8. Sums begin
 * with the first tap; the bias is added last. */
#define CTN_CONV_F32_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(weights)                                                                                   \
    REF(bias)                                                                                      \
    INT(batches)                                                                                   \
    INT(in_c) INT(out_c) INT(groups) INT(transposed) INTS(in, 3) INTS(out, 3) INTS(kernel, 3)      \
        INTS(stride, 3) INTS(pad, 3) INTS(dilation, 3)

/* As matmul_s8; bias, if present, is one float per column. */
#define CTN_MATMUL_F32_FIELDS(REF, INT, INTS)                                                      \
    REF(lhs)                                                                                       \
    REF(rhs)                                                                                       \
    REF(output)                                                                                    \
    REF(bias)                                                                                      \
    INTS(batch, 4)                                                                                 \
    INTS(lhs_batch_stride, 4) INTS(rhs_batch_stride, 4) INT(rows) INT(depth) INT(columns)          \
        INT(lhs_row_stride) INT(lhs_depth_stride) INT(rhs_depth_stride) INT(rhs_column_stride)

/* Pools, channels last; mode 0: mean, 1: maximum, 2: its int64 place in the plane. A mean divides
 * by the taps in the image, or with include_padding in the padded one. adaptive: windows as in
 * adaptive_pool2d_s8. */
#define CTN_POOL_F32_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INT(mode)                                                                                      \
    INT(adaptive)                                                                                  \
    INT(batches) INT(channels) INTS(in, 2) INTS(out, 2) INTS(kernel, 2) INTS(stride, 2)            \
        INTS(pad_before, 2) INTS(pad_after, 2) INTS(dilation, 2) INT(include_padding)

/* Loops as in reduce_sum_s8. mode 0: the sum times factor (float bits), 1: maximum, 2: minimum,
 * 3 and 4: their int64 places, counted along the reduced dims. */
#define CTN_REDUCE_F32_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6) INTS(in_stride, 6) INTS(reduced, 6) INTS(reduced_stride, 6) INT(mode) INT(factor)

/* Running sums, as cumsum_s8. */
#define CTN_CUMSUM_F32_FIELDS(REF, INT, INTS)                                                      \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    INTS(dim, 6) INTS(in_stride, 6) INTS(out_stride, 6) INT(count) INT(in_step) INT(out_step)

/* Softmax of beta (float bits) times the input, or its logarithm, over contiguous rows; mask as in
 * masked_softmax_s8. */
#define CTN_SOFTMAX_F32_FIELDS(REF, INT, INTS)                                                     \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(mask)                                                                                      \
    INT(rows) INT(row_size) INT(mask_rows) INT(mask_hides) INT(beta) INT(logarithm)

/* As layer_norm_s8, with gamma and beta in float; epsilon in float bits. */
#define CTN_LAYER_NORM_F32_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(gamma)                                                                                     \
    REF(beta)                                                                                      \
    INTS(dim, 4)                                                                                   \
    INTS(stride, 4) INTS(parameter_stride, 4) INTS(reduced, 4) INTS(reduced_stride, 4)             \
        INTS(reduced_parameter_stride, 4) INT(count) INT(centered) INT(epsilon)

/* Channels last. Output row y is the sum of row_weight[y][k] * input row row_index[y][k] over
 * `taps` taps, each input row of which is that of column taps likewise. */
#define CTN_RESAMPLE2D_F32_FIELDS(REF, INT, INTS)                                                  \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(row_index)                                                                                 \
    REF(row_weight)                                                                                \
    REF(column_index) REF(column_weight) INT(batches) INT(in_h) INT(in_w) INT(channels) INT(out_h) \
        INT(out_w) INT(taps)

/* Planes [batches][channels][in_h][in_w] at the places grid [batches][out_h * out_w][2], column
 * first. nearest, border, reflect, align_corners: 0 or 1. */
#define CTN_GRID_SAMPLE2D_F32_FIELDS(REF, INT, INTS)                                               \
    REF(input)                                                                                     \
    REF(grid)                                                                                      \
    REF(output)                                                                                    \
    INT(batches)                                                                                   \
    INT(channels) INT(in_h) INT(in_w) INT(places) INT(nearest) INT(border) INT(reflect)            \
        INT(align_corners)

/* The first `keep` of `count` values along a line, `inner` lines interleaved, by rank: ties in the
 * order of place, NaN above all numbers. values and indices (int64) are [outer][keep][inner];
 * either may be absent, but not both. pick 0 or more: of each line only the one with that rank, or
 * NaN if there is one (keep is then count). scratch: int32 [keep]. */
#define CTN_SORT_F32_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(values)                                                                                    \
    REF(output) REF(scratch) INT(outer) INT(count) INT(inner) INT(keep) INT(descending) INT(pick)

/* KERNEL(name, Struct, FIELDS) */
#define CTN_KERNELS(KERNEL)                                                                        \
    KERNEL(conv2d_s8, Conv2dS8, CTN_CONV2D_S8_FIELDS)                                              \
    KERNEL(depthwise_conv2d_s8, DepthwiseConv2dS8, CTN_DEPTHWISE_CONV2D_S8_FIELDS)                 \
    KERNEL(conv3d_s8, Conv3dS8, CTN_CONV3D_S8_FIELDS)                                              \
    KERNEL(conv_transpose2d_s8, ConvTranspose2dS8, CTN_CONV_TRANSPOSE2D_S8_FIELDS)                 \
    KERNEL(linear_s8, LinearS8, CTN_LINEAR_S8_FIELDS)                                              \
    KERNEL(matmul_s8, MatmulS8, CTN_MATMUL_S8_FIELDS)                                              \
    KERNEL(linear_s16, LinearS16, CTN_LINEAR_S16_FIELDS)                                           \
    KERNEL(conv2d_s16, Conv2dS16, CTN_CONV2D_S16_FIELDS)                                           \
    KERNEL(matmul_s16, MatmulS16, CTN_MATMUL_S16_FIELDS)                                           \
    KERNEL(max_pool2d_s16, MaxPool2dS16, CTN_MAX_POOL2D_S16_FIELDS)                                \
    KERNEL(avg_pool2d_s16, AvgPool2dS16, CTN_AVG_POOL2D_S16_FIELDS)                                \
    KERNEL(reduce_sum_s16, ReduceSumS16, CTN_REDUCE_SUM_S16_FIELDS)                                \
    KERNEL(softmax_s16, SoftmaxS16, CTN_SOFTMAX_S16_FIELDS)                                        \
    KERNEL(add_s8, AddS8, CTN_ADD_S8_FIELDS)                                                       \
    KERNEL(add_s16, AddS16, CTN_ADD_S16_FIELDS)                                                    \
    KERNEL(mul_s8, MulS8, CTN_MUL_S8_FIELDS)                                                       \
    KERNEL(mul_s16, MulS16, CTN_MUL_S16_FIELDS)                                                    \
    KERNEL(div_s8, DivS8, CTN_DIV_S8_FIELDS)                                                       \
    KERNEL(div_s16, DivS16, CTN_DIV_S16_FIELDS)                                                    \
    KERNEL(minmax_s8, MinmaxS8, CTN_MINMAX_S8_FIELDS)                                              \
    KERNEL(minmax_s16, MinmaxS16, CTN_MINMAX_S16_FIELDS)                                           \
    KERNEL(integer, Integer, CTN_INTEGER_FIELDS)                                                   \
    KERNEL(quantize_integer, QuantizeInteger, CTN_QUANTIZE_INTEGER_FIELDS)                         \
    KERNEL(rescale, Rescale, CTN_RESCALE_FIELDS)                                                   \
    KERNEL(compare_s8, CompareS8, CTN_COMPARE_S8_FIELDS)                                           \
    KERNEL(compare_s16, CompareS16, CTN_COMPARE_S16_FIELDS)                                        \
    KERNEL(logical_s8, LogicalS8, CTN_LOGICAL_S8_FIELDS)                                           \
    KERNEL(where, Where, CTN_WHERE_FIELDS)                                                         \
    KERNEL(prelu_s8, PreluS8, CTN_PRELU_S8_FIELDS)                                                 \
    KERNEL(pointwise2_s8, Pointwise2S8, CTN_POINTWISE2_S8_FIELDS)                                  \
    KERNEL(table_s8, TableS8, CTN_TABLE_S8_FIELDS)                                                 \
    KERNEL(table_s16, TableS16, CTN_TABLE_S16_FIELDS)                                              \
    KERNEL(pieces_s16, PiecesS16, CTN_PIECES_S16_FIELDS)                                           \
    KERNEL(copy, Copy, CTN_COPY_FIELDS)                                                            \
    KERNEL(gather, Gather, CTN_GATHER_FIELDS)                                                      \
    KERNEL(move, Move, CTN_MOVE_FIELDS)                                                            \
    KERNEL(fill, Fill, CTN_FILL_FIELDS)                                                            \
    KERNEL(npu, Npu, CTN_NPU_FIELDS)                                                               \
    KERNEL(take, Take, CTN_TAKE_FIELDS)                                                            \
    KERNEL(upsample_bilinear2d_s8, UpsampleBilinear2dS8, CTN_UPSAMPLE_BILINEAR2D_S8_FIELDS)        \
    KERNEL(upsample_bilinear2d_s16, UpsampleBilinear2dS16, CTN_UPSAMPLE_BILINEAR2D_S16_FIELDS)     \
    KERNEL(max_pool2d_s8, MaxPool2dS8, CTN_MAX_POOL2D_S8_FIELDS)                                   \
    KERNEL(avg_pool2d_s8, AvgPool2dS8, CTN_AVG_POOL2D_S8_FIELDS)                                   \
    KERNEL(reduce_sum_s8, ReduceSumS8, CTN_REDUCE_SUM_S8_FIELDS)                                   \
    KERNEL(reduce_max_s8, ReduceMaxS8, CTN_REDUCE_MAX_S8_FIELDS)                                   \
    KERNEL(reduce_max_s16, ReduceMaxS16, CTN_REDUCE_MAX_S16_FIELDS)                                \
    KERNEL(softmax_s8, SoftmaxS8, CTN_SOFTMAX_S8_FIELDS)                                           \
    KERNEL(masked_softmax_s8, MaskedSoftmaxS8, CTN_MASKED_SOFTMAX_S8_FIELDS)                       \
    KERNEL(log_softmax_s8, LogSoftmaxS8, CTN_LOG_SOFTMAX_S8_FIELDS)                                \
    KERNEL(layer_norm_s8, LayerNormS8, CTN_LAYER_NORM_S8_FIELDS)                                   \
    KERNEL(lstm_s8, LstmS8, CTN_LSTM_S8_FIELDS)                                                    \
    KERNEL(gru_s8, GruS8, CTN_GRU_S8_FIELDS)                                                       \
    KERNEL(rnn_s8, RnnS8, CTN_RNN_S8_FIELDS)                                                       \
    KERNEL(adaptive_max_indices_s8, AdaptiveMaxIndicesS8, CTN_ADAPTIVE_MAX_INDICES_S8_FIELDS)      \
    KERNEL(reduce_int, ReduceInt, CTN_REDUCE_INT_FIELDS)                                           \
    KERNEL(argmax, Argmax, CTN_ARGMAX_FIELDS)                                                      \
    KERNEL(cumsum_s8, CumsumS8, CTN_CUMSUM_S8_FIELDS)                                              \
    KERNEL(adaptive_pool2d_s8, AdaptivePool2dS8, CTN_ADAPTIVE_POOL2D_S8_FIELDS)                    \
    KERNEL(max_pool2d_indices_s8, MaxPool2dIndicesS8, CTN_MAX_POOL2D_INDICES_S8_FIELDS)            \
    KERNEL(program_f32, ProgramF32, CTN_PROGRAM_F32_FIELDS)                                        \
    KERNEL(program_erf_f32, ProgramErfF32, CTN_PROGRAM_ERF_F32_FIELDS)                             \
    KERNEL(program_exp_f32, ProgramExpF32, CTN_PROGRAM_EXP_F32_FIELDS)                             \
    KERNEL(program_basic_f32, ProgramBasicF32, CTN_PROGRAM_BASIC_F32_FIELDS)                       \
    KERNEL(conv_f32, ConvF32, CTN_CONV_F32_FIELDS)                                                 \
    KERNEL(matmul_f32, MatmulF32, CTN_MATMUL_F32_FIELDS)                                           \
    KERNEL(pool_f32, PoolF32, CTN_POOL_F32_FIELDS)                                                 \
    KERNEL(reduce_f32, ReduceF32, CTN_REDUCE_F32_FIELDS)                                           \
    KERNEL(cumsum_f32, CumsumF32, CTN_CUMSUM_F32_FIELDS)                                           \
    KERNEL(softmax_f32, SoftmaxF32, CTN_SOFTMAX_F32_FIELDS)                                        \
    KERNEL(layer_norm_f32, LayerNormF32, CTN_LAYER_NORM_F32_FIELDS)                                \
    KERNEL(resample2d_f32, Resample2dF32, CTN_RESAMPLE2D_F32_FIELDS)                               \
    KERNEL(grid_sample2d_f32, GridSample2dF32, CTN_GRID_SAMPLE2D_F32_FIELDS)                       \
    KERNEL(sort_f32, SortF32, CTN_SORT_F32_FIELDS)                                                 \
    KERNEL(quantize_s8, QuantizeS8, CTN_QUANTIZE_S8_FIELDS)                                        \
    KERNEL(dequantize_s8, DequantizeS8, CTN_DEQUANTIZE_S8_FIELDS)                                  \
    KERNEL(quantize_s16, QuantizeS16, CTN_QUANTIZE_S16_FIELDS)                                     \
    KERNEL(dequantize_s16, DequantizeS16, CTN_DEQUANTIZE_S16_FIELDS)                               \
    KERNEL(conv2d_add_s8, Conv2dAddS8, CTN_CONV2D_ADD_S8_FIELDS)                                   \
    KERNEL(conv2d_s8w4, Conv2dS8W4, CTN_CONV2D_S8W4_FIELDS)                                        \
    KERNEL(depthwise_conv2d_s8w4, DepthwiseConv2dS8W4, CTN_DEPTHWISE_CONV2D_S8W4_FIELDS)           \
    KERNEL(linear_s8w4, LinearS8W4, CTN_LINEAR_S8W4_FIELDS)

/* VARIANT(kernel, Struct, isa, accepts, pack): a faster body for one ISA level (`<isa>_small`: also
 * one that is short), bit for bit equal to the plain one, in runtime/<kernel>_<isa>.c. `accepts` and `pack` name host functions of
 * src/lower (any_call and keep_constants: none needed); the chip's build never sees them. */
#define CTN_VARIANTS_OF_BYTES(VARIANT)                                                           \
    VARIANT(conv2d_s8, Conv2dS8, v6m, conv2d_dots, pack_conv2d_bytes)                              \
    VARIANT(conv2d_s8, Conv2dS8, v7m, conv2d_dots, pack_conv2d_dots)                               \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, v6m, depthwise_words, pack_depthwise_words)    \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, v7m, depthwise_strips, pack_depthwise_strips)  \
    VARIANT(linear_s8, LinearS8, v6m, linear_dots, pack_linear_bytes)                              \
    VARIANT(linear_s8, LinearS8, v7m, linear_dots, pack_linear_dots)                               \
    VARIANT(conv2d_s8, Conv2dS8, dsp, conv2d_accepts_dsp, conv2d_pack_dsp)                         \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, dsp, depthwise_accepts_dsp,                    \
            depthwise_pack_dsp)                                                                    \
    VARIANT(linear_s8, LinearS8, dsp, linear_accepts_dsp, linear_pack_dsp)                         \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, v6m, conv2d_dots,                              \
            pack_conv_transpose2d_bytes)                                                           \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, v7m, conv2d_dots, pack_conv_transpose2d_dots)  \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, dsp, conv_transpose2d_accepts_dsp,             \
            conv_transpose2d_pack_dsp)                                                             \
    VARIANT(matmul_s8, MatmulS8, v6m, matmul_of_small_sums, pack_matmul_sums)                      \
    VARIANT(matmul_s8, MatmulS8, v7m, matmul_of_dense_rows, pack_matmul_sums)                    \
    VARIANT(max_pool2d_s8, MaxPool2dS8, v7m, max_pool_accepts_dsp, keep_constants)                 \
    VARIANT(matmul_s8, MatmulS8, dsp, matmul_accepts_dsp, matmul_pack_dsp)                         \
    VARIANT(add_s8, AddS8, v6m, add_accepts_dsp, add_pack_dsp)                                     \
    VARIANT(add_s8, AddS8, v7m, add_accepts_dsp, add_pack_dsp)                                     \
    VARIANT(add_s8, AddS8, dsp, add_accepts_dsp, add_pack_dsp)                                     \
    VARIANT(mul_s8, MulS8, v6m, mul_accepts_dsp, mul_pack_dsp)                                     \
    VARIANT(mul_s8, MulS8, v7m, mul_accepts_dsp, mul_pack_dsp)                                     \
    VARIANT(mul_s8, MulS8, dsp, mul_accepts_dsp, mul_pack_dsp)                                     \
    VARIANT(conv2d_s8, Conv2dS8, mve, conv2d_pairs, pack_conv2d_pairs)                             \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, mve, depthwise_taps, pack_depthwise_taps)      \
    VARIANT(lstm_s8, LstmS8, v6m, any_call, keep_constants)                                        \
    VARIANT(lstm_s8, LstmS8, v7m, any_call, keep_constants)                                        \
    VARIANT(lstm_s8, LstmS8, dsp, any_call, keep_constants)                                        \
    VARIANT(lstm_s8, LstmS8, mve, lstm_of_four_units, keep_constants)                              \
    VARIANT(gru_s8, GruS8, v6m, units_fill_four, keep_constants) \
    VARIANT(gru_s8, GruS8, v7m, units_fill_four, keep_constants) \
    VARIANT(gru_s8, GruS8, dsp, units_fill_four, keep_constants) \
    VARIANT(gru_s8, GruS8, mve, units_fill_four, keep_constants) \
    VARIANT(rnn_s8, RnnS8, v6m, units_fill_four, keep_constants) \
    VARIANT(rnn_s8, RnnS8, v7m, units_fill_four, keep_constants) \
    VARIANT(rnn_s8, RnnS8, dsp, units_fill_four, keep_constants) \
    VARIANT(rnn_s8, RnnS8, mve, units_fill_four, keep_constants) \
    VARIANT(layer_norm_s8, LayerNormS8, v6m, norm_of_runs, keep_constants) \
    VARIANT(layer_norm_s8, LayerNormS8, v7m, norm_of_runs, keep_constants) \
    VARIANT(layer_norm_s8, LayerNormS8, dsp, norm_of_runs, keep_constants) \
    VARIANT(layer_norm_s8, LayerNormS8, mve, norm_of_runs, keep_constants) \
    VARIANT(prelu_s8, PreluS8, mve, prelu_of_channels, keep_constants) \
    VARIANT(softmax_s8, SoftmaxS8, v6m, softmax_by_table, pack_softmax_table)                      \
    VARIANT(max_pool2d_s8, MaxPool2dS8, dsp, max_pool_accepts_dsp, keep_constants)                 \
    VARIANT(avg_pool2d_s8, AvgPool2dS8, dsp, avg_pool_accepts_dsp, keep_constants)                 \
    VARIANT(max_pool2d_s8, MaxPool2dS8, mve, max_pool_of_bytes, keep_constants)                    \
    VARIANT(avg_pool2d_s8, AvgPool2dS8, mve, avg_pool_of_few_taps, keep_constants)                 \
    VARIANT(conv_transpose2d_s8, ConvTranspose2dS8, mve, conv_transpose2d_pairs,                   \
            pack_conv_transpose2d_pairs)                                                           \
    VARIANT(reduce_sum_s8, ReduceSumS8, mve, sum_of_neighbours, keep_constants)                    \
    VARIANT(reduce_sum_s16, ReduceSumS16, mve, sum_of_neighbouring_bytes, keep_constants)          \
    VARIANT(matmul_s8, MatmulS8, mve, matmul_of_rows, pack_matmul_of_rows)                         \
    VARIANT(fill, Fill, mve, any_call, keep_constants)                                             \
    VARIANT(copy, Copy, mve, copy_of_bytes, pack_copy_of_bytes)                                    \
    VARIANT(linear_s8, LinearS8, mve, linear_rows, pack_linear_rows)                               \
    VARIANT(add_s8, AddS8, mve, add_runs, pack_add_runs)                                           \
    VARIANT(mul_s8, MulS8, mve, mul_runs, pack_mul_runs)                                           \
    VARIANT(table_s8, TableS8, v6m, table_of_bytes, pack_table_of_bytes)                            \
    VARIANT(table_s8, TableS8, mve, table_of_bytes, pack_table_of_bytes)                           \
    VARIANT(conv2d_add_s8, Conv2dAddS8, v6m, conv2d_add_dots, pack_conv2d_add_bytes)               \
    VARIANT(conv2d_add_s8, Conv2dAddS8, v7m, conv2d_add_dots, pack_conv2d_add_dots)                \
    VARIANT(conv2d_add_s8, Conv2dAddS8, dsp, conv2d_add_accepts_dsp, conv2d_add_pack_dsp)          \
    VARIANT(conv2d_add_s8, Conv2dAddS8, mve, conv2d_add_pairs, pack_conv2d_add_pairs)

/* Slower than the others of their level, but small: for models that are compiled for size. */
#define CTN_VARIANTS_OF_SMALL_CODE(VARIANT)                                                        \
    VARIANT(conv2d_s8, Conv2dS8, dsp_small, conv2d_accepts_dsp, conv2d_pack_dsp_small)             \
    VARIANT(depthwise_conv2d_s8, DepthwiseConv2dS8, dsp_small, depthwise_accepts_dsp_small,        \
            depthwise_pack_dsp_small)

/* The same of other widths. */
#define CTN_VARIANTS_OF_WIDTHS(VARIANT)                                                            \
    VARIANT(conv2d_s16, Conv2dS16, v6m, conv2d_by_rows, pack_conv2d_by_rows)                       \
    VARIANT(conv2d_s16, Conv2dS16, v7m, conv2d_by_rows, pack_conv2d_by_rows)                       \
    VARIANT(conv2d_s16, Conv2dS16, dsp, conv2d_by_rows, pack_conv2d_by_rows_dsp)                   \
    VARIANT(conv2d_s16, Conv2dS16, mve, conv2d_by_rows, pack_conv2d_by_rows)                       \
    VARIANT(linear_s16, LinearS16, v6m, linear_of_rows, pack_linear_by_rows)                             \
    VARIANT(linear_s16, LinearS16, v7m, linear_of_rows, pack_linear_by_rows)                             \
    VARIANT(linear_s16, LinearS16, dsp, linear_of_rows, pack_linear_by_rows_dsp)                         \
    VARIANT(linear_s16, LinearS16, mve, linear_of_rows, pack_linear_by_rows)                             \
    VARIANT(add_s16, AddS16, v7m, add_of_halves, keep_constants)                                   \
    VARIANT(add_s16, AddS16, mve, add_of_halves, keep_constants)                                   \
    VARIANT(mul_s16, MulS16, v7m, mul_of_halves, keep_constants)                                   \
    VARIANT(mul_s16, MulS16, mve, mul_of_halves, keep_constants)                                   \
    VARIANT(table_s16, TableS16, mve, any_call, keep_constants)                                    \
    VARIANT(conv2d_s8w4, Conv2dS8W4, v6m, conv2d_int4_bytes, pack_conv2d_int4_bytes)               \
    VARIANT(conv2d_s8w4, Conv2dS8W4, v7m, conv2d_int4_bytes, pack_conv2d_int4_bytes)               \
    VARIANT(linear_s8w4, LinearS8W4, v6m, any_call, pack_linear_int4_bytes)                        \
    VARIANT(linear_s8w4, LinearS8W4, v7m, any_call, pack_linear_int4_bytes)                        \
    VARIANT(conv2d_s8w4, Conv2dS8W4, dsp, conv2d_int4_rows, pack_conv2d_int4_rows)                 \
    VARIANT(linear_s8w4, LinearS8W4, dsp, linear_int4_words, pack_linear_int4_words)               \
    VARIANT(conv2d_s8w4, Conv2dS8W4, mve, conv2d_int4_pairs, pack_conv2d_int4_pairs)               \
    VARIANT(linear_s8w4, LinearS8W4, mve, linear_int4_rows, pack_linear_int4_rows)

#define CTN_VARIANTS(VARIANT)                                                                      \
    CTN_VARIANTS_OF_BYTES(VARIANT)                                                                 \
    CTN_VARIANTS_OF_SMALL_CODE(VARIANT)                                                            \
    CTN_VARIANTS_OF_WIDTHS(VARIANT)

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
