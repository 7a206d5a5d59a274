/* Where numbers stand among others, as comparisons that are summed up: membership, and places in
 * sorted sequences. Each row is only its decomposition. */
#include "ops/ops.h"

static Value *as_tensor(C *c, Graph *g, Node *n, const char *name) {
    Value *v = node_in(n, name);
    if (v)
        return v;
    const Arg *a = node_arg(n, name);
    Array *one = array_new(c, a->kind == ARG_FLOAT ? DT_F32 : DT_I64, 0, NULL);
    array_set(one, 0, node_double(n, name));
    return value_constant(g, name, one);
}

/* ---- membership ----------------------------------------------------------------------------- */

static void decompose_isin(C *c, Graph *g, Node *n) {
    bool one_test = node_takes(n, "test_element"), one = node_takes(n, "element");
    Value *x = as_tensor(c, g, n, one ? "element" : "elements");
    Value *test = as_tensor(c, g, n, one_test ? "test_element" : "test_elements");
    int64_t flat = -1;
    x = MAKE("aten::unsqueeze", arg_value(x), arg_int(-1));
    test = MAKE("aten::reshape", arg_value(test), arg_ints(c, 1, &flat));
    Value *same = MAKE("aten::eq.Tensor", arg_value(x), arg_value(test));
    Value *any = MAKE("aten::any.dim", arg_value(same), arg_int(-1));
    if (node_bool(n, "invert"))
        any = MAKE("aten::logical_not", arg_value(any));
    value_replace(g, n->out[0], any);
}

/* ---- places in sorted sequences ------------------------------------------------------------- */

/* How many of the sequence (its last dim) are below x, or at most x. */
static void count_below(C *c, Graph *g, Node *n, Value *sequence, Value *x, bool right) {
    int rank = x->type.rank;
    if (sequence->type.rank > 1)
        sequence = MAKE("aten::unsqueeze", arg_value(sequence), arg_int(-2));
    x = MAKE("aten::unsqueeze", arg_value(x), arg_int(rank));
    Value *below =
        MAKE(right ? "aten::ge.Tensor" : "aten::gt.Tensor", arg_value(x), arg_value(sequence));
    int64_t last = rank;
    Value *sum = MAKE("aten::sum.dim_IntList", arg_value(below), arg_ints(c, 1, &last));
    if (node_bool(n, "out_int32"))
        sum = MAKE("aten::_to_copy", arg_value(sum), arg_dtype(DT_I32));
    value_replace(g, n->out[0], sum);
}

static void decompose_bucketize(C *c, Graph *g, Node *n) {
    count_below(c, g, n, node_in(n, "boundaries"), as_tensor(c, g, n, "self"),
                node_bool(n, "right"));
}

static void decompose_searchsorted(C *c, Graph *g, Node *n) {
    Value *sequence = node_in(n, "sorted_sequence");
    bool right = node_bool(n, "right");
    if (node_has(n, "side"))
        right = text_equal(node_string(n, "side"), "right");
    if (node_has(n, "sorter"))
        sequence =
            MAKE("aten::gather", arg_value(sequence), arg_int(-1), arg_value(node_in(n, "sorter")));
    count_below(c, g, n, sequence, as_tensor(c, g, n, "self"), right);
}

static const Op rows[] = {
    {.schema = "aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool "
               "assume_unique=False, bool invert=False) -> Tensor",
     COMPOSITE(decompose_isin)},
    {.schema = "aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool "
               "assume_unique=False, bool invert=False) -> Tensor",
     COMPOSITE(decompose_isin)},
    {.schema = "aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool "
               "assume_unique=False, bool invert=False) -> Tensor",
     COMPOSITE(decompose_isin)},
    {.schema = "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, "
               "bool right=False) -> Tensor",
     COMPOSITE(decompose_bucketize)},
    {.schema = "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, "
               "bool right=False) -> Tensor",
     COMPOSITE(decompose_bucketize)},
    {.schema = "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool "
               "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
     COMPOSITE(decompose_searchsorted)},
    {.schema = "aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool "
               "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
     COMPOSITE(decompose_searchsorted)},
};

OPS_FAMILY(search, rows);
