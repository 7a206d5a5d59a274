/* Bags of embeddings: rows of a table, summed, averaged or compared bag by bag. Where the bags
 * begin must be constant; then a bag is a lookup and a reduction, and bags of one size are reduced
 * in one go. Of the four results only the first has a meaning outside of training. */
#include "ops/ops.h"

enum { MODE_SUM, MODE_MEAN, MODE_MAX };

/* The row that counts for nothing; -1: none. Of the overload that is named after it, -1 is the last
 * row. */
static int64_t bag_padding(const Node *n) {
    int64_t row = -1;
    if (node_takes(n, "padding_idx") && node_has(n, "padding_idx"))
        row = node_int(n, "padding_idx");
    bool from_end = text_equal(op_schema(n->op)->overload, "padding_idx") && row < 0;
    return from_end && node_has(n, "padding_idx") ? row + node_in(n, "weight")->type.dim[0] : row;
}

static void bag_shape(C *c, Node *n) {
    const Type *weight = &node_in(n, "weight")->type, *index = &node_in(n, "indices")->type;
    const Type *offsets = &node_in(n, "offsets")->type;
    if (weight->rank != 2 || index->rank != 1 || offsets->rank != 1 ||
        offsets->dim[0] < node_bool(n, "include_last_offset")) {
        movement_refuse(c, n, "weight %s, indices %s, offsets %s: ranks 2, 1 and 1 needed",
                        shape_text(c, weight->rank, weight->dim),
                        shape_text(c, index->rank, index->dim),
                        shape_text(c, offsets->rank, offsets->dim));
        return;
    }
    int64_t mode = node_int(n, "mode");
    int64_t bags = offsets->dim[0] - node_bool(n, "include_last_offset");
    int64_t dim[2] = {bags, weight->dim[1]};
    int64_t place = mode == MODE_SUM && bag_padding(n) < 0 ? 0 : index->dim[0];
    node_set_type(n, 0, weight->dtype, 2, dim);
    node_set_type(n, 1, DT_I64, 1, &place);
    /* one of the sizes of bags too many, or not, as torch chose by what trains */
    const Type *sizes = &n->out[2]->type;
    int64_t size = sizes->rank == 1 && sizes->dim[0] == offsets->dim[0] ? offsets->dim[0] : bags;
    node_set_type(n, 2, DT_I64, 1, &size);
    node_set_type(n, 3, DT_I64, mode == MODE_MAX ? 2 : 1, dim);
}

/* ---- in float ------------------------------------------------------------------------------- */

/* Takes element x into the sum, mean or maximum of those before it. */
static double bag_taken(int64_t mode, double so_far, double x, int64_t before) {
    return mode == MODE_MAX ? (before == 0 || x > so_far ? x : so_far) : so_far + x;
}

/* Positions first to end reduced into row b of out. */
static bool bag_fill(C *c, Node *n, Array *out, int64_t b, int64_t first, int64_t end) {
    const Array *weight = eval_in(c, n, "weight"), *at = eval_in(c, n, "indices");
    const Array *share =
        node_has(n, "per_sample_weights") ? eval_in(c, n, "per_sample_weights") : NULL;
    int64_t width = weight->dim[1], mode = node_int(n, "mode"), taken = 0;
    for (int64_t i = first; i < end; i++) {
        int64_t row = array_get_int(at, i);
        if (row < 0 || row >= weight->dim[0])
            return movement_refuse(c, n, "index %lld of %lld rows", (long long)row,
                                   (long long)weight->dim[0]);
        if (row == bag_padding(n))
            continue;
        for (int64_t k = 0; k < width; k++) {
            double x = array_get(weight, row * width + k) * (share ? array_get(share, i) : 1);
            array_set(out, b * width + k, bag_taken(mode, array_get(out, b * width + k), x, taken));
        }
        taken++;
    }
    for (int64_t k = 0; mode == MODE_MEAN && taken > 0 && k < width; k++)
        array_set(out, b * width + k, array_get(out, b * width + k) / (double)taken);
    return true;
}

static void bag_eval(C *c, Node *n) {
    const Array *offsets = eval_in(c, n, "offsets");
    Array *out = eval_out(c, n, 0);
    int64_t count = type_count(&node_in(n, "indices")->type);
    for (int k = 1; k < n->out_count; k++)
        eval_out(c, n, k); /* of training */
    for (int64_t b = 0; b < out->dim[0]; b++) {
        int64_t first = array_get_int(offsets, b);
        int64_t end = b + 1 < array_count(offsets) ? array_get_int(offsets, b + 1) : count;
        if (first < 0 || end > count) {
            movement_refuse(c, n, "a bag from %lld to %lld of %lld", (long long)first,
                            (long long)end, (long long)count);
            return;
        }
        if (!bag_fill(c, n, out, b, first, end))
            return;
    }
}

/* ---- as other rows -------------------------------------------------------------------------- */

/* The rows of positions `first` to `first + count`, as [count][width], weighted. */
static Value *bag_rows(C *c, Graph *g, Node *n, int64_t first, int64_t count) {
    Value *index = MAKE("aten::narrow", arg_value(node_in(n, "indices")), arg_int(0),
                        arg_int(first), arg_int(count));
    Value *rows = MAKE("aten::embedding", arg_value(node_in(n, "weight")), arg_value(index));
    if (bag_padding(n) >= 0) {
        Value *kept = MAKE("aten::ne.Scalar", arg_value(index), arg_int(bag_padding(n)));
        Value *zero = value_constant(g, "zero", array_new(c, rows->type.dtype, 0, NULL));
        rows = MAKE("aten::where.self",
                    arg_value(MAKE("aten::unsqueeze", arg_value(kept), arg_int(-1))),
                    arg_value(rows), arg_value(zero));
    }
    if (!node_has(n, "per_sample_weights"))
        return rows;
    Value *share = MAKE("aten::narrow", arg_value(node_in(n, "per_sample_weights")), arg_int(0),
                        arg_int(first), arg_int(count));
    share = MAKE("aten::unsqueeze", arg_value(share), arg_int(-1));
    return MAKE("aten::mul.Tensor", arg_value(rows), arg_value(share));
}

static Value *bag_reduced(C *c, Graph *g, Node *n, Value *rows, int64_t dim) {
    static const char *const reduction[] = {"aten::sum.dim_IntList", "aten::mean.dim",
                                            "aten::amax"};
    return MAKE(reduction[node_int(n, "mode")], arg_value(rows), arg_ints(c, 1, &dim));
}

/* start[0] .. start[bags]: bag b has the positions from start[b] to start[b + 1]. */
static int64_t *bag_starts(C *c, const Node *n, int64_t *bags, int64_t *even) {
    const Array *offsets = node_in(n, "offsets")->constant;
    int64_t count = type_count(&node_in(n, "indices")->type);
    *bags = array_count(offsets) - node_bool(n, "include_last_offset");
    int64_t *start = NEW_ARRAY(c, int64_t, *bags + 1);
    for (int64_t b = 0; b <= *bags; b++)
        start[b] = b < array_count(offsets) ? array_get_int(offsets, b) : count;
    *even = *bags > 0 ? start[1] - start[0] : 0;
    for (int64_t b = 0; b < *bags; b++) {
        if (start[b] < 0 || start[b + 1] < start[b] || start[b + 1] > count) {
            movement_refuse(c, n, "offsets that are not sorted within 0 to %lld", (long long)count);
            return NULL;
        }
        if (start[b + 1] - start[b] != *even)
            *even = 0;
    }
    return start;
}

/* All bags have `even` rows. */
static Value *bags_of_one_size(C *c, Graph *g, Node *n, int64_t first, int64_t bags, int64_t even) {
    Value *rows = bag_rows(c, g, n, first, bags * even);
    int64_t dim[3] = {bags, even, rows->type.dim[1]};
    rows = MAKE("aten::reshape", arg_value(rows), arg_ints(c, 3, dim));
    return bag_reduced(c, g, n, rows, 1);
}

static Value *bags_of_any_size(C *c, Graph *g, Node *n, const int64_t *start, int64_t bags) {
    Value **bag = NEW_ARRAY(c, Value *, bags + 1);
    int64_t width = node_in(n, "weight")->type.dim[1];
    for (int64_t b = 0; b < bags; b++) {
        int64_t count = start[b + 1] - start[b];
        bag[b] = count > 0 ? bag_reduced(c, g, n, bag_rows(c, g, n, start[b], count), 0)
                           : value_constant(g, "empty_bag", array_new(c, DT_F32, 1, &width));
    }
    return MAKE("aten::stack", arg_values(c, (int)bags, bag), arg_int(0));
}

static bool bag_is_known(C *c, const Node *n) {
    int64_t mode = node_int(n, "mode");
    if (mode < MODE_SUM || mode > MODE_MAX)
        return movement_refuse(c, n, "mode=%lld", (long long)mode);
    if (mode != MODE_SUM && bag_padding(n) >= 0)
        return movement_refuse(c, n, "no integer form: padding_idx=%lld with mode=%lld",
                               (long long)bag_padding(n), (long long)mode);
    if (!node_in(n, "offsets")->constant)
        return movement_refuse(c, n, "no integer form: offsets that depend on data");
    for (int k = 1; k < n->out_count; k++)
        if (n->out[k]->user_count > 0)
            return movement_refuse(c, n, "no integer form: result %d, which serves training", k);
    return true;
}

static void bag_decompose(C *c, Graph *g, Node *n) {
    int64_t bags, even;
    if (!bag_is_known(c, n))
        return;
    const int64_t *start = bag_starts(c, n, &bags, &even);
    if (!start)
        return;
    value_replace(g, n->out[0],
                  even > 0 ? bags_of_one_size(c, g, n, start[0], bags, even)
                           : bags_of_any_size(c, g, n, start, bags));
    for (int k = 1; k < n->out_count; k++) {
        const Type *t = &n->out[k]->type;
        value_replace(g, n->out[k],
                      value_constant(g, "unused", array_new(c, t->dtype, t->rank, t->dim)));
    }
}

#define BAG .shape = bag_shape, .eval = bag_eval, .decompose = bag_decompose

static const Op rows[] = {
    {.schema = "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
               "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
               "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, "
               "Tensor, Tensor)",
     BAG},
    {.schema = "aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
               "bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
               "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
     BAG},
    {.schema = "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
               "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
               "per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> "
               "(Tensor, Tensor, Tensor, Tensor)",
     BAG},
    {.schema = "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, "
               "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
               "per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> "
               "(Tensor, Tensor, Tensor, Tensor)",
     BAG},
};

OPS_FAMILY(bag, rows);
