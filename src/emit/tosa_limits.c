/* What Ethos-U NPUs take of TOSA's integer profile: the constraints that Arm publishes with Vela, a
 * row an operator and family, limits as data. What a family has no row for, it does not take. */
#include "emit/tosa.h"

enum { SMALL = NPU_U55 | NPU_U65, ALL = SMALL | NPU_U85 };
enum { BYTE = 1 << TOSA_INT8, HALF = 1 << TOSA_INT16, WORD = 1 << TOSA_INT32 };
enum { ANY = BYTE | HALF | WORD, SHAPE = 1 << TOSA_SHAPE };
enum { MOST = 65536 }; /* of whatever the small ones count in 16 bits */

typedef struct { /* 0: no limit */
    TosaKind kind;
    const char *name;
    unsigned families, types; /* types: of the first operand */
    int sides;                /* so many of its last dims are at most MOST each */
    int64_t stride;           /* each of a window's; of one that is transposed: both alike */
    int64_t taps, height;     /* of a window: height * width, height */
    int64_t products;         /* that are summed to one number */
    int64_t lines;            /* before and behind a reduced axis, if it is not the last */
    int64_t rest;             /* product of all dims but the two smallest, beyond three */
    int64_t enlargement;      /* powers of two up to it */
} Row;

static const Row rows[] = {
    {TOSA_ADD, "ADD", ALL, .types = ANY},
    {TOSA_ARGMAX, "ARGMAX", .families = 0},
    {TOSA_ARITHMETIC_RIGHT_SHIFT, "ARITHMETIC_RIGHT_SHIFT", ALL, .types = WORD},
    {TOSA_CAST, "CAST", .families = 0},
    {TOSA_CLAMP, "CLAMP", ALL, .types = BYTE | HALF},
    {TOSA_CLZ, "CLZ", ALL, .types = WORD},
    {TOSA_CONCAT, "CONCAT", ALL, .types = ANY},
    {TOSA_CONST, "CONST", ALL, .types = ANY},
    {TOSA_CONST_SHAPE, "CONST_SHAPE", ALL, .types = SHAPE},
    {TOSA_CONV2D, "CONV2D", SMALL, .types = BYTE | HALF, .sides = 1, .stride = 3, .taps = 4096,
     .height = 64, .products = MOST},
    {TOSA_CONV2D, "CONV2D", NPU_U85, .types = BYTE | HALF},
    {TOSA_DEPTHWISE_CONV2D, "DEPTHWISE_CONV2D", SMALL, .types = BYTE | HALF, .sides = 1,
     .stride = 3, .taps = 4096, .height = 64},
    {TOSA_DEPTHWISE_CONV2D, "DEPTHWISE_CONV2D", NPU_U85, .types = BYTE | HALF},
    {TOSA_GATHER, "GATHER", NPU_U85, .types = ANY},
    {TOSA_IDENTITY, "IDENTITY", ALL, .types = ANY},
    {TOSA_LOGICAL_LEFT_SHIFT, "LOGICAL_LEFT_SHIFT", ALL, .types = WORD},
    {TOSA_MATMUL, "MATMUL", SMALL, .types = BYTE, .sides = 2},
    {TOSA_MATMUL, "MATMUL", NPU_U85, .types = BYTE | HALF},
    {TOSA_MAXIMUM, "MAXIMUM", ALL, .types = ANY},
    {TOSA_MAX_POOL2D, "MAX_POOL2D", SMALL, .types = BYTE | HALF, .sides = 3, .stride = 3,
     .taps = MOST, .height = 256},
    {TOSA_MAX_POOL2D, "MAX_POOL2D", NPU_U85, .types = BYTE | HALF},
    {TOSA_MINIMUM, "MINIMUM", ALL, .types = ANY},
    {TOSA_MUL, "MUL", ALL, .types = ANY},
    {TOSA_PAD, "PAD", ALL, .types = ANY},
    {TOSA_REDUCE_MAX, "REDUCE_MAX", ALL, .types = BYTE | HALF, .lines = MOST},
    {TOSA_REDUCE_SUM, "REDUCE_SUM", ALL, .types = ANY, .lines = MOST},
    {TOSA_RESCALE, "RESCALE", ALL, .types = ANY},
    {TOSA_RESHAPE, "RESHAPE", ALL, .types = ANY},
    {TOSA_RESIZE, "RESIZE", SMALL, .types = BYTE | HALF, .enlargement = 8},
    {TOSA_RESIZE, "RESIZE", NPU_U85, .types = BYTE | HALF},
    {TOSA_SLICE, "SLICE", ALL, .types = ANY},
    {TOSA_SUB, "SUB", ALL, .types = ANY},
    {TOSA_TABLE, "TABLE", SMALL, .types = BYTE},
    {TOSA_TABLE, "TABLE", NPU_U85, .types = BYTE | HALF},
    {TOSA_TRANSPOSE, "TRANSPOSE", SMALL, .types = BYTE | HALF, .sides = 3, .rest = MOST},
    {TOSA_TRANSPOSE, "TRANSPOSE", NPU_U85, .types = ANY},
    {TOSA_TRANSPOSE_CONV2D, "TRANSPOSE_CONV2D", SMALL, .types = BYTE | HALF, .sides = 3,
     .stride = 2, .taps = 4096, .height = 64, .products = MOST},
    {TOSA_TRANSPOSE_CONV2D, "TRANSPOSE_CONV2D", NPU_U85, .types = BYTE | HALF},
};

static const Row *row_of(TosaKind kind, NpuFamily family) {
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].kind == kind && (rows[i].families & family))
            return &rows[i];
    return NULL;
}

static const char *name_of(TosaKind kind) {
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].kind == kind)
            return rows[i].name;
    return "an operator";
}

static const char *over(C *c, const Row *row, const Npu *npu, const char *what, int64_t found,
                        int64_t most) {
    return found <= most || most == 0
               ? NULL
               : c_format(c, "%s: %s takes at most %lld; %s of TOSA has %lld", what, npu->name,
                          (long long)most, row->name, (long long)found);
}

/* Height and width of a window: a pool's are attributes, a layer's those of its weights. */
static void window(const TosaProgram *p, const TosaOperator *op, int64_t size[2]) {
    const int32_t *w = op->in_count > 1 ? p->tensor[op->in[1]].dim : NULL;
    int first = op->kind == TOSA_DEPTHWISE_CONV2D ? 0 : 1;
    for (int i = 0; i < 2; i++)
        size[i] = w ? w[first + i] : op->a.kernel[i];
}

static const char *window_limit(C *c, const Row *row, const TosaProgram *p, const TosaOperator *op,
                                const Npu *npu) {
    int64_t size[2];
    const int32_t *stride = op->a.stride;
    window(p, op, size);
    const char *why = over(c, row, npu, "stride", stride[stride[1] > stride[0]], row->stride);
    if (!why && op->kind == TOSA_TRANSPOSE_CONV2D && stride[0] != stride[1])
        why = c_format(c, "strides: %s takes equal ones; TRANSPOSE_CONV2D of TOSA has %d and %d",
                       npu->name, stride[0], stride[1]);
    if (!why)
        why = over(c, row, npu, "height of the kernel", size[0], row->height);
    if (!why)
        why = over(c, row, npu, "height times width of the kernel", size[0] * size[1], row->taps);
    int64_t depth = p->tensor[op->in[0]].dim[3];
    return why ? why
               : over(c, row, npu, "products in a sum", size[0] * size[1] * depth, row->products);
}

static const char *lines_limit(C *c, const Row *row, const TosaTensor *x, int axis,
                               const Npu *npu) {
    int64_t before = 1, behind = 1;
    for (int d = 0; d < x->rank; d++)
        *(d < axis ? &before : &behind) *= d == axis ? 1 : x->dim[d];
    const char *why = over(c, row, npu, "elements to be reduced", x->dim[axis], row->lines);
    if (why || axis == x->rank - 1)
        return why;
    return over(c, row, npu, "elements before or behind the reduced dim",
                before > behind ? before : behind, row->lines);
}

/* Beyond three dims, those that are 1 not counted: all but the two smallest. */
static const char *rest_limit(C *c, const Row *row, const TosaTensor *x, const Npu *npu) {
    int64_t least[2] = {INT64_MAX, INT64_MAX}, product = 1;
    bool beyond = false;
    for (int d = 0; d < x->rank; d++) {
        int64_t size = x->dim[d];
        beyond |= d < x->rank - 3 && size > 1;
        product *= size;
        if (size < least[0]) {
            least[1] = least[0];
            least[0] = size;
        } else if (size < least[1]) {
            least[1] = size;
        }
    }
    return beyond ? over(c, row, npu, "product of all sizes but the two smallest",
                         product / (least[0] * least[1]), row->rest)
                  : NULL;
}

static const char *enlargement_limit(C *c, const Row *row, const TosaProgram *p,
                                     const TosaOperator *op, const Npu *npu) {
    const int64_t *scale = p->tensor[op->in[1]].data;
    for (int k = 0; k < 4; k += 2) {
        int64_t times = scale[k] / scale[k + 1];
        if (row->enlargement && (times > row->enlargement || (times & (times - 1)) != 0))
            return c_format(c, "enlargement: %s takes powers of two up to %lld, not %lld",
                            npu->name, (long long)row->enlargement, (long long)times);
    }
    return NULL;
}

const char *tosa_limit(C *c, const TosaProgram *p, const TosaOperator *op, const Npu *npu) {
    static const char *const types[] = {"int8", "int16", "int32", "int48", "bool", "a shape"};
    const Row *row = row_of(op->kind, npu->family);
    if (!row)
        return c_format(c, "%s has no %s", npu->name, name_of(op->kind));
    const TosaTensor *x = &p->tensor[op->in_count > 0 ? op->in[0] : op->out];
    if (!(row->types & 1u << x->type))
        return c_format(c, "%s has no %s of %s", npu->name, row->name, types[x->type]);
    const char *why = NULL;
    for (int k = 1; k <= row->sides && k <= x->rank && !why; k++)
        why = over(c, row, npu, "size of a dim", x->dim[x->rank - k], MOST);
    if (!why && row->stride)
        why = window_limit(c, row, p, op, npu);
    if (!why && row->lines)
        why = lines_limit(c, row, x, op->a.axis, npu);
    if (!why && row->rest)
        why = rest_limit(c, row, x, npu);
    if (!why && op->kind == TOSA_RESIZE)
        why = enlargement_limit(c, row, p, op, npu);
    return why;
}
