/* Layers in the operators of ExecuTorch's Cortex-M dialect. Scratch is what CMSIS-NN's functions of
 * the target ask for. */
#include "emit/pte_call.h"

#include <string.h>

/* ---- scratch ------------------------------------------------------------------------------- */

/* Two columns of 16 bits; on MVE four of whole vectors. */
static int64_t columns_scratch(const Pte *t, const LayerWindow *k) {
    int64_t column = k->in_c * k->kernel[0] * k->kernel[1];
    return pte_isa_is(t, "mve") ? 4 * ((column + 15) / 16 * 16) : 2 * ((column + 3) / 4 * 4) * 2;
}

/* One row on MVE: a window that reaches into the padding is copied. */
static int64_t row_scratch(const Pte *t, const PteConv *c) {
    const LayerWindow *k = &c->k;
    int64_t stride = k->stride[1], pad = c->pad[1];
    int64_t odd = ((k->out[1] - 1) * stride + k->kernel[1] - k->in[1]) % 2;
    int64_t right = pad + odd != 0 ? (pad + odd + stride - 1) / stride : 0;
    int64_t left = (pad + stride - 1) / stride;
    right = pad + odd != 0 && right < 1 ? 1 : right;
    int64_t inner = k->out[1] - left - right;
    if (right + left + (inner > 0 ? inner : 0) != k->out[1])
        return columns_scratch(t, k);
    int64_t at_left = (k->kernel[1] + pad) * k->in_c;
    int64_t at_right = (k->kernel[1] - 1 + (odd ? right : pad)) * k->in_c;
    return at_left > at_right ? at_left : at_right;
}

static int64_t conv_scratch(const Pte *t, const PteConv *c) {
    const LayerWindow *k = &c->k;
    bool whole = k->depth == k->in_c, still = k->dilation[0] == 1 && k->dilation[1] == 1;
    if (k->kernel[0] == 1 && k->kernel[1] == 1 && c->pad[0] == 0 && c->pad[1] == 0 && still &&
        whole)
        return 0;
    bool row = k->in[0] == 1 && k->dilation[1] == 1 && k->kernel[0] == 1 && whole &&
               k->stride[1] * k->in_c % 4 == 0;
    return row && pte_isa_is(t, "mve") ? row_scratch(t, c) : columns_scratch(t, k);
}

static int64_t depthwise_scratch(const Pte *t, const PteConv *c) {
    enum { MVE_CHANNELS = 124 }; /* a block of them at once */
    const LayerWindow *k = &c->k;
    int64_t taps = k->kernel[0] * k->kernel[1];
    if (k->in_c != k->out_c || c->batch != 1 || k->dilation[0] != 1 || k->dilation[1] != 1)
        return 0;
    if (pte_isa_is(t, "mve"))
        return 4 * MVE_CHANNELS * taps;
    bool three = k->kernel[0] == 3 && k->kernel[1] == 3 && c->pad[0] <= 1 && c->pad[1] <= 1;
    return pte_isa_is(t, "dsp") && !three ? 2 * k->in_c * taps : 0;
}

/* Products with the transposed image from 17 channels on, where both strides are 1 or 2; else rows
 * of sums in 32 bits. */
typedef struct {
    int64_t sums, weights; /* bytes */
} TransposedScratch;

static bool turns_kernel(const LayerWindow *k) {
    enum { FEW = 16 };
    return k->in_c > FEW && k->stride[0] <= 2 && k->stride[1] <= 2;
}

static TransposedScratch transposed_scratch(const Pte *t, const LayerWindow *k) {
    if (turns_kernel(k))
        return (TransposedScratch){columns_scratch(t, k),
                                   k->in_c * k->kernel[0] * k->kernel[1] * k->out_c};
    int64_t wide = k->kernel[1] > k->stride[0] ? k->kernel[1] : k->stride[0];
    int64_t high = k->kernel[0] > k->stride[0] ? k->kernel[0] : k->stride[0];
    return (TransposedScratch){4 * ((k->in[1] - 1) * k->stride[1] + wide) * k->out_c * high, 0};
}

/* ---- convolutions -------------------------------------------------------------------------- */

/* Does a window with as much padding on both sides give this output? */
bool pte_even(const LayerWindow *k) {
    for (int a = 0; a < 2; a++) {
        int64_t reach = (k->kernel[a] - 1) * k->dilation[a] + 1;
        if ((k->in[a] + 2 * k->side[2 * a] - reach) / k->stride[a] + 1 != k->out[a])
            return false;
    }
    return true;
}

static int padded_by(Pte *t, int image, int64_t batch, int32_t value, LayerWindow *k,
                     const int64_t before[2], const int64_t after[2]) {
    for (int a = 0; a < 2; a++)
        k->in[a] += before[a] + after[a];
    PteShape shape = pte_image_shape(batch, k->in_c, k->in[0], k->in[1]);
    int out = pte_tensor(t, PTE_CHAR, &shape);
    int args[] = {image, pte_ints(t, 4, (int64_t[]){0, before[0], before[1], 0}),
                  pte_ints(t, 4, (int64_t[]){0, after[0], after[1], 0}), pte_int(t, value), out};
    pte_call(t, "pad", 5, args);
    return out;
}

int pte_padded(Pte *t, int image, int64_t batch, int32_t value, LayerWindow *k) {
    int64_t before[2], after[2];
    for (int a = 0; a < 2; a++) {
        int64_t end = window_overhang(k, a);
        before[a] = k->side[2 * a];
        after[a] = end > 0 ? end : 0;
        k->side[2 * a] = k->side[2 * a + 1] = 0;
    }
    return padded_by(t, image, batch, value, k, before, after);
}

static void call_conv(Pte *t, const PteConv *c, const PteConvCall *a, int scratch) {
    const LayerWindow *k = &c->k;
    int args[16], n = 0;
    args[n++] = a->image;
    args[n++] = a->weights;
    args[n++] = pte_int32s(t, k->out_c, a->bias); /* always: not all kernels take none */
    args[n++] = pte_pair(t, k->stride[0], k->stride[1]);
    args[n++] = pte_pair(t, c->pad[0], c->pad[1]);
    args[n++] = pte_pair(t, k->dilation[0], k->dilation[1]);
    if (a->depthwise)
        args[n++] = pte_int(t, k->out_c / k->in_c);
    args[n++] = pte_int(t, -a->in_zero);
    args[n++] = pte_int(t, a->out_zero);
    args[n++] = pte_int32s(t, k->out_c, a->multiplier);
    args[n++] = pte_int32s(t, k->out_c, a->shift);
    args[n++] = pte_int(t, a->min);
    args[n++] = pte_int(t, a->max);
    args[n++] = scratch;
    args[n++] = a->out;
    pte_call(t, a->depthwise ? "quantized_depthwise_conv2d" : "quantized_conv2d", n, args);
}

/* Depthwise, the dialect takes one image at a time. */
void pte_call_conv(Pte *t, const PteConv *c, const PteConvCall *a) {
    const LayerWindow *k = &c->k;
    if (!a->depthwise || c->batch == 1) {
        int64_t bytes = a->depthwise ? depthwise_scratch(t, c) : conv_scratch(t, c);
        call_conv(t, c, a, pte_scratch(t, bytes));
        return;
    }
    PteConv one = *c;
    one.batch = 1;
    PteShape in = pte_image_shape(1, k->in_c, k->in[0], k->in[1]);
    PteShape out = pte_image_shape(1, k->out_c, k->out[0], k->out[1]);
    for (int64_t i = 0; i < c->batch; i++) {
        PteConvCall of = *a;
        of.image = pte_view_from(t, a->image, i * k->in_c * k->in[0] * k->in[1], &in);
        of.out = pte_view_from(t, a->out, i * k->out_c * k->out[0] * k->out[1], &out);
        call_conv(t, &one, &of, pte_scratch(t, depthwise_scratch(t, &one)));
    }
}

/* Factors, zero points and clamp of a layer n. */
static PteConvCall layer_call(Pte *t, const Node *n, int64_t channels) {
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, channels);
    int32_t *shift = NEW_ARRAY(t->c, int32_t, channels);
    PteConvCall a = {
        .bias = layer_bias(t->c, n, channels), .multiplier = multiplier, .shift = shift};
    layer_factors(n, channels, multiplier, shift);
    a.in_zero = value_zero_point(node_operand(n, 0));
    a.out_zero = value_zero_point(n->out[0]);
    store_clamp(n, &a.min, &a.max);
    return a;
}

bool pte_conv(Pte *t, Node *n) {
    if (!layer_fits(n))
        return false;
    PteConv c = {.k = layer_window(n), .batch = node_operand(n, 0)->type.dim[0]};
    LayerWindow *k = &c.k;
    PteConvCall a = layer_call(t, n, k->out_c);
    a.depthwise = k->groups == k->in_c && k->groups > 1;
    a.image = pte_image(t, node_operand(n, 0));
    a.out = pte_result_image(t, n);
    if (a.image < 0 || a.out < 0)
        return false;
    if (!pte_even(k))
        a.image = pte_padded(t, a.image, c.batch, a.in_zero, k);
    c.pad[0] = k->side[0];
    c.pad[1] = k->side[2];
    int64_t deep[] = {1, k->kernel[0], k->kernel[1], k->out_c};
    int64_t wide[] = {k->out_c, k->kernel[0], k->kernel[1], k->depth};
    a.weights = pte_constant(t, PTE_CHAR, 4, a.depthwise ? deep : wide,
                             layer_weights(t->c, n, k, a.depthwise));
    pte_call_conv(t, &c, &a);
    pte_finish_image(t, n, a.out);
    return true;
}

/* Transposed convolutions that do not turn their kernel add up whole rows, `stride` for each of the
 * image and what the last kernel has beyond: those they give, wherever padding ends, and columns as
 * far. */
static int64_t summed(const LayerWindow *k, int a) {
    int64_t beyond = k->kernel[a] - k->stride[a];
    return k->in[a] * k->stride[a] + (beyond > 0 ? beyond : 0);
}

/* The image of which they give all that k wants along dim a and more, without padding. */
static int made_whole(Pte *t, int image, int64_t batch, int32_t zero, LayerWindow *k, int a) {
    int64_t none[2] = {0, 0}, more[2] = {0, 0}, end = k->side[2 * a] + k->out[a];
    while (summed(k, a) + more[a] * k->stride[a] < end)
        more[a]++;
    if (more[a] > 0)
        image = padded_by(t, image, batch, zero, k, none, more);
    k->side[2 * a] = 0;
    k->out[a] = summed(k, a);
    return image;
}

/* What `whole` says of an image that `k` made. */
static int cut_out(Pte *t, int tensor, int64_t batch, const LayerWindow *k,
                   const LayerWindow *whole) {
    int64_t outer = batch, inner = k->out[0] * k->out[1] * k->out_c;
    for (int a = 0; a < 2; a++) {
        const Side side = {.count = k->out[a],
                           .stride = 1,
                           .start = whole->side[2 * a] - k->side[2 * a],
                           .size = whole->out[a]};
        inner /= side.count;
        tensor = pte_cut(t, tensor, outer, inner, &side);
        outer *= side.size;
    }
    PteShape shape = pte_image_shape(batch, k->out_c, whole->out[0], whole->out[1]);
    return pte_view(t, tensor, &shape);
}

static void call_transposed(Pte *t, const LayerWindow *k, const PteConvCall *a) {
    int64_t size[] = {k->out_c, k->kernel[0], k->kernel[1], k->in_c}, spare[2];
    for (int d = 0; d < 2; d++) /* what the output has beyond even padding */
        spare[d] = k->out[d] - (k->in[d] - 1) * k->stride[d] + 2 * k->side[2 * d] - k->kernel[d];
    TransposedScratch scratch = transposed_scratch(t, k);
    int args[] = {a->image,
                  pte_constant(t, PTE_CHAR, 4, size, a->data),
                  pte_int32s(t, k->out_c, a->bias),
                  pte_pair(t, k->stride[0], k->stride[1]),
                  pte_pair(t, k->side[0], k->side[2]),
                  pte_pair(t, spare[0], spare[1]),
                  pte_pair(t, 1, 1),
                  pte_int(t, -a->in_zero),
                  pte_int(t, a->out_zero),
                  pte_int32s(t, k->out_c, a->multiplier),
                  pte_int32s(t, k->out_c, a->shift),
                  pte_int(t, a->min),
                  pte_int(t, a->max),
                  pte_scratch(t, scratch.sums),
                  pte_scratch(t, scratch.weights),
                  a->out};
    pte_call(t, "quantized_transpose_conv2d", 16, args);
}

static bool transposed_fits(const LayerWindow *k) {
    for (int a = 0; a < 2; a++) {
        int64_t spare =
            k->out[a] - (k->in[a] - 1) * k->stride[a] + 2 * k->side[2 * a] - k->kernel[a];
        if (spare < 0 || (spare > 0 && spare >= k->stride[a]) || k->side[2 * a] >= k->kernel[a])
            return false;
    }
    return true;
}

bool pte_conv_transpose(Pte *t, Node *n) {
    LayerWindow k = layer_window(n);
    if (!layer_fits(n))
        return false;
    const char *refusal = layer_whole_refusal(t->c, &k);
    if (refusal) {
        diag_error(t->c, DIAG_MODEL, &n->loc, "%s", refusal);
        return false;
    }
    const int8_t *weights = layer_whole_weights(t->c, n, &k);
    if (!transposed_fits(&k))
        return false;
    const LayerWindow whole = k;
    int64_t batch = node_operand(n, 0)->type.dim[0];
    PteConvCall a = layer_call(t, n, k.out_c);
    a.data = weights;
    a.image = pte_image(t, node_operand(n, 0));
    if (!turns_kernel(&k)) {
        if (k.side[0] > 0 || summed(&k, 0) != k.out[0])
            a.image = made_whole(t, a.image, batch, a.in_zero, &k, 0);
        if (k.side[2] + k.out[1] > summed(&k, 1))
            a.image = made_whole(t, a.image, batch, a.in_zero, &k, 1);
    }
    PteShape shape = pte_image_shape(batch, k.out_c, k.out[0], k.out[1]);
    bool same = k.out[0] == whole.out[0] && k.out[1] == whole.out[1];
    a.out = same ? pte_result_image(t, n) : pte_tensor(t, PTE_CHAR, &shape);
    call_transposed(t, &k, &a);
    pte_finish_image(t, n, same ? a.out : cut_out(t, a.out, batch, &k, &whole));
    return true;
}

/* ---- linear layers and products of matrices ------------------------------------------------ */

/* A convolution of one pixel, whose arithmetic is the same. */
void pte_rows(Pte *t, const PteRows *r, int input, int output) {
    PteConv c = {.k = {.in_c = r->depth,
                       .out_c = r->columns,
                       .groups = 1,
                       .depth = r->depth,
                       .kernel = {1, 1},
                       .stride = {1, 1},
                       .dilation = {1, 1},
                       .in = {1, 1},
                       .out = {1, 1}},
                 .batch = r->rows};
    PteShape in = pte_image_shape(r->rows, r->depth, 1, 1);
    PteShape out = pte_image_shape(r->rows, r->columns, 1, 1);
    int64_t size[] = {r->columns, 1, 1, r->depth};
    PteConvCall a = {.image = pte_view(t, input, &in),
                     .weights = pte_constant(t, PTE_CHAR, 4, size, r->weights),
                     .out = pte_view(t, output, &out),
                     .bias = r->bias,
                     .multiplier = r->multiplier,
                     .shift = r->shift,
                     .in_zero = r->in_zero,
                     .out_zero = r->out_zero,
                     .min = r->min,
                     .max = r->max};
    pte_call_conv(t, &c, &a);
}

/* The dialect's linear layer has one factor for all outputs. On MVE it takes the sums of weights,
 * with the bias and the input's zero point in them, elsewhere the bias. */
static void write_plain_linear(Pte *t, Node *n, int input, int output) {
    const Value *w = node_in(n, "weight");
    int64_t columns = w->type.dim[0], depth = w->type.dim[1];
    PteConvCall a = layer_call(t, n, columns);
    bool sums = pte_isa_is(t, "mve");
    int32_t *sum = NEW_ARRAY(t->c, int32_t, columns);
    const int8_t *weight = layer_bytes(t->c, n);
    for (int64_t j = 0; j < columns; j++) {
        sum[j] = a.bias[j];
        for (int64_t i = 0; i < depth; i++)
            sum[j] -= a.in_zero * weight[j * depth + i];
    }
    int args[] = {input,
                  pte_constant(t, PTE_CHAR, 2, w->type.dim, weight),
                  sums ? pte_none(t) : pte_int32s(t, columns, a.bias),
                  sums ? pte_int32s(t, columns, sum) : pte_none(t),
                  pte_int(t, -a.in_zero),
                  pte_int(t, 0),
                  pte_int(t, a.out_zero),
                  pte_ints(t, 1, (int64_t[]){a.multiplier[0]}),
                  pte_ints(t, 1, (int64_t[]){a.shift[0]}),
                  pte_int(t, a.max),
                  pte_int(t, a.min),
                  output};
    pte_call(t, "quantized_linear", 12, args);
}

/* With a factor for each output it is a convolution. */
static void write_pixel_linear(Pte *t, Node *n, int input, int output) {
    const Value *x = node_operand(n, 0), *w = node_in(n, "weight");
    PteConvCall a = layer_call(t, n, w->type.dim[0]);
    PteRows r = {.rows = dims_count(x->type.rank - 1, x->type.dim),
                 .depth = w->type.dim[1],
                 .columns = w->type.dim[0],
                 .weights = layer_bytes(t->c, n),
                 .bias = a.bias,
                 .multiplier = a.multiplier,
                 .shift = a.shift,
                 .in_zero = a.in_zero,
                 .out_zero = a.out_zero,
                 .min = a.min,
                 .max = a.max};
    pte_rows(t, &r, input, output);
}

bool pte_linear(Pte *t, Node *n) {
    int8_t order[MAX_RANK];
    if (!layer_fits(n))
        return false;
    order_identity(order);
    int input = pte_value_in(t, node_operand(n, 0), order), output = pte_result(t, n, order);
    if (node_in(n, "weight")->grid->part_count == 1)
        write_plain_linear(t, n, input, output);
    else
        write_pixel_linear(t, n, input, output);
    pte_finish(t, n, order, output);
    return true;
}

/* The second operand's rows are its columns: [batch][columns][depth]. */
bool pte_matmul(Pte *t, Node *n) {
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    int rank = y->type.rank;
    int32_t multiplier, shift;
    int8_t plain[MAX_RANK], turned[MAX_RANK];
    if (!layer_int8(a) || !layer_int8(b) || !layer_int8(y) || rank < 2 || a->type.rank < 2 ||
        b->type.rank < 2)
        return false;
    order_identity(plain);
    order_identity(turned);
    turned[rank - 2] = (int8_t)(rank - 1);
    turned[rank - 1] = (int8_t)(rank - 2);
    int64_t batch = dims_count(rank - 2, y->type.dim), depth = a->type.dim[a->type.rank - 1];
    int64_t rows[] = {batch, y->type.dim[rank - 2], depth};
    int64_t columns[] = {batch, y->type.dim[rank - 1], depth};
    int64_t both[] = {batch, rows[1], columns[1]};
    Type left = y->type, right = y->type; /* with the batches of y */
    left.dim[rank - 1] = right.dim[rank - 2] = depth;
    int lhs = pte_flat(t, pte_spread(t, a, rank, left.dim, plain), 3, rows);
    int rhs = pte_flat(t, pte_spread(t, b, rank, right.dim, turned), 3, columns);
    int out = pte_result(t, n, plain);
    multiplier_from(value_scale(a) * value_scale(b) / value_scale(y), &multiplier, &shift);
    int args[] = {lhs,
                  pte_int(t, -value_zero_point(a)),
                  rhs,
                  pte_int(t, -value_zero_point(b)),
                  pte_int(t, value_zero_point(y)),
                  pte_int(t, multiplier),
                  pte_int(t, shift),
                  pte_scratch(t, pte_isa_is(t, "mve") ? 4 * columns[1] : 0),
                  pte_flat(t, out, 3, both)};
    pte_call(t, "quantized_batch_matmul", 9, args);
    pte_finish(t, n, plain, out);
    return true;
}
