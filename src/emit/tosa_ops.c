/* The operators of a quantized graph in TOSA's: one function for each core row, in the arithmetic
 * of docs/numerics.md. */
#include "emit/tosa.h"

/* 2^30 * 2^(1 - 31) keeps the number. RESCALE takes an int16 times 2^14 at most: what is more is
 * shifted. */
int tosa_widened(Tosa *t, int tensor, int32_t zero_point, int left) {
    bool shifts = t->p.tensor[tensor].type == TOSA_INT16 && left > 14;
    int32_t multiplier = 1 << 30, shift = shifts ? 1 : left + 1;
    int wide = tosa_rescale(t, tensor, TOSA_INT32, zero_point, 0, 1, &multiplier, &shift);
    return shifts ? tosa_pair(t, TOSA_LOGICAL_LEFT_SHIFT, wide, tosa_number_like(t, wide, left))
                  : wide;
}

static TosaDims spread(const Tosa *t, int a, int b) {
    TosaDims x = tosa_dims(t, a), y = tosa_dims(t, b);
    for (int d = 0; d < x.rank; d++)
        x.dim[d] = x.dim[d] == 1 ? y.dim[d] : x.dim[d];
    return x;
}

int tosa_pair(Tosa *t, TosaKind kind, int a, int b) {
    TosaDims dims = spread(t, a, b);
    return tosa_add(t, kind, NULL, 2, (int[]){a, b}, t->p.tensor[a].type, &dims);
}

int tosa_product(Tosa *t, int a, int b, int shift) {
    TosaDims dims = spread(t, a, b);
    int in[] = {a, b, tosa_number(t, TOSA_INT8, shift)};
    return tosa_add(t, TOSA_MUL, NULL, 3, in, TOSA_INT32, &dims);
}

int tosa_shifted_right(Tosa *t, int a, int bits) {
    TosaDims dims = spread(t, a, bits);
    return tosa_add(t, TOSA_ARITHMETIC_RIGHT_SHIFT, &(TosaAttributes){.round = true}, 2,
                    (int[]){a, bits}, TOSA_INT32, &dims);
}

/* One less is added to what is negative. */
int tosa_rounded(Tosa *t, int v, int bits) {
    int sign = tosa_pair(t, TOSA_ARITHMETIC_RIGHT_SHIFT, v, tosa_number_like(t, v, 31));
    int half = tosa_pair(t, TOSA_ADD, sign, tosa_number_like(t, v, 1 << (bits - 1)));
    return tosa_pair(t, TOSA_ARITHMETIC_RIGHT_SHIFT, tosa_pair(t, TOSA_ADD, v, half),
                     tosa_number_like(t, v, bits));
}

/* TOSA's level 8K joins up to 64 at once: more are joined in turns. */
int tosa_joined(Tosa *t, int axis, int count, const int *in) {
    enum { LIST_MOST = 64 };
    int joined = in[0];
    for (int i = 1; i < count;) {
        int list[LIST_MOST] = {joined}, used = 1;
        TosaDims dims = tosa_dims(t, joined);
        for (; used < LIST_MOST && i < count; used++, i++) {
            list[used] = in[i];
            dims.dim[axis] += tosa_dims(t, in[i]).dim[axis];
        }
        joined = tosa_add(t, TOSA_CONCAT, &(TosaAttributes){.axis = axis}, used, list,
                          t->p.tensor[joined].type, &dims);
    }
    return joined;
}

int tosa_ranked(Tosa *t, int tensor, int rank) {
    TosaDims own = tosa_dims(t, tensor), dims = {rank, {0}};
    for (int d = 0; d < rank; d++)
        dims.dim[d] = d < rank - own.rank ? 1 : own.dim[d - (rank - own.rank)];
    return tosa_reshape(t, tensor, &dims);
}

int tosa_number_like(Tosa *t, int tensor, int32_t value) {
    return tosa_ranked(t, tosa_number(t, TOSA_INT32, value), tosa_dims(t, tensor).rank);
}

/* The value as N, height, width, C. */
int tosa_image(Tosa *t, const Value *v) {
    int8_t order[MAX_RANK];
    order_channels_last(v->type.rank, order);
    int tensor = tosa_value_in(t, v, order);
    TosaDims d = tosa_dims(t, tensor);
    if (d.rank == 4)
        return tensor;
    return tosa_reshape(t, tensor, &(TosaDims){4, {d.dim[0], 1, d.dim[1], d.dim[2]}});
}

int tosa_from_order(Tosa *t, const Node *n, const int8_t *order, int tensor) {
    const Value *v = n->out[0];
    TosaDims dims = {v->type.rank, {0}};
    int32_t perm[MAX_RANK];
    for (int k = 0; k < v->type.rank; k++) {
        dims.dim[k] = v->type.dim[order[k]];
        perm[k] = order_place(order, v->order[k]);
    }
    return tosa_transpose(t, tosa_reshape(t, tensor, &dims), perm);
}

int tosa_image_back(Tosa *t, const Node *n, int tensor) {
    int8_t order[MAX_RANK];
    order_channels_last(n->out[0]->type.rank, order);
    return tosa_from_order(t, n, order, tensor);
}

int tosa_in_own_order(Tosa *t, const Node *n, int tensor) {
    int8_t logical[MAX_RANK];
    order_identity(logical);
    return tosa_from_order(t, n, logical, tensor);
}

int tosa_in_logical_order(Tosa *t, const Value *v) {
    int8_t logical[MAX_RANK];
    order_identity(logical);
    return tosa_value_in(t, v, logical);
}

/* ---- reductions ----------------------------------------------------------------------------- */

/* Reduces the dims that n names, one after the other; the tensor keeps them with a size of one. */
static int reduced(Tosa *t, const Node *n, TosaKind kind, int tensor, TosaType type) {
    const Value *x = node_operand(n, 0);
    int64_t dim[MAX_RANK];
    int count = node_ints(n, "dim", dim, MAX_RANK);
    TosaDims dims = tosa_dims(t, tensor);
    for (int i = 0; i < (count ? count : x->type.rank); i++) {
        int wanted = count ? dim_wrap(t->c, n, dim[i], x->type.rank) : i;
        TosaAttributes a = {.axis = order_place(x->order, wanted)};
        if (dims.dim[a.axis] == 1)
            continue;
        dims.dim[a.axis] = 1;
        tensor = tosa_add(t, kind, &a, 1, &tensor, type, &dims);
    }
    return tensor;
}

/* From x's order with ones to the order of n's output. */
static int reduced_back(Tosa *t, const Node *n, int tensor) {
    const Value *x = node_operand(n, 0);
    int32_t perm[MAX_RANK];
    if (n->out[0]->type.rank == x->type.rank)
        return tosa_from_order(t, n, x->order, tensor);
    for (int d = 0; d < x->type.rank; d++)
        perm[d] = order_place(x->order, d);
    return tosa_in_own_order(t, n, tosa_transpose(t, tensor, perm));
}

/* Sums of numbers of 16 bits: below 2^31. */
enum { SUMMED_MOST = 65535 };

static bool write_reduce_sum(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int64_t summed = type_count(&x->type) / type_count(&y->type);
    if (!layer_quantized(x) || !layer_quantized(y) || (layer_int16(x) && summed > SUMMED_MOST))
        return false;
    int sum = reduced(t, n, TOSA_REDUCE_SUM,
                      tosa_widened(t, tosa_value(t, x), value_zero_point(x), 0), TOSA_INT32);
    int32_t multiplier, shift;
    multiplier_from(node_double(n, "factor") * value_scale(x) / value_scale(y), &multiplier,
                    &shift);
    sum = node_is_wide(n)
              ? tosa_rescale_once(t, sum, tosa_type(y), value_zero_point(y), 1, &multiplier, &shift)
              : tosa_rescale(t, sum, TOSA_INT8, 0, value_zero_point(y), 1, &multiplier, &shift);
    tosa_store(t, n, reduced_back(t, n, sum));
    return true;
}

/* -1 - q: the least of some is the opposite of their opposites' greatest. */
static int opposite(Tosa *t, int tensor) {
    int8_t entry[256];
    if (t->p.tensor[tensor].type == TOSA_INT16) {
        int wide = tosa_widened(t, tensor, 0, 0);
        wide = tosa_pair(t, TOSA_SUB, tosa_number_like(t, wide, -1), wide);
        return tosa_rescale_by(t, wide, TOSA_INT16, 0, 0, 1);
    }
    for (int i = 0; i < 256; i++)
        entry[i] = (int8_t)(127 - i);
    return tosa_lookup(t, tensor, entry);
}

static bool write_reduce_max(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    bool least = node_bool(n, "minimum");
    if (!tosa_is_taken(x) || !grids_equal(x, y))
        return false;
    int in = least ? opposite(t, tosa_value(t, x)) : tosa_value(t, x);
    int most = reduced(t, n, TOSA_REDUCE_MAX, in, tosa_type(x));
    tosa_store(t, n, reduced_back(t, n, least ? opposite(t, most) : most));
    return true;
}

/* Of the least, that of the greatest opposite; of the whole, that in logical order. */
bool tosa_argmax(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    bool whole = node_arg(n, "dim")->kind != ARG_INT;
    if (!tosa_is_taken(x) || y->type.dtype != DT_I64)
        return false;
    int tensor = tosa_in_logical_order(t, x);
    if (whole)
        tensor = tosa_reshape(t, tensor, &(TosaDims){1, {type_count(&x->type)}});
    TosaDims all = tosa_dims(t, tensor), rest = {all.rank - 1, {0}};
    TosaAttributes a = {.axis = whole ? 0 : dim_wrap(t->c, n, node_int(n, "dim"), x->type.rank)};
    for (int d = 0; d < rest.rank; d++)
        rest.dim[d] = all.dim[d + (d >= a.axis)];
    tensor = node_bool(n, "minimum") ? opposite(t, tensor) : tensor;
    int place = tosa_add(t, TOSA_ARGMAX, &a, 1, &tensor, TOSA_INT32, &rest);
    t->of_value[y->id] = tosa_in_own_order(t, n, place);
    return true;
}

/* Of what would be an output and a constant or a state at once. */
static bool write_copy(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!tosa_is_taken(x) || !tosa_is_taken(y) || !grids_equal(x, y))
        return false;
    t->of_value[y->id] = tosa_value_in(t, x, y->order);
    return true;
}

/* ---- the list ------------------------------------------------------------------------------ */

static const struct {
    const char *row;
    bool (*write)(Tosa *t, Node *n);
} writers[] = {
    {"aten::__and__", tosa_logical},
    {"aten::__or__", tosa_logical},
    {"aten::__xor__", tosa_logical},
    {"aten::_prelu_kernel", tosa_write_prelu},
    {"aten::add", tosa_write_sum},
    {"aten::bitwise_and", tosa_logical},
    {"aten::bitwise_or", tosa_logical},
    {"aten::bitwise_xor", tosa_logical},
    {"aten::cat", tosa_cat},
    {"aten::eq", tosa_compare},
    {"aten::fmax", tosa_write_extreme},
    {"aten::fmin", tosa_write_extreme},
    {"aten::ge", tosa_compare},
    {"aten::greater", tosa_compare},
    {"aten::greater_equal", tosa_compare},
    {"aten::gt", tosa_compare},
    {"aten::le", tosa_compare},
    {"aten::lerp", tosa_write_sum},
    {"aten::less", tosa_compare},
    {"aten::less_equal", tosa_compare},
    {"aten::logical_and", tosa_logical},
    {"aten::logical_or", tosa_logical},
    {"aten::logical_xor", tosa_logical},
    {"aten::lt", tosa_compare},
    {"aten::masked_fill", tosa_masked_fill},
    {"aten::max.other", tosa_write_extreme},
    {"aten::maximum", tosa_write_extreme},
    {"aten::min.other", tosa_write_extreme},
    {"aten::minimum", tosa_write_extreme},
    {"aten::mul", tosa_write_mul},
    {"aten::multiply", tosa_write_mul},
    {"aten::ne", tosa_compare},
    {"aten::not_equal", tosa_compare},
    {"aten::rsub", tosa_write_sum},
    {"aten::sub", tosa_write_sum},
    {"aten::subtract", tosa_write_sum},
    {"aten::upsample_bilinear2d", tosa_bilinear},
    {"aten::upsample_linear1d", tosa_bilinear},
    {"aten::where", tosa_where},
    {"corten::adaptive_pool2d", tosa_adaptive_pool},
    {"corten::argmax", tosa_argmax},
    {"corten::avg_pool2d", tosa_avg_pool},
    {"corten::conv2d", tosa_conv},
    {"corten::copy", write_copy},
    {"corten::conv_transpose2d", tosa_conv_transpose},
    {"corten::group_norm", tosa_norm},
    {"corten::gru", tosa_recurrent},
    {"corten::layer_norm", tosa_norm},
    {"corten::linear", tosa_linear},
    {"corten::lstm", tosa_recurrent},
    {"corten::matmul", tosa_matmul},
    {"corten::max_pool2d", tosa_max_pool},
    {"corten::reduce_max", write_reduce_max},
    {"corten::reduce_sum", write_reduce_sum},
    {"corten::requantize", tosa_requantize},
    {"corten::rnn", tosa_recurrent},
    {"corten::softmax", tosa_softmax},
    {"corten::softmax_scaled", tosa_softmax},
    {"corten::table", tosa_write_table},
};

bool tosa_node(Tosa *t, Node *n) {
    for (size_t i = 0; i < COUNT_OF(writers); i++)
        if (node_is(n, writers[i].row))
            return writers[i].write(t, n);
    return (n->op->traits & OP_MOVES_DATA) && tosa_movement(t, n);
}
