/* Tensors made from numbers alone, and sizes and triangles: all of them fold into constants. What
 * `empty` leaves open is zero here. */
#include "ops/ops.h"

#include <string.h>

/* ---- types ---------------------------------------------------------------------------------- */

/* The `dtype` argument, else the one given. */
static DType dtype_or(const Node *n, DType otherwise) {
    const Arg *a = node_arg(n, "dtype");
    return a->kind == ARG_DTYPE ? a->u.dtype : a->kind == ARG_INT ? (DType)a->u.i : otherwise;
}

static void create_type(C *c, Node *n, DType dtype, int rank, const int64_t *dim) {
    int64_t count = 1;
    bool ok = rank >= 0 && rank <= MAX_RANK;
    for (int d = 0; ok && d < rank; d++)
        ok = dim[d] >= 0 && !__builtin_mul_overflow(count, dim[d], &count) && count < INT32_MAX;
    if (!ok)
        movement_refuse(c, n, "a size out of range");
    node_set_type(n, 0, dtype, ok ? rank : 0, dim);
}

static DType dtype_of_number(const Arg *a) {
    return a->kind == ARG_BOOL ? DT_BOOL : a->kind == ARG_INT ? DT_I64 : DT_F32;
}

static void fill_all(Array *out, double value) {
    for (int64_t i = 0, count = array_count(out); i < count; i++)
        array_set(out, i, value);
}

/* ---- one number everywhere ------------------------------------------------------------------ */

/* zeros, ones, empty: float32 unless said otherwise; full: the dtype of its number. */
static void sized_shape(C *c, Node *n) {
    int64_t dim[MAX_RANK];
    bool full = node_is(n, "aten::full");
    DType dtype = dtype_or(n, full ? dtype_of_number(node_arg(n, "fill_value")) : DT_F32);
    create_type(c, n, dtype, node_ints(n, "size", dim, MAX_RANK), dim);
}

static void new_shape(C *c, Node *n) {
    int64_t dim[MAX_RANK];
    DType dtype = dtype_or(n, node_in(n, "self")->type.dtype);
    create_type(c, n, dtype, node_ints(n, "size", dim, MAX_RANK), dim);
}

static void like_shape(C *c, Node *n) {
    const Type *t = &node_in(n, "self")->type;
    create_type(c, n, dtype_or(n, t->dtype), t->rank, t->dim);
}

/* There are no complex numbers. */
static void isreal_shape(C *c, Node *n) {
    const Type *t = &node_in(n, "self")->type;
    create_type(c, n, DT_BOOL, t->rank, t->dim);
}

static void scalar_shape(C *c, Node *n) {
    create_type(c, n, dtype_or(n, DT_F32), 0, NULL);
}

static void zero_eval(C *c, Node *n) {
    fill_all(eval_out(c, n, 0), 0);
}

static void one_eval(C *c, Node *n) {
    fill_all(eval_out(c, n, 0), 1);
}

static void full_eval(C *c, Node *n) {
    fill_all(eval_out(c, n, 0), node_double(n, "fill_value"));
}

static void scalar_eval(C *c, Node *n) {
    fill_all(eval_out(c, n, 0), node_double(n, "s"));
}

/* ---- sequences ------------------------------------------------------------------------------ */

typedef struct {
    double start, end, step;
    bool whole; /* all three are integers */
} Range;

static void range_read(const Node *n, const char *name, double *value, bool *whole) {
    *value = node_double(n, name);
    *whole &= node_arg(n, name)->kind != ARG_FLOAT;
}

static Range range_of(const Node *n) {
    Range r = {.step = 1, .whole = true};
    range_read(n, "end", &r.end, &r.whole);
    if (node_takes(n, "start"))
        range_read(n, "start", &r.start, &r.whole);
    if (node_takes(n, "step"))
        range_read(n, "step", &r.step, &r.whole);
    return r;
}

static void arange_shape(C *c, Node *n) {
    Range r = range_of(n);
    double count = ceil((r.end - r.start) / r.step);
    int64_t dim = count >= 0 && count < INT32_MAX ? (int64_t)count : -1;
    create_type(c, n, dtype_or(n, r.whole ? DT_I64 : DT_F32), 1, &dim);
}

static void arange_eval(C *c, Node *n) {
    Range r = range_of(n);
    Array *out = eval_out(c, n, 0);
    for (int64_t i = 0; i < out->dim[0]; i++)
        array_set(out, i, r.start + (double)i * r.step);
}

/* Up to its end, and float32 unless said otherwise: what arange replaced. */
static void range_shape(C *c, Node *n) {
    Range r = range_of(n);
    double count = floor((r.end - r.start) / r.step) + 1;
    int64_t dim = count >= 0 && count < INT32_MAX ? (int64_t)count : -1;
    create_type(c, n, dtype_or(n, DT_F32), 1, &dim);
}

static void linspace_shape(C *c, Node *n) {
    int64_t dim = node_int(n, "steps");
    create_type(c, n, dtype_or(n, DT_F32), 1, &dim);
}

/* From both ends towards the middle, in float32, as torch counts. */
static void linspace_eval(C *c, Node *n) {
    Array *out = eval_out(c, n, 0);
    float start = (float)node_double(n, "start"), end = (float)node_double(n, "end");
    int64_t steps = out->dim[0];
    float step = steps > 1 ? (end - start) / (float)(steps - 1) : 0;
    for (int64_t i = 0; i < steps; i++)
        array_set(out, i,
                  i < steps / 2 || steps == 1 ? start + step * (float)i
                                              : end - step * (float)(steps - 1 - i));
}

static void logspace_eval(C *c, Node *n) {
    Array *out = eval_out(c, n, 0);
    double start = node_double(n, "start"), end = node_double(n, "end");
    int64_t steps = out->dim[0];
    for (int64_t i = 0; i < steps; i++)
        array_set(out, i,
                  pow(node_double(n, "base"),
                      steps > 1 ? start + (end - start) * (double)i / (double)(steps - 1) : start));
}

/* ---- windows of signals ----------------------------------------------------------------------
 */

static const double PI = 3.14159265358979323846;

static double number_or(const Node *n, const char *name, double otherwise) {
    return node_takes(n, name) ? node_double(n, name) : otherwise;
}

/* x runs from 0 to 1 over the window. */
static double hann(const Node *n, double x) {
    (void)n;
    return 0.5 - 0.5 * cos(2 * PI * x);
}

static double hamming(const Node *n, double x) {
    return number_or(n, "alpha", 0.54) - number_or(n, "beta", 0.46) * cos(2 * PI * x);
}

static double blackman(const Node *n, double x) {
    (void)n;
    return 0.42 - 0.5 * cos(2 * PI * x) + 0.08 * cos(4 * PI * x);
}

static double bartlett(const Node *n, double x) {
    (void)n;
    return 1 - fabs(2 * x - 1);
}

static double bessel_i0(double x) {
    double sum = 1, term = 1;
    for (int k = 1; k < 500 && term > sum * 1e-17; k++) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

static double kaiser(const Node *n, double x) {
    double beta = number_or(n, "beta", 12), y = 2 * x - 1;
    return bessel_i0(beta * sqrt(fmax(0, 1 - y * y))) / bessel_i0(beta);
}

static void window_shape(C *c, Node *n) {
    int64_t dim = node_int(n, "window_length");
    create_type(c, n, dtype_or(n, DT_F32), 1, &dim);
}

/* A periodic window is a symmetric one of one element more, without that. */
static void window_eval(C *c, Node *n, double (*of)(const Node *, double)) {
    Array *out = eval_out(c, n, 0);
    int64_t count = out->dim[0], steps = count;
    if (node_takes(n, "periodic") && !node_bool(n, "periodic"))
        steps--;
    for (int64_t i = 0; i < count; i++)
        array_set(out, i, count == 1 ? 1 : of(n, (double)i / (double)steps));
}

#define WINDOW_FUNCTION(name)                                                                      \
    static void name##_eval(C *c, Node *n) {                                                       \
        window_eval(c, n, name);                                                                   \
    }
WINDOW_FUNCTION(hann)
WINDOW_FUNCTION(hamming)
WINDOW_FUNCTION(blackman)
WINDOW_FUNCTION(bartlett)
WINDOW_FUNCTION(kaiser)

/* ---- matrices ------------------------------------------------------------------------------- */

static void eye_shape(C *c, Node *n) {
    bool square = !*op_schema(n->op)->overload;
    int64_t dim[2] = {node_int(n, "n"), node_int(n, square ? "n" : "m")};
    create_type(c, n, dtype_or(n, DT_F32), 2, dim);
}

static void eye_eval(C *c, Node *n) {
    Array *out = eval_out(c, n, 0);
    for (int64_t i = 0; i < out->dim[0] && i < out->dim[1]; i++)
        array_set(out, i * out->dim[1] + i, 1);
}

/* Which elements of the last two dims a triangle keeps. */
static bool triangle_keeps(bool lower, int64_t row, int64_t column, int64_t diagonal) {
    return lower ? column - row <= diagonal : column - row >= diagonal;
}

/* x where a constant mask is set, else zero. */
static void triangle_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    const Type *t = &x->type;
    bool lower = node_is(n, "aten::tril");
    if (t->rank < 2) {
        movement_refuse(c, n, "a tensor of rank %d, at least 2", t->rank);
        return;
    }
    Array *mask = array_new(c, DT_BOOL, 2, t->dim + t->rank - 2);
    for (int64_t i = 0; i < array_count(mask); i++)
        array_set(
            mask, i,
            triangle_keeps(lower, i / mask->dim[1], i % mask->dim[1], node_int(n, "diagonal")));
    Value *zero = value_constant(g, "zero", array_new(c, t->dtype, 0, NULL));
    value_replace(g, n->out[0],
                  MAKE("aten::where.self", arg_value(value_constant(g, "triangle", mask)),
                       arg_value(x), arg_value(zero)));
}

/* Row and column numbers of a triangle's elements: [2, count]. */
static int64_t triangle_indices(const Node *n, Array *out) {
    bool lower = node_is(n, "aten::tril_indices");
    int64_t rows = node_int(n, "row"), columns = node_int(n, "col"), count = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < columns; k++) {
            if (!triangle_keeps(lower, r, k, node_int(n, "offset")))
                continue;
            if (out) {
                array_set_int(out, count, r);
                array_set_int(out, out->dim[1] + count, k);
            }
            count++;
        }
    return count;
}

static void triangle_indices_shape(C *c, Node *n) {
    int64_t rows = node_int(n, "row"), columns = node_int(n, "col"), dim[2] = {2, -1};
    if (rows >= 0 && columns >= 0 && rows < (1 << 15) && columns < (1 << 15))
        dim[1] = triangle_indices(n, NULL);
    create_type(c, n, dtype_or(n, DT_I64), 2, dim);
}

static void triangle_indices_eval(C *c, Node *n) {
    triangle_indices(n, eval_out(c, n, 0));
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define OPTIONS "Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define CREATES(text, of_shape, of_eval)                                                           \
    {                                                                                              \
        .schema = text, .traits = OP_CREATES, .shape = of_shape, .eval = of_eval,                  \
        .no_integer_form = "it depends on numbers that are not constant"                           \
    }

static const Op rows[] = {
    CREATES("aten::zeros(SymInt[] size, *, ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            sized_shape, zero_eval),
    CREATES("aten::ones(SymInt[] size, *, ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            sized_shape, one_eval),
    CREATES("aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            sized_shape, full_eval),
    CREATES("aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, " OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            sized_shape, zero_eval),
    CREATES(
        "aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, " OPTIONS
        ") -> Tensor",
        sized_shape, zero_eval),
    CREATES("aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            sized_shape, zero_eval),
    CREATES("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, "
            "ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            new_shape, zero_eval),
    CREATES("aten::zeros_like(Tensor self, *, ScalarType? dtype=None, " OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            like_shape, zero_eval),
    CREATES("aten::ones_like(Tensor self, *, ScalarType? dtype=None, " OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            like_shape, one_eval),
    CREATES("aten::isreal(Tensor self) -> Tensor", isreal_shape, one_eval),
    CREATES("aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, " OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            like_shape, full_eval),
    CREATES("aten::empty_like(Tensor self, *, ScalarType? dtype=None, " OPTIONS
            ", MemoryFormat? memory_format=None) -> Tensor",
            like_shape, zero_eval),
    CREATES("aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            new_shape, zero_eval),
    CREATES("aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            new_shape, one_eval),
    CREATES("aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            new_shape, full_eval),
    CREATES("aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            new_shape, zero_eval),
    CREATES("aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            scalar_shape, scalar_eval),
    CREATES("aten::arange(Scalar end, *, ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            arange_shape, arange_eval),
    CREATES("aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            arange_shape, arange_eval),
    CREATES("aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            arange_shape, arange_eval),
    CREATES(
        "aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, " OPTIONS
        ") -> Tensor",
        linspace_shape, linspace_eval),
    CREATES("aten::hann_window(int window_length, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            window_shape, hann_eval),
    CREATES("aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            window_shape, hann_eval),
    CREATES("aten::hamming_window(int window_length, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            window_shape, hamming_eval),
    CREATES("aten::hamming_window.periodic(int window_length, bool periodic, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            window_shape, hamming_eval),
    CREATES("aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, "
            "ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            window_shape, hamming_eval),
    CREATES("aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float "
            "alpha, float beta, *, ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            window_shape, hamming_eval),
    CREATES("aten::blackman_window(int window_length, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            window_shape, blackman_eval),
    CREATES("aten::blackman_window.periodic(int window_length, bool periodic, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            window_shape, blackman_eval),
    CREATES("aten::bartlett_window(int window_length, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            window_shape, bartlett_eval),
    CREATES("aten::bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            window_shape, bartlett_eval),
    CREATES("aten::kaiser_window(int window_length, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            window_shape, kaiser_eval),
    CREATES("aten::kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            window_shape, kaiser_eval),
    CREATES("aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            window_shape, kaiser_eval),
    CREATES("aten::range(Scalar start, Scalar end, *, ScalarType? dtype=None, " OPTIONS
            ") -> Tensor",
            range_shape, arange_eval),
    CREATES("aten::range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            range_shape, arange_eval),
    CREATES("aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? "
            "dtype=None, " OPTIONS ") -> Tensor",
            linspace_shape, logspace_eval),
    CREATES("aten::eye(SymInt n, *, ScalarType? dtype=None, " OPTIONS ") -> Tensor", eye_shape,
            eye_eval),
    CREATES("aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, " OPTIONS ") -> Tensor",
            eye_shape, eye_eval),
    CREATES("aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, " OPTIONS
            ") -> Tensor",
            triangle_indices_shape, triangle_indices_eval),
    CREATES("aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, " OPTIONS
            ") -> Tensor",
            triangle_indices_shape, triangle_indices_eval),
    {.schema = "aten::tril(Tensor self, SymInt diagonal=0) -> Tensor",
     COMPOSITE(triangle_decompose)},
    {.schema = "aten::triu(Tensor self, SymInt diagonal=0) -> Tensor",
     COMPOSITE(triangle_decompose)},
};

OPS_FAMILY(create, rows);
