/* What the writers of a TOSA program's operators share. */
#ifndef CORTEN_TOSA_H
#define CORTEN_TOSA_H

#include "emit/emit.h"
#include "emit/layer.h"
#include "emit/tosa_file.h"

typedef struct {
    C *c;
    Graph *g;
    const Npu *npu;      /* that takes the program; NULL: none in particular */
    const Node *node;    /* the one that is being written */
    const char *refusal; /* why it cannot be, if more is known than that it has no form */
    TosaProgram p;
    int *of_value; /* by value id: its tensor, in the order of the value's memory; -1: none yet */
} Tosa;

typedef struct { /* of a tensor, in the order of memory */
    int rank;
    int64_t dim[MAX_RANK];
} TosaDims;

/* An operator; returns the tensor that it gives. */
int tosa_add(Tosa *t, TosaKind kind, const TosaAttributes *a, int in_count, const int *in,
             TosaType type, const TosaDims *dims);
int tosa_const(Tosa *t, TosaType type, const TosaDims *dims, const void *data);
int tosa_number(Tosa *t, TosaType type, int32_t value); /* of one element */
int tosa_shape(Tosa *t, int count, const int64_t *value);
int tosa_reshape(Tosa *t, int tensor, const TosaDims *dims);
int tosa_transpose(Tosa *t, int tensor, const int32_t *perm);
TosaDims tosa_dims(const Tosa *t, int tensor);
TosaDims tosa_dims_of(const Value *v);

/* (q - in_zero) * multiplier * 2^(shift - 31) + out_zero, rounded as ctn_requantize does, saturated
 * to the type; one factor, or one for each index of the last dim. */
int tosa_rescale(Tosa *t, int tensor, TosaType type, int32_t in_zero, int32_t out_zero, int count,
                 const int32_t *multiplier, const int32_t *shift);
int tosa_rescale_by(Tosa *t, int tensor, TosaType type, int32_t in_zero, int32_t out_zero,
                    double factor);

/* The same, rounded once, half up: what the kernels do where 16 bits take part. */
int tosa_rescale_once(Tosa *t, int tensor, TosaType type, int32_t out_zero, int count,
                      const int32_t *multiplier, const int32_t *shift);
/* A tensor of 48 bits in steps of 2^lost, rounded half up, in 32 bits. */
int tosa_narrowed(Tosa *t, int tensor, int lost);
int tosa_clamp(Tosa *t, int tensor, int32_t min, int32_t max);
/* 2^left times (q - zero_point), in 32 bits. */
int tosa_widened(Tosa *t, int tensor, int32_t zero_point, int left);
/* Of two tensors of one type and equal ranks, each spread along dims where its size is one. */
int tosa_pair(Tosa *t, TosaKind kind, int a, int b);
/* a * b / 2^shift, rounded half up. */
int tosa_product(Tosa *t, int a, int b, int shift);
/* a / 2^bits, rounded half up. */
int tosa_shifted_right(Tosa *t, int a, int bits);
/* Tensors one behind the other along an axis; one of one is itself. */
int tosa_joined(Tosa *t, int axis, int count, const int *in);
/* v / 2^bits, rounded half away from zero; |v| < 2^31 - 2^(bits - 1). */
int tosa_rounded(Tosa *t, int v, int bits);
/* v in the order and, but for broadcasting, the rank of y. */
int tosa_spread(Tosa *t, const Value *v, const Value *y);
/* The tensor's dims with ones in front, for operators that want equal ranks. */
int tosa_ranked(Tosa *t, int tensor, int rank);
int tosa_number_like(Tosa *t, int tensor, int32_t value); /* one of 32 bits, of tensor's rank */

/* The tensor of a value, in the order of its memory or in another. */
int tosa_value(Tosa *t, const Value *v);
int tosa_value_in(Tosa *t, const Value *v, const int8_t *order);
/* A tensor whose elements lie in an order of n's first output, in that of its memory. */
int tosa_from_order(Tosa *t, const Node *n, const int8_t *order, int tensor);
int tosa_in_logical_order(Tosa *t, const Value *v);
/* The elements of n's first output in logical order, in the order of its memory. */
int tosa_in_own_order(Tosa *t, const Node *n, int tensor);
/* n's first output, before what is fused into its store: that is added, and gives n's result. */
void tosa_store(Tosa *t, const Node *n, int tensor);
int tosa_lookup(Tosa *t, int tensor, const int8_t entry[256]);
/* What a corten::table makes of x, whose numbers `tensor` has. */
int tosa_table(Tosa *t, const Node *table, const Value *x, int tensor);
/* Entry q + bias of numbers q of 32 bits, by GATHER. */
int tosa_entries(Tosa *t, int tensor, int32_t bias, TosaType type, int64_t count,
                 const void *entry);
/* x on the grid of y. */
int tosa_regridded(Tosa *t, int tensor, const Value *x, const Value *y);

/* A value of rank 3 or 4 as N, height, width, C, and such a tensor as n's first output lies. */
int tosa_image(Tosa *t, const Value *v);
int tosa_image_back(Tosa *t, const Node *n, int tensor);

/* What the NPU has against an operator of the program; NULL: nothing. */
const char *tosa_limit(C *c, const TosaProgram *p, const TosaOperator *op, const Npu *npu);

/* A window's kernel, stride and dilation. A stride that is never taken is one: an NPU minds it. */
TosaAttributes tosa_window(const LayerWindow *k);
/* TOSA wants windows that end where the padded image does: less padding at the end, and rows and
 * columns that no window reaches taken off. */
int tosa_end_exactly(Tosa *t, int tensor, const LayerWindow *k, int32_t pad[4]);

/* An image enlarged by whole factors; bilinear: in 32 bits, 4 * times[0] * times[1] times too
 * large.
 */
int tosa_resized(Tosa *t, int image, const int64_t times[2], bool bilinear);
/* Places along an axis. */
int tosa_chosen(Tosa *t, int tensor, int axis, const int64_t *place, int64_t count);

/* The type of v's numbers, which are a layer's. */
TosaType tosa_type(const Value *v);

/* Truth values are bytes of 0 and 1. */
bool tosa_is_truth(const Value *v);
bool tosa_is_byte(const Value *v);  /* one of 8 bits or a truth */
bool tosa_is_taken(const Value *v); /* that, or one of 16 bits */
bool tosa_is_index(
    const Value *v); /* a place that the program finds: int64, of which TOSA has 32 bits */

bool tosa_argmax(Tosa *t, Node *n);

bool tosa_compare(Tosa *t, Node *n);
bool tosa_logical(Tosa *t, Node *n);
bool tosa_where(Tosa *t, Node *n);
bool tosa_masked_fill(Tosa *t, Node *n);
bool tosa_conv(Tosa *t, Node *n);
bool tosa_conv_transpose(Tosa *t, Node *n);
bool tosa_linear(Tosa *t, Node *n);
bool tosa_matmul(Tosa *t, Node *n);
bool tosa_recurrent(Tosa *t, Node *n);
bool tosa_requantize(Tosa *t, Node *n);
bool tosa_bilinear(Tosa *t, Node *n);
bool tosa_movement(Tosa *t, Node *n);
bool tosa_cat(Tosa *t, Node *n);
bool tosa_norm(Tosa *t, Node *n);
bool tosa_max_pool(Tosa *t, Node *n);
bool tosa_avg_pool(Tosa *t, Node *n);
bool tosa_adaptive_pool(Tosa *t, Node *n);
bool tosa_write_sum(Tosa *t, Node *n);
bool tosa_write_extreme(Tosa *t, Node *n);
bool tosa_write_mul(Tosa *t, Node *n);
bool tosa_write_table(Tosa *t, Node *n);
bool tosa_write_prelu(Tosa *t, Node *n);
bool tosa_softmax(Tosa *t, Node *n);
/* Writes n, whose operands are written; false: it has no form here. */
bool tosa_node(Tosa *t, Node *n);

#endif
