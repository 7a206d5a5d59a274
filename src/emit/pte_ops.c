/* The operators of a quantized graph in those of ExecuTorch's Cortex-M dialect: one function for
 * each core row, with the arguments in the dialect's order. Scratch is what CMSIS-NN's functions of
 * the target ask for. */
#include "emit/pte.h"
#include "lower/pointwise.h"

#include <string.h>

static bool isa_is(const Pte *t, const char *isa) {
    return strcmp(t->isa, isa) == 0;
}

static int int32s(Pte *t, int64_t count, const int32_t *data) {
    return pte_constant(t, PTE_INT32, 1, &count, data);
}

static int pair(Pte *t, int64_t a, int64_t b) {
    return pte_ints(t, 2, (int64_t[]){a, b});
}

/* Does the store of n clamp? Most of the dialect's operators do not. */
static bool clamps(const Node *n) {
    int32_t min, max;
    store_clamp(n, &min, &max);
    return min > -128 || max < 127;
}

/* ---- scratch ------------------------------------------------------------------------------- */

typedef struct {
    LayerWindow k;
    int64_t batch, pad[2]; /* at the top and on the left, and as much on the other side */
} Conv;

/* Two columns of 16 bits; on MVE four of whole vectors. */
static int64_t columns_scratch(const Pte *t, const LayerWindow *k) {
    int64_t column = k->in_c * k->kernel[0] * k->kernel[1];
    return isa_is(t, "mve") ? 4 * ((column + 15) / 16 * 16) : 2 * ((column + 3) / 4 * 4) * 2;
}

/* One row on MVE: a window that reaches into the padding is copied. */
static int64_t row_scratch(const Pte *t, const Conv *c) {
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

static int64_t conv_scratch(const Pte *t, const Conv *c) {
    const LayerWindow *k = &c->k;
    bool whole = k->depth == k->in_c, still = k->dilation[0] == 1 && k->dilation[1] == 1;
    if (k->kernel[0] == 1 && k->kernel[1] == 1 && c->pad[0] == 0 && c->pad[1] == 0 && still &&
        whole)
        return 0;
    bool row = k->in[0] == 1 && k->dilation[1] == 1 && k->kernel[0] == 1 && whole &&
               k->stride[1] * k->in_c % 4 == 0;
    return row && isa_is(t, "mve") ? row_scratch(t, c) : columns_scratch(t, k);
}

static int64_t depthwise_scratch(const Pte *t, const Conv *c) {
    enum { MVE_CHANNELS = 124 }; /* a block of them at once */
    const LayerWindow *k = &c->k;
    int64_t taps = k->kernel[0] * k->kernel[1];
    if (k->in_c != k->out_c || c->batch != 1 || k->dilation[0] != 1 || k->dilation[1] != 1)
        return 0;
    if (isa_is(t, "mve"))
        return 4 * MVE_CHANNELS * taps;
    bool three = k->kernel[0] == 3 && k->kernel[1] == 3 && c->pad[0] <= 1 && c->pad[1] <= 1;
    return isa_is(t, "dsp") && !three ? 2 * k->in_c * taps : 0;
}

/* ---- convolutions and linear layers -------------------------------------------------------- */

/* Does a window with as much padding on both sides give this output? */
static bool is_even(const LayerWindow *k) {
    for (int a = 0; a < 2; a++) {
        int64_t reach = (k->kernel[a] - 1) * k->dilation[a] + 1;
        if ((k->in[a] + 2 * k->side[2 * a] - reach) / k->stride[a] + 1 != k->out[a])
            return false;
    }
    return true;
}

/* The image with its padding, so that windows end where it does; k then has none. */
static int padded(Pte *t, int image, int64_t batch, int32_t value, LayerWindow *k) {
    int64_t before[4] = {0}, after[4] = {0};
    for (int a = 0; a < 2; a++) {
        int64_t end = window_overhang(k, a);
        before[1 + a] = k->side[2 * a];
        after[1 + a] = end > 0 ? end : 0;
        k->in[a] += before[1 + a] + after[1 + a];
        k->side[2 * a] = k->side[2 * a + 1] = 0;
    }
    PteShape shape = pte_image_shape(batch, k->in_c, k->in[0], k->in[1]);
    int out = pte_tensor(t, PTE_CHAR, &shape);
    int args[] = {image, pte_ints(t, 4, before), pte_ints(t, 4, after), pte_int(t, value), out};
    pte_call(t, "pad", 5, args);
    return out;
}

typedef struct { /* of a convolution's call, besides its window */
    int image, weights, out;
    const int32_t *bias, *multiplier, *shift;
    int32_t in_zero, out_zero, min, max;
    bool depthwise;
} ConvCall;

static void call_conv(Pte *t, const Conv *c, const ConvCall *a) {
    const LayerWindow *k = &c->k;
    int args[16], n = 0;
    args[n++] = a->image;
    args[n++] = a->weights;
    args[n++] = int32s(t, k->out_c, a->bias); /* always: not all kernels take none */
    args[n++] = pair(t, k->stride[0], k->stride[1]);
    args[n++] = pair(t, c->pad[0], c->pad[1]);
    args[n++] = pair(t, k->dilation[0], k->dilation[1]);
    if (a->depthwise)
        args[n++] = pte_int(t, k->out_c / k->in_c);
    args[n++] = pte_int(t, -a->in_zero);
    args[n++] = pte_int(t, a->out_zero);
    args[n++] = int32s(t, k->out_c, a->multiplier);
    args[n++] = int32s(t, k->out_c, a->shift);
    args[n++] = pte_int(t, a->min);
    args[n++] = pte_int(t, a->max);
    args[n++] = pte_scratch(t, a->depthwise ? depthwise_scratch(t, c) : conv_scratch(t, c));
    args[n++] = a->out;
    pte_call(t, a->depthwise ? "quantized_depthwise_conv2d" : "quantized_conv2d", n, args);
}

/* Factors, zero points and clamp of a layer n. */
static ConvCall layer_call(Pte *t, const Node *n, int64_t channels) {
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, channels);
    int32_t *shift = NEW_ARRAY(t->c, int32_t, channels);
    ConvCall a = {.bias = layer_bias(t->c, n, channels), .multiplier = multiplier, .shift = shift};
    layer_factors(n, channels, multiplier, shift);
    a.in_zero = value_zero_point(node_operand(n, 0));
    a.out_zero = value_zero_point(n->out[0]);
    store_clamp(n, &a.min, &a.max);
    return a;
}

static bool write_conv(Pte *t, Node *n) {
    if (!layer_fits(n))
        return false;
    Conv c = {.k = layer_window(n), .batch = node_operand(n, 0)->type.dim[0]};
    LayerWindow *k = &c.k;
    ConvCall a = layer_call(t, n, k->out_c);
    a.depthwise = k->groups == k->in_c && k->groups > 1;
    a.image = pte_image(t, node_operand(n, 0));
    a.out = pte_result_image(t, n);
    if (a.image < 0 || a.out < 0)
        return false;
    if (!is_even(k))
        a.image = padded(t, a.image, c.batch, a.in_zero, k);
    c.pad[0] = k->side[0];
    c.pad[1] = k->side[2];
    int64_t deep[] = {1, k->kernel[0], k->kernel[1], k->out_c};
    int64_t wide[] = {k->out_c, k->kernel[0], k->kernel[1], k->depth};
    a.weights = pte_constant(t, PTE_CHAR, 4, a.depthwise ? deep : wide,
                             layer_weights(t->c, n, k, a.depthwise));
    call_conv(t, &c, &a);
    pte_finish(t, n, a.out);
    return true;
}

/* The dialect's linear layer has one factor for all outputs. On MVE it takes the sums of weights,
 * with the bias and the input's zero point in them, elsewhere the bias. */
static void write_plain_linear(Pte *t, Node *n, int input, int output) {
    const Value *w = node_in(n, "weight");
    int64_t columns = w->type.dim[0], depth = w->type.dim[1];
    ConvCall a = layer_call(t, n, columns);
    bool sums = isa_is(t, "mve");
    int32_t *sum = NEW_ARRAY(t->c, int32_t, columns);
    const int8_t *weight = w->constant->data;
    for (int64_t j = 0; j < columns; j++) {
        sum[j] = a.bias[j];
        for (int64_t i = 0; i < depth; i++)
            sum[j] -= a.in_zero * weight[j * depth + i];
    }
    int args[] = {input,
                  pte_constant(t, PTE_CHAR, 2, w->type.dim, weight),
                  sums ? pte_none(t) : int32s(t, columns, a.bias),
                  sums ? int32s(t, columns, sum) : pte_none(t),
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

/* With a factor for each output it is a convolution of one pixel, whose arithmetic is the same. */
static void write_pixel_linear(Pte *t, Node *n, int input, int output) {
    const Value *x = node_operand(n, 0), *w = node_in(n, "weight");
    int64_t rows = dims_count(x->type.rank - 1, x->type.dim), depth = w->type.dim[1];
    Conv c = {.k = {.in_c = depth,
                    .out_c = w->type.dim[0],
                    .groups = 1,
                    .depth = depth,
                    .kernel = {1, 1},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .in = {1, 1},
                    .out = {1, 1}},
              .batch = rows};
    ConvCall a = layer_call(t, n, c.k.out_c);
    PteShape in = pte_image_shape(rows, depth, 1, 1), out = pte_image_shape(rows, c.k.out_c, 1, 1);
    int64_t size[] = {c.k.out_c, 1, 1, depth};
    a.image = pte_view(t, input, &in);
    a.out = pte_view(t, output, &out);
    a.weights = pte_constant(t, PTE_CHAR, 4, size, w->constant->data);
    call_conv(t, &c, &a);
}

static bool write_linear(Pte *t, Node *n) {
    int8_t in_order[MAX_RANK];
    if (!layer_fits(n) || !value_order_is_identity(node_result(n)))
        return false;
    order_identity(in_order);
    int input = pte_value_in(t, node_operand(n, 0), in_order), output = pte_result(t, n);
    if (input < 0)
        return false;
    if (node_in(n, "weight")->grid->part_count == 1)
        write_plain_linear(t, n, input, output);
    else
        write_pixel_linear(t, n, input, output);
    pte_finish(t, n, output);
    return true;
}

/* The second operand's rows are its columns: [batch][columns][depth]. */
static bool write_matmul(Pte *t, Node *n) {
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    static const int8_t plain[] = {0, 1, 2}, turned[] = {0, 2, 1};
    int32_t multiplier, shift;
    if (!layer_int8(a) || !layer_int8(b) || !layer_int8(y) || a->constant || b->constant ||
        a->type.rank != 3 || b->type.rank != 3 || a->type.dim[0] != b->type.dim[0] || clamps(n) ||
        !value_order_is_identity(node_result(n)))
        return false;
    PteShape columns = {3, {b->type.dim[0], b->type.dim[2], b->type.dim[1]}, {0, 1, 2}};
    int lhs = pte_value_in(t, a, plain), rhs = pte_value_in(t, b, turned), out = pte_result(t, n);
    multiplier_from(value_scale(a) * value_scale(b) / value_scale(y), &multiplier, &shift);
    int args[] = {lhs,
                  pte_int(t, -value_zero_point(a)),
                  pte_view(t, rhs, &columns),
                  pte_int(t, -value_zero_point(b)),
                  pte_int(t, value_zero_point(y)),
                  pte_int(t, multiplier),
                  pte_int(t, shift),
                  pte_scratch(t, isa_is(t, "mve") ? 4 * b->type.dim[2] : 0),
                  out};
    pte_call(t, "quantized_batch_matmul", 9, args);
    pte_finish(t, n, out);
    return true;
}

/* ---- pools and means ----------------------------------------------------------------------- */

/* Sums of every channel, times a factor, on a grid of their own, which the dialect's average does
 * not have: a convolution with a group for each channel and weights of one. */
static void write_sums(Pte *t, Node *n, LayerWindow k, double factor, int image, int out) {
    int64_t taps = k.kernel[0] * k.kernel[1], size[] = {k.in_c, k.kernel[0], k.kernel[1], 1};
    int8_t *same = c_alloc(t->c, (size_t)(k.in_c * taps));
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, k.in_c);
    int32_t *shift = NEW_ARRAY(t->c, int32_t, k.in_c);
    memset(same, 1, (size_t)(k.in_c * taps));
    for (int64_t i = 0; i < k.in_c; i++)
        multiplier_from(factor, &multiplier[i], &shift[i]);
    k.depth = 1;
    k.groups = k.in_c;
    Conv c = {.k = k, .batch = node_operand(n, 0)->type.dim[0]};
    ConvCall a = {.image = image,
                  .out = out,
                  .multiplier = multiplier,
                  .shift = shift,
                  .bias = NEW_ARRAY(t->c, int32_t, k.in_c),
                  .in_zero = value_zero_point(node_operand(n, 0)),
                  .out_zero = value_zero_point(n->out[0])};
    a.weights = pte_constant(t, PTE_CHAR, 4, size, same);
    store_clamp(n, &a.min, &a.max);
    call_conv(t, &c, &a);
    pte_finish(t, n, out);
}

/* The mean of whole images. */
static bool write_reduce_sum(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int64_t dim[MAX_RANK];
    int count = node_ints(n, "dim", dim, MAX_RANK);
    if (!layer_int8(x) || !layer_int8(y) || x->type.rank != 4 || count != 2 ||
        dim_wrap(t->c, n, dim[0], 4) + dim_wrap(t->c, n, dim[1], 4) != 5 ||
        !value_order_is_identity(y))
        return false;
    const int64_t *d = x->type.dim;
    LayerWindow k = {.in_c = d[1],
                     .out_c = d[1],
                     .kernel = {d[2], d[3]},
                     .in = {d[2], d[3]},
                     .stride = {1, 1},
                     .dilation = {1, 1},
                     .out = {1, 1}};
    PteShape pixel = pte_image_shape(d[0], d[1], 1, 1);
    int image = pte_image(t, x);
    if (image < 0)
        return false;
    double factor = node_double(n, "factor") * value_scale(x) / value_scale(y);
    write_sums(t, n, k, factor, image, pte_view(t, pte_result(t, n), &pixel));
    return true;
}

/* The dialect's average divides the sum of the numbers as they are, as Corten's does, and stays on
 * their grid, whose scale it is told. */
static bool write_avg_pool(Pte *t, Node *n) {
    LayerWindow k;
    int32_t multiplier, shift;
    if (!pool_window(n, &k) || !grids_equal(node_operand(n, 0), n->out[0]) || clamps(n))
        return false;
    for (int a = 0; a < 2; a++)
        if (k.side[2 * a] || k.side[2 * a + 1] || !is_even(&k) || window_overhang(&k, a) > 0)
            return false;
    int image = pte_image(t, node_operand(n, 0)), out = pte_result_image(t, n);
    if (image < 0 || out < 0)
        return false;
    multiplier_from(value_scale(n->out[0]), &multiplier, &shift);
    int args[] = {image,
                  pair(t, k.kernel[0], k.kernel[1]),
                  pair(t, k.stride[0], k.stride[1]),
                  pair(t, 0, 0),
                  pte_bool(t, false),
                  pte_int(t, value_zero_point(n->out[0])),
                  pte_int(t, multiplier),
                  pte_int(t, shift),
                  pte_scratch(t, isa_is(t, "dsp") ? 4 * k.in_c : 0),
                  out};
    pte_call(t, "quantized_avg_pool2d", 10, args);
    pte_finish(t, n, out);
    return true;
}

static bool write_max_pool(Pte *t, Node *n) {
    LayerWindow k;
    const Value *x = node_operand(n, 0);
    if (!pool_window(n, &k) || !grids_equal(x, n->out[0]) || k.dilation[0] > 1 ||
        k.dilation[1] > 1 || !is_even(&k))
        return false;
    int image = pte_image(t, x), out = pte_result_image(t, n);
    int32_t min, max, zero = value_zero_point(x);
    if (image < 0 || out < 0)
        return false;
    store_clamp(n, &min, &max);
    int args[] = {image,
                  pair(t, k.kernel[0], k.kernel[1]),
                  pair(t, k.stride[0], k.stride[1]),
                  pair(t, k.side[0], k.side[2]),
                  pair(t, 1, 1),
                  pte_bool(t, false),
                  pte_int(t, zero),
                  pte_int(t, zero),
                  pte_int(t, min),
                  pte_int(t, max),
                  out};
    pte_call(t, "quantized_max_pool2d", 11, args);
    pte_finish(t, n, out);
    return true;
}

/* ---- pointwise ----------------------------------------------------------------------------- */

/* The dialect's sums and products take two operands of one shape, which must lie alike. */
static bool take_operands(Pte *t, const Node *n, int operand[2]) {
    const Value *y = n->out[0];
    if (node_operand_count(n) != 2 || !layer_int8(y))
        return false;
    for (int k = 0; k < 2; k++) {
        const Value *x = node_operand(n, k);
        if (!layer_int8(x) || x->constant || !type_equal(&x->type, &y->type))
            return false;
        operand[k] = pte_value_in(t, x, node_result(n)->order);
        if (operand[k] < 0)
            return false;
    }
    return true;
}

/* Both on a common scale in 32 bits, then on the output's. */
static bool write_add(Pte *t, Node *n) {
    int operand[2];
    if (node_double(n, "alpha") <= 0 || !take_operands(t, n, operand))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    SumFactors f = sum_factors(value_scale(a), node_double(n, "alpha") * value_scale(b),
                               value_scale(y), SUM_S8_LEFT);
    int32_t multiplier[3], shift[3], min, max;
    multiplier_from(f.a, &multiplier[0], &shift[0]);
    multiplier_from(f.b, &multiplier[1], &shift[1]);
    multiplier_from(f.output, &multiplier[2], &shift[2]);
    shift[2] = shift[2] > SUM_SHIFT_MOST ? SUM_SHIFT_MOST : shift[2];
    store_clamp(n, &min, &max);
    int out = pte_result(t, n);
    int args[] = {operand[0],
                  pte_int(t, value_zero_point(a)),
                  pte_int(t, multiplier[0]),
                  pte_int(t, shift[0]),
                  operand[1],
                  pte_int(t, value_zero_point(b)),
                  pte_int(t, multiplier[1]),
                  pte_int(t, shift[1]),
                  pte_int(t, value_zero_point(y)),
                  pte_int(t, multiplier[2]),
                  pte_int(t, shift[2]),
                  pte_int(t, min),
                  pte_int(t, max),
                  out};
    pte_call_over(t, "quantized_add", 14, args, args[0]);
    pte_finish(t, n, out);
    return true;
}

static bool write_mul(Pte *t, Node *n) {
    int32_t multiplier, shift;
    int operand[2];
    if (clamps(n) || !take_operands(t, n, operand))
        return false;
    const Value *a = node_operand(n, 0), *b = node_operand(n, 1), *y = n->out[0];
    multiplier_from(value_scale(a) * value_scale(b) / value_scale(y), &multiplier, &shift);
    shift = shift > PRODUCT_SHIFT_MOST ? PRODUCT_SHIFT_MOST : shift;
    int out = pte_result(t, n);
    int args[] = {operand[0],
                  pte_int(t, value_zero_point(a)),
                  operand[1],
                  pte_int(t, value_zero_point(b)),
                  pte_int(t, value_zero_point(y)),
                  pte_int(t, multiplier),
                  pte_int(t, shift),
                  out};
    pte_call_over(t, "quantized_mul", 8, args, args[0]);
    pte_finish(t, n, out);
    return true;
}

/* The dialect compares numbers as they are: all on one grid. */
static bool write_extreme(Pte *t, Node *n) {
    int operand[2];
    if (clamps(n) || !take_operands(t, n, operand) || !grids_equal(node_operand(n, 0), n->out[0]) ||
        !grids_equal(node_operand(n, 1), n->out[0]))
        return false;
    int out = pte_result(t, n), args[] = {operand[0], operand[1], out};
    pte_call(t, node_is(n, "aten::maximum") ? "maximum" : "minimum", 3, args);
    pte_finish(t, n, out);
    return true;
}

/* A function of one byte. */
static bool write_entries(Pte *t, const Node *n, const int8_t entry[256]) {
    int x = pte_value_in(t, node_operand(n, 0), n->out[0]->order);
    if (x < 0)
        return false;
    pte_lookup(t, x, entry, pte_value(t, n->out[0]));
    return true;
}

static bool write_table(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int8_t entry[TABLE_ENTRIES];
    return layer_int8(x) && layer_int8(y) && node_result(n) == y &&
           table_fill(t->c, n, x->grid, y->grid, entry) == 256 && write_entries(t, n, entry);
}

static bool write_requantize(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int8_t entry[256];
    if (!layer_int8(x) || !layer_int8(y))
        return false;
    table_requantize(x->grid, y->grid, entry);
    return write_entries(t, n, entry);
}

/* ---- the boundary -------------------------------------------------------------------------- */

static bool write_boundary(Pte *t, const Node *n, const char *name, const Value *integers) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    int from = layer_int8(integers) ? pte_value_in(t, x, y->order) : -1;
    if (from < 0 || integers->grid->part_count != 1)
        return false;
    int args[] = {from,
                  pte_double(t, value_scale(integers)),
                  pte_int(t, value_zero_point(integers)),
                  pte_int(t, -128),
                  pte_int(t, 127),
                  pte_int(t, PTE_CHAR),
                  pte_value(t, y)};
    pte_call(t, name, 7, args);
    return true;
}

static bool write_quantize(Pte *t, Node *n) {
    return write_boundary(t, n, "quantize_per_tensor", n->out[0]);
}

static bool write_dequantize(Pte *t, Node *n) {
    return write_boundary(t, n, "dequantize_per_tensor", node_operand(n, 0));
}

/* ---- softmax ------------------------------------------------------------------------------- */

static const CtnSoftmaxS8Args *softmax_args(const Pte *t, const Node *n) {
    for (const Call *call = t->g->first_call; call; call = call->next)
        if (call->node == n && call->kernel == CTN_KERNEL_softmax_s8)
            return call->args;
    return NULL;
}

/* The numbers that Corten's kernel was given, which has the same arithmetic on the chip. */
static bool write_softmax(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    const CtnSoftmaxS8Args *a = softmax_args(t, n);
    int rank = x->type.rank;
    int from = layer_int8(x) ? pte_value_in(t, x, y->order) : -1;
    if (!a || from < 0 || !layer_int8(y) || !value_order_is_identity(y) || node_result(n) != y ||
        dim_wrap(t->c, n, node_int(n, "dim"), rank) != rank - 1)
        return false;
    int args[] = {from,
                  pte_int(t, rank - 1),
                  pte_int(t, value_zero_point(x)),
                  pte_int(t, value_zero_point(y)),
                  pte_int(t, a->multiplier),
                  pte_int(t, a->shift),
                  pte_int(t, a->diff_min),
                  pte_value(t, y)};
    pte_call(t, "softmax", 8, args);
    return true;
}

/* ---- movement ------------------------------------------------------------------------------ */

/* The same numbers in another order of memory. */
static bool write_relayout(Pte *t, Node *n) {
    int out = pte_value_in(t, node_operand(n, 0), n->out[0]->order);
    if (out >= 0)
        pte_set(t, n->out[0], out);
    return out >= 0;
}

/* A view: the operand's memory under another shape. */
static bool write_alias(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (n->out_count != 1 || !x->buffer || x->buffer != y->buffer || x->constant ||
        x->buffer_offset != y->buffer_offset || value_bytes(x) != value_bytes(y) ||
        value_storage(x) != value_storage(y))
        return false;
    PteShape shape = pte_shape(y);
    pte_set(t, y, pte_view(t, pte_value(t, x), &shape));
    return true;
}

/* ---- the list ------------------------------------------------------------------------------ */

static const struct {
    const char *row;
    bool (*write)(Pte *t, Node *n);
} writers[] = {
    {"aten::add", write_add},
    {"aten::maximum", write_extreme},
    {"aten::minimum", write_extreme},
    {"aten::mul", write_mul},
    {"corten::avg_pool2d", write_avg_pool},
    {"corten::conv2d", write_conv},
    {"corten::dequantize", write_dequantize},
    {"corten::linear", write_linear},
    {"corten::matmul", write_matmul},
    {"corten::max_pool2d", write_max_pool},
    {"corten::quantize", write_quantize},
    {"corten::reduce_sum", write_reduce_sum},
    {"corten::relayout", write_relayout},
    {"corten::requantize", write_requantize},
    {"corten::softmax", write_softmax},
    {"corten::table", write_table},
};

bool pte_node(Pte *t, Node *n) {
    if ((n->op->traits & OP_MOVES_DATA) && write_alias(t, n))
        return true;
    for (size_t i = 0; i < COUNT_OF(writers); i++)
        if (node_is(n, writers[i].row))
            return writers[i].write(t, n);
    return false;
}
