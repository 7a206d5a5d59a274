/* Argument lists (ctn.h) of what goes element by element, and of what only moves elements. */
#ifndef CTN_ARGS_ELEMENTS_H
#define CTN_ARGS_ELEMENTS_H

/* Elementwise with broadcasting: output is contiguous over dim[0..5] (outermost first, padded with
 * ones in front), operands have element strides (0 broadcasts).
 * add: design section 7; a negative multiplier subtracts. */
#define CTN_ADD_S8_FIELDS(REF, INT, INTS)                                                          \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6)                                                                              \
    INTS(b_stride, 6)                                                                              \
    INT(a_zero_point)                                                                              \
    INT(a_multiplier) INT(a_shift) INT(b_zero_point) INT(b_multiplier) INT(b_shift)                \
        INT(left_shift) INT(output_zero_point) INT(output_multiplier) INT(output_shift)            \
            INT(clamp_min) INT(clamp_max)
#define CTN_ADD_S16_FIELDS(REF, INT, INTS) CTN_ADD_S8_FIELDS(REF, INT, INTS)

/* Sums and products that are an int16 which is stored nowhere: what is stored, output_bytes wide,
 * is a function of it (CTN_MAP_S16_FIELDS). Both operands are input_bytes wide. */
#define CTN_ADD_MAP_S16_FIELDS(REF, INT, INTS)                                                     \
    CTN_ADD_S8_FIELDS(REF, INT, INTS)                                                              \
    REF(start) REF(piece) INT(pieces) INT(input_bytes) INT(output_bytes)

/* mul: (a - za) * (b - zb) requantized. */
#define CTN_MUL_S8_FIELDS(REF, INT, INTS)                                                          \
    REF(a)                                                                                         \
    REF(b)                                                                                         \
    REF(output)                                                                                    \
    REF(table)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(a_stride, 6)                                                                              \
    INTS(b_stride, 6)                                                                              \
    INT(a_zero_point)                                                                              \
    INT(b_zero_point) INT(output_zero_point) INT(multiplier) INT(shift) INT(clamp_min)             \
        INT(clamp_max)
#define CTN_MUL_S16_FIELDS(REF, INT, INTS) CTN_MUL_S8_FIELDS(REF, INT, INTS)
#define CTN_MUL_MAP_S16_FIELDS(REF, INT, INTS)                                                     \
    CTN_MUL_S8_FIELDS(REF, INT, INTS)                                                              \
    REF(start) REF(piece) INT(pieces) INT(input_bytes) INT(output_bytes)

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
    INTS(a_stride, 6)                                                                              \
    INTS(b_stride, 6) INT(a_multiplier) INT(a_shift) INT(b_multiplier) INT(b_shift) INT(minimum)

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
    INTS(a_stride, 6) INTS(b_stride, 6) INT(a_type) INT(b_type) INT(output_type) INT(op) INT(alpha)

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
    INTS(a_stride, 6)                                                                              \
    INTS(b_stride, 6) INT(a_zero_point) INT(b_zero_point) INT(a_factor) INT(b_factor) INT(op)
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
    REF(a_table)                                                                                   \
    REF(b_table)                                                                                   \
    INT(element_size) INTS(dim, 6) INTS(condition_stride, 6) INTS(a_stride, 6) INTS(b_stride, 6)

/* v = (q - input_zero_point) * 2^16, requantized by the positive factors if v >= 0, else by those
 * of its channel: multiplier and shift int32, indexed by channel_stride. A negative multiplier is a
 * negative slope. */
#define CTN_PRELU_S8_FIELDS(REF, INT, INTS)                                                        \
    REF(input)                                                                                     \
    REF(output)                                                                                    \
    REF(multiplier)                                                                                \
    REF(shift)                                                                                     \
    INTS(dim, 6)                                                                                   \
    INTS(in_stride, 6)                                                                             \
    INTS(channel_stride, 6)                                                                        \
    INT(input_zero_point) INT(output_zero_point) INT(positive_multiplier) INT(positive_shift)

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

/* A command stream of an Ethos-U with the weights that it reads, both aligned to 16 bytes; inputs
 * and outputs lie in scratch. */
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

/* Elements at places known only at run time: out[o][k][i] = in[o][indices[k]][i] over outer, count
 * and inner (in has `rows` in the middle), or with `each` in[o][indices[o][k][i]][i]. Indices have
 * index_size 4 or 8 bytes; negative ones count from the end, those beyond are kept inside. */
#define CTN_TAKE_FIELDS(REF, INT, INTS)                                                            \
    REF(input)                                                                                     \
    REF(indices)                                                                                   \
    REF(output)                                                                                    \
    INT(element_size) INT(index_size) INT(outer) INT(rows) INT(count) INT(inner) INT(each)

#endif
