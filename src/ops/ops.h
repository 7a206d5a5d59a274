/* For the files of this folder: each defines `const Op ops_<family>[]` and its count through
 * OPS_FAMILY at its end. The build makes the list of families from the file names. */
#ifndef CORTEN_OPS_H
#define CORTEN_OPS_H

#include <math.h>

#include "graph/graph.h"
#include "lower/lower.h"

#define OPS_FAMILY(family, rows)                                                                   \
    const Op *const ops_##family##_rows = (rows);                                                  \
    const int ops_##family##_count = (int)COUNT_OF(rows)

/* Shape functions that several families share. */
void shape_same(C *c, Node *n);      /* output 0 = operand 0 */
void shape_broadcast(C *c, Node *n); /* over all tensor operands, dtypes promoted as torch does */
void shape_broadcast_float(C *c, Node *n); /* likewise, integers become float32: sin, div */
void shape_broadcast_bool(C *c, Node *n);  /* comparisons and predicates */
void shape_broadcast_first(C *c, Node *n); /* the dtype of operand 0: masked_fill, hardtanh */
/* An integer result as the dtype holds it: modulo 2^bits. Other dtypes: x itself. */
double number_wrap(DType t, double x);
DType dtype_promote(DType a, DType b); /* two tensors of the same tier */
DType node_promoted_dtype(const Node *n);
void node_set_type(Node *n, int k, DType dtype, int rank, const int64_t *dim);

/* A row that is nothing but its decomposition, and a new node's value within one. */
#define COMPOSITE(function)                                                                        \
    .shape = composite_shape, .eval = composite_eval, .decompose = (function)
#define MAKE(row, ...) node_value(g, n, row, ARGS(__VA_ARGS__))

/* Data movement (view.c). A picture of an output: element i lies at offset + sum of i[d] *
 * stride[d] among the elements of operand 0, row-major. */
typedef struct {
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK], offset;
} Strided;

Strided strided_dense(int rank, const int64_t *dim);
/* Does `s` hold dim[] of all elements in row-major order? */
bool strided_is_dense(const Strided *s);
/* Eval functions of data movement copy elements by size, so that they also run on element
 * numbers: their output has the dtype of operand 0. */
void elements_copy(Array *out, int64_t to, const Array *in, int64_t from, int64_t count);
/* out's element i in row-major order = the element of `in` that `s` shows. */
void eval_strided(Array *out, const Array *in, const Strided *s);
/* The operand of a data movement: the first Tensor argument. */
Value *movement_input(const Node *n);
const Array *eval_movement_input(C *c, Node *n);
/* Fills in the picture of output k; *s comes in as the dense picture of operand 0. False: a
 * diagnostic is recorded. Shape and eval of a view follow from its Picture. */
typedef bool Picture(C *c, const Node *n, int k, Strided *s);
void picture_shape(C *c, Node *n, Picture *picture);
void picture_eval(C *c, Node *n, Picture *picture);
#define PICTURE_FUNCTIONS(op)                                                                      \
    static void op##_shape(C *c, Node *n) {                                                        \
        picture_shape(c, n, op##_picture);                                                         \
    }                                                                                              \
    static void op##_eval(C *c, Node *n) {                                                         \
        picture_eval(c, n, op##_picture);                                                          \
    }
Picture slice_picture, select_picture, diagonal_picture, as_strided_picture;
/* Leaves start .. start + length of dim d. */
bool picture_narrow(C *c, const Node *n, Strided *s, int d, int64_t start, int64_t length);
int64_t slice_index(int64_t i, int64_t size); /* negative ones from the end; clamped to 0..size */
/* Records "<operator>: ..." as an error of the model; false. */
bool movement_refuse(C *c, const Node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The output sizes and scale factors (0: not given) of the last `dims` dims of an upsample row. */
bool upsample_sizes(C *c, const Node *n, int dims, int64_t *size, double *scale);
/* The taps of a linear or bilinear enlargement along height (0) or width, as the kernel has them.
 */
int32_t *upsample_taps(C *c, const Node *n, int axis, int64_t *count);

/* Over which dims a row reduces (reduce.c). */
typedef struct {
    bool reduced[MAX_RANK];
    int64_t count; /* elements that go into one */
} Dims;
/* The dims of argument `name`: one int, a list, or all if there are none. */
Dims dims_read(C *c, const Node *n, const char *name, const Type *x);
bool keepdim_of(const Node *n); /* false if the row has none */
/* The sum of x over them, times factor. */
Value *sum_node(C *c, Graph *g, Node *n, Value *x, const Dims *d, bool keepdim, double factor);

/* gemmlowp's scaling of softmax's differences to Q5.26, and the least difference that is worth
 * anything (softmax.c). */
void softmax_scaling(double scale, int32_t *multiplier, int32_t *shift, int32_t *diff_min);

/* What the kernels of a corten::table make of each number of its input (table.c): of a byte; of 16
 * bits at every 128th, where interpolation between these stays within a step of the function, else
 * false; or where it does not. */
void table_numbers(const Node *n, int32_t entry[256]);
enum { WIDE_ENTRIES = 513 };
bool table_interpolates(const Node *n, int16_t entry[WIDE_ENTRIES]);
const int32_t *table_wide_numbers(C *c, const Node *n); /* [65536] */

/* Where a kernel that applies a function of int16 in its store has it. */
typedef struct {
    uint32_t *table, *start, *piece;
    int32_t *pieces;
} MapFields;

/* The table that is fused to n, if there is one. */
void store_map_s16(C *c, Call *call, const Node *n, const MapFields *f);
/* Is there one, of 16 bits on either side? */
bool store_maps_s16(const Node *n);
/* The fields of an argument list, and what its operands and results have of bytes. */
#define STORE_MAP_S16(c, call, n, a, operand)                                                      \
    do {                                                                                           \
        store_map_s16(c, call, n,                                                                  \
                      &(MapFields){&(a)->table, &(a)->start, &(a)->piece, &(a)->pieces});          \
        (a)->input_bytes = dtype_size(value_storage(operand));                                     \
        (a)->output_bytes = dtype_size(value_storage(node_result(n)));                             \
    } while (0)

/* From one grid to another, one of them of 16 bits (quantized.c). */
void rescale_factor(const Part *from, const Part *to, int32_t *multiplier, int32_t *shift);

typedef struct {      /* how a node's input is seen: as outer x group x inner */
    int64_t outer;    /* groups, one after the other in logical order */
    int64_t count;    /* elements of each, contiguous in logical order */
    int64_t groups;   /* group norm: parameters of group g start at g * channels */
    int64_t channels; /* group norm: channels of a group; 0: a parameter per element */
    bool centered;
    double eps;
} Norm;
Norm norm_read(const Node *n); /* of a core row of norm.c */

/* out[m][n] = a[m][k] * b[k][n] + beta * out, row-major with leading dims, by BLAS on one thread.
 */
void float_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float *a,
                int64_t lda, const float *b, int64_t ldb, float beta, float *out, int64_t ldo);

/* For lowering rows with a constant `weight` and an optional `bias`. False, with a diagnostic, if
 * the weight is not symmetric int8 data. */
bool weights_are_int8(C *c, const Node *n, const Value *w);
bool weights_are_int4(const Value *w); /* of those: packed two a byte by call_weights */
typedef struct {
    uint32_t *weights, *bias, *multiplier, *shift;
} WeightFields;
/* The packed weights, bias and per-channel factors scale(operand 0) * scale(weight) / scale(out).
 */
void call_weights(C *c, Call *call, const Node *n, int64_t channels, const int8_t *packed,
                  int64_t weight_bytes, WeightFields field);

/* For rows that convert their operand `in` into output 0 of the same order: calls `run` for each
 * part of its grid, with `count` elements from element `at` on of both. */
typedef void PartRun(C *c, Graph *g, Node *n, Value *in, Value *out, int64_t at, int64_t count,
                     int part);
void lower_by_parts(C *c, Graph *g, Node *n, Value *in, PartRun *run);

/* softmax(beta * x) over dim, with an optional bool mask that broadcasts to x (dim is then the
 * last): values count where its truth differs from `hides`. Nodes before n. */
Value *softmax_node(C *c, Graph *g, Node *n, Value *x, int dim, double beta, Value *mask,
                    bool hides);
/* A bool mask that broadcasts to x as softmax's kernels want it: whole rows, used over and over for
 * the outer dims. Nodes before n. */
Value *softmax_mask_rows(C *c, Graph *g, Node *n, Value *mask, const Type *x);

#endif
