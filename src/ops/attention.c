/* Scaled dot-product attention, taken apart into two products and a softmax between them. The
 * scale goes into the softmax, masks of what must not be seen too (numbers that are added: by pass
 * masks), so that neither costs a pass over the scores nor widens their grid. */
#include "ops/ops.h"

#include <string.h>

typedef struct {
    Value *query, *key, *value;
    int64_t targets, sources, width; /* rows of scores, their columns, elements of a key */
    int64_t group;                   /* query heads that share a key head (enable_gqa) */
} Attention;

static bool refuse(C *c, const Node *n, const char *what) {
    diag_error(c, DIAG_MODEL, &n->loc, "scaled_dot_product_attention: %s", what);
    return false;
}

static bool attention_read(C *c, const Node *n, Attention *a) {
    *a = (Attention){node_in(n, "query"), node_in(n, "key"), node_in(n, "value"), 0, 0, 0, 1};
    const Type *q = &a->query->type, *k = &a->key->type, *v = &a->value->type;
    if (q->rank < 2 || k->rank < 2 || v->rank < 2 || !dtype_is_float(q->dtype) ||
        q->dim[q->rank - 1] != k->dim[k->rank - 1] || k->dim[k->rank - 2] != v->dim[v->rank - 2])
        return refuse(c, n, "query, key and value do not fit together");
    a->targets = q->dim[q->rank - 2];
    a->sources = k->dim[k->rank - 2];
    a->width = q->dim[q->rank - 1];
    if (node_double(n, "dropout_p") != 0)
        return refuse(c, n,
                      c_format(c, "dropout_p=%g is random: export with dropout_p=0",
                               node_double(n, "dropout_p")));
    if (!node_takes(n, "enable_gqa") || !node_bool(n, "enable_gqa"))
        return true;
    int64_t heads = q->rank == 4 ? q->dim[1] : 0, shared = k->rank == 4 ? k->dim[1] : 0;
    if (heads == 0 || shared == 0 || heads % shared != 0 || v->rank != 4 || v->dim[1] != shared)
        return refuse(c, n, "enable_gqa needs heads that are a multiple of the key's");
    a->group = heads / shared;
    return true;
}

/* x with the heads of a group as further rows, [B, H, L, E] -> [B, H / group, group * L, E], or
 * back. */
static Value *regroup(C *c, Graph *g, Node *n, Value *x, int64_t group, bool back) {
    if (group == 1)
        return x;
    int64_t dim[4];
    memcpy(dim, x->type.dim, sizeof dim);
    dim[1] = back ? dim[1] * group : dim[1] / group;
    dim[2] = back ? dim[2] / group : dim[2] * group;
    return MAKE("aten::reshape", arg_value(x), arg_ints(c, 4, dim));
}

/* True where a target sees a source: those before it and itself. */
static Value *causal_mask(C *c, Graph *g, const Attention *a) {
    int64_t dim[2] = {a->targets, a->sources};
    Array *m = array_new(c, DT_BOOL, 2, dim);
    for (int64_t t = 0; t < dim[0]; t++)
        for (int64_t s = 0; s < dim[1]; s++)
            array_set_int(m, t * dim[1] + s, s <= t);
    return value_constant(g, "causal", m);
}

static Value *attention_weights(C *c, Graph *g, Node *n, const Attention *a, Value *scores,
                                double scale) {
    Value *mask = node_in(n, "attn_mask");
    if (node_bool(n, "is_causal"))
        mask = causal_mask(c, g, a);
    if (mask && mask->type.dtype != DT_BOOL) { /* numbers that are added to scores */
        if (scale != 1)
            scores = MAKE("aten::mul.Tensor", arg_value(scores), arg_float(scale));
        scores = MAKE("aten::add.Tensor", arg_value(scores), arg_value(mask));
        scale = 1;
        mask = NULL;
    }
    return softmax_node(c, g, n, scores, scores->type.rank - 1, scale, mask, false);
}

static void attention_decompose(C *c, Graph *g, Node *n) {
    Attention a;
    if (!attention_read(c, n, &a))
        return;
    if (node_bool(n, "is_causal") && node_in(n, "attn_mask")) {
        refuse(c, n, "is_causal and attn_mask exclude each other");
        return;
    }
    double scale = node_has(n, "scale") ? node_double(n, "scale") : 1 / sqrt((double)a.width);
    Value *query = regroup(c, g, n, a.query, a.group, false);
    Value *turned = MAKE("aten::transpose.int", arg_value(a.key), arg_int(-2), arg_int(-1));
    Value *scores = MAKE("aten::matmul", arg_value(query), arg_value(turned));
    scores = regroup(c, g, n, scores, a.group, true);
    Value *weights = attention_weights(c, g, n, &a, scores, scale);
    weights = regroup(c, g, n, weights, a.group, false);
    Value *out = MAKE("aten::matmul", arg_value(weights), arg_value(a.value));
    value_replace(g, n->out[0], regroup(c, g, n, out, a.group, true));
    if (n->out_count > 1) {
        int64_t last = -1;
        Value *scaled = MAKE("aten::mul.Tensor", arg_value(scores), arg_float(scale));
        value_replace(g, n->out[1],
                      MAKE("aten::logsumexp", arg_value(scaled), arg_ints(c, 1, &last)));
    }
}

/* ---- nn.TransformerEncoderLayer, as strict export keeps it in eval mode ------------------------
 */

/* Its third k of what the layer makes of x, [B, L, 3 E] -> [B, H, L, E / H]. */
static Value *heads_of(C *c, Graph *g, Node *n, Value *all, int64_t k) {
    int64_t width = node_int(n, "embed_dim"), heads = node_int(n, "num_heads");
    int64_t dim[4] = {all->type.dim[0], all->type.dim[1], heads, width / heads};
    Value *x = MAKE("aten::slice.Tensor", arg_value(all), arg_int(2), arg_int(k * width),
                    arg_int((k + 1) * width), arg_int(1));
    x = MAKE("aten::reshape", arg_value(x), arg_ints(c, 4, dim));
    return MAKE("aten::transpose.int", arg_value(x), arg_int(1), arg_int(2));
}

/* True where a target sees a source; the layer's own is true where it does not: [L, L], or of
 * type 1 [B, L]. */
static Value *encoder_mask(C *c, Graph *g, Node *n) {
    Value *mask = node_in(n, "mask");
    if (!mask)
        return NULL;
    int64_t rows[4] = {mask->type.dim[0], 1, 1, mask->type.rank > 1 ? mask->type.dim[1] : 1};
    mask = MAKE("aten::logical_not", arg_value(mask));
    bool padding = node_has(n, "mask_type") && node_int(n, "mask_type") == 1;
    return padding ? MAKE("aten::reshape", arg_value(mask), arg_ints(c, 4, rows)) : mask;
}

static Value *encoder_linear(Graph *g, Node *n, Value *x, const char *weight, const char *bias) {
    return MAKE("aten::linear", arg_value(x), *node_arg(n, weight), *node_arg(n, bias));
}

static Value *encoder_attention(C *c, Graph *g, Node *n, Value *x) {
    Value *all = encoder_linear(g, n, x, "qkv_weight", "qkv_bias");
    Value *query = heads_of(c, g, n, all, 0), *key = heads_of(c, g, n, all, 1);
    Value *y = MAKE("aten::scaled_dot_product_attention", arg_value(query), arg_value(key),
                    arg_value(heads_of(c, g, n, all, 2)), arg_value(encoder_mask(c, g, n)));
    y = MAKE("aten::transpose.int", arg_value(y), arg_int(1), arg_int(2));
    y = MAKE("aten::reshape", arg_value(y), arg_ints(c, 3, x->type.dim));
    return encoder_linear(g, n, y, "proj_weight", "proj_bias");
}

static Value *encoder_feed_forward(Graph *g, Node *n, Value *x) {
    Value *y = encoder_linear(g, n, x, "ffn_weight_1", "ffn_bias_1");
    y = MAKE(node_bool(n, "use_gelu") ? "aten::gelu" : "aten::relu", arg_value(y));
    return encoder_linear(g, n, y, "ffn_weight_2", "ffn_bias_2");
}

static Value *encoder_norm(C *c, Graph *g, Node *n, Value *x, const char *weight,
                           const char *bias) {
    int64_t width = node_int(n, "embed_dim");
    return MAKE("aten::layer_norm", arg_value(x), arg_ints(c, 1, &width), *node_arg(n, weight),
                *node_arg(n, bias), arg_float(node_double(n, "eps")));
}

static void encoder_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "src"), *y;
    const Value *mask = node_in(n, "mask");
    int64_t width = node_int(n, "embed_dim"), heads = node_int(n, "num_heads");
    if (x->type.rank != 3 || x->type.dim[2] != width || heads < 1 || width % heads != 0 ||
        (mask && mask->type.dtype != DT_BOOL)) {
        diag_error(
            c, DIAG_MODEL, &n->loc,
            "a transformer encoder layer needs floats [batch, length, embed_dim], heads that "
            "divide embed_dim, and a mask of bools");
        return;
    }
    bool first = node_bool(n, "norm_first");
    y = first ? encoder_norm(c, g, n, x, "norm_weight_1", "norm_bias_1") : x;
    y = MAKE("aten::add.Tensor", arg_value(x), arg_value(encoder_attention(c, g, n, y)));
    x = first ? y : encoder_norm(c, g, n, y, "norm_weight_1", "norm_bias_1");
    y = first ? encoder_norm(c, g, n, x, "norm_weight_2", "norm_bias_2") : x;
    y = MAKE("aten::add.Tensor", arg_value(x), arg_value(encoder_feed_forward(g, n, y)));
    value_replace(g, n->out[0],
                  first ? y : encoder_norm(c, g, n, y, "norm_weight_2", "norm_bias_2"));
}

static const Op rows[] = {
    {.schema = "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, "
               "Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool "
               "use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, "
               "Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, "
               "Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> "
               "Tensor",
     COMPOSITE(encoder_decompose)},
    {.schema = "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
               "attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, "
               "bool enable_gqa=False) -> Tensor",
     COMPOSITE(attention_decompose)},
    {.schema = "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor "
               "value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? "
               "scale=None) -> (Tensor output, Tensor logsumexp)",
     COMPOSITE(attention_decompose)},
};

OPS_FAMILY(attention, rows);
