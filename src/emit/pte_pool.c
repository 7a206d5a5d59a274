/* Pools, sums and extremes along dims in the operators of ExecuTorch's Cortex-M dialect. */
#include "emit/pte_call.h"

#include <string.h>

/* Sums of every channel's windows, `weight` times, then times a factor, on a grid of their own: a
 * convolution with a group for each channel. */
typedef struct {
    LayerWindow k; /* without padding */
    int64_t batch;
    int8_t weight;
    double factor;
    int32_t in_zero, out_zero, min, max;
} Sums;

static void call_sums(Pte *t, const Sums *s, int image, int out) {
    PteConv c = {.k = s->k, .batch = s->batch};
    LayerWindow *k = &c.k;
    int64_t taps = k->kernel[0] * k->kernel[1], size[] = {k->in_c, k->kernel[0], k->kernel[1], 1};
    int8_t *same = c_alloc(t->c, (size_t)(k->in_c * taps));
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, k->in_c);
    int32_t *shift = NEW_ARRAY(t->c, int32_t, k->in_c);
    memset(same, s->weight, (size_t)(k->in_c * taps));
    for (int64_t i = 0; i < k->in_c; i++)
        multiplier_from(s->factor, &multiplier[i], &shift[i]);
    k->depth = 1;
    k->groups = k->in_c;
    PteConvCall a = {.image = image,
                     .weights = pte_constant(t, PTE_CHAR, 4, size, same),
                     .out = out,
                     .bias = NEW_ARRAY(t->c, int32_t, k->in_c),
                     .multiplier = multiplier,
                     .shift = shift,
                     .in_zero = s->in_zero,
                     .out_zero = s->out_zero,
                     .min = s->min,
                     .max = s->max};
    pte_call_conv(t, &c, &a);
}

/* ---- along dims ---------------------------------------------------------------------------- */

typedef struct { /* [outer][count][inner] of which the middle is reduced */
    int tensor;
    int64_t outer, count, inner;
    int8_t order[MAX_RANK]; /* of what is left, in the output's dims */
} Reduction;

static void read_dims(Pte *t, const Node *n, bool gone[MAX_RANK]) {
    int64_t dim[MAX_RANK];
    int rank = node_operand(n, 0)->type.rank, count = node_ints(n, "dim", dim, MAX_RANK);
    for (int d = 0; d < rank; d++)
        gone[d] = count == 0;
    for (int i = 0; i < count; i++)
        gone[dim_wrap(t->c, n, dim[i], rank)] = true;
}

/* Do dims that are reduced lie side by side? */
static bool side_by_side(const Value *x, const bool gone[MAX_RANK]) {
    int runs = 0;
    bool before = false;
    for (int k = 0; k < x->type.rank; k++) {
        int d = x->order[k];
        if (x->type.dim[d] == 1)
            continue;
        runs += gone[d] && !before;
        before = gone[d];
    }
    return runs <= 1;
}

static Reduction reduction_of(Pte *t, const Node *n) {
    const Value *x = node_operand(n, 0);
    Reduction r = {.outer = 1, .count = 1, .inner = 1};
    bool gone[MAX_RANK] = {false};
    int8_t order[MAX_RANK] = {0};
    int rank = x->type.rank, left = 0, placed = 0;
    read_dims(t, n, gone);
    bool still = side_by_side(x, gone);
    for (int pass = 0; pass < (still ? 1 : 2); pass++) /* what is reduced comes last */
        for (int k = 0; k < rank; k++)
            if (still || gone[x->order[k]] == pass)
                order[placed++] = x->order[k];
    for (int k = 0; k < rank; k++) {
        int d = order[k], before = 0;
        int64_t *size = gone[d] ? &r.count : r.count > 1 ? &r.inner : &r.outer;
        *size *= x->type.dim[d];
        for (int e = 0; e < d; e++)
            before += gone[e];
        if (n->out[0]->type.rank == rank)
            r.order[k] = (int8_t)d;
        else if (!gone[d])
            r.order[left++] = (int8_t)(d - before);
    }
    r.tensor = pte_value_in(t, x, order);
    return r;
}

bool pte_reduce_sum(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_int8(x) || !layer_int8(y))
        return false;
    Reduction r = reduction_of(t, n);
    PteShape image = pte_image_shape(r.outer, r.inner, r.count, 1);
    PteShape pixel = pte_image_shape(r.outer, r.inner, 1, 1);
    Sums s = {.k = {.in_c = r.inner,
                    .out_c = r.inner,
                    .kernel = {r.count, 1},
                    .in = {r.count, 1},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .out = {1, 1}},
              .batch = r.outer,
              .weight = 1,
              .factor = node_double(n, "factor") * value_scale(x) / value_scale(y),
              .in_zero = value_zero_point(x),
              .out_zero = value_zero_point(y)};
    store_clamp(n, &s.min, &s.max);
    int out = pte_result(t, n, r.order);
    call_sums(t, &s, pte_view(t, r.tensor, &image), pte_view(t, out, &pixel));
    pte_finish(t, n, r.order, out);
    return true;
}

typedef struct {
    int64_t kernel[2], stride[2], pad[2];
    int32_t zero, min, max;
} MostCall;

static void call_most(Pte *t, const MostCall *c, int image, int out) {
    int args[] = {image,
                  pte_pair(t, c->kernel[0], c->kernel[1]),
                  pte_pair(t, c->stride[0], c->stride[1]),
                  pte_pair(t, c->pad[0], c->pad[1]),
                  pte_pair(t, 1, 1),
                  pte_bool(t, false),
                  pte_int(t, c->zero),
                  pte_int(t, c->zero),
                  pte_int(t, c->min),
                  pte_int(t, c->max),
                  out};
    pte_call(t, "quantized_max_pool2d", 11, args);
}

/* The least is the most of what is below: -1 - q. */
bool pte_reduce_max(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    bool least = node_bool(n, "minimum");
    if (!layer_int8(x) || !layer_int8(y) || !grids_equal(x, y))
        return false;
    Reduction r = reduction_of(t, n);
    PteShape image = pte_image_shape(r.outer, r.inner, r.count, 1);
    PteShape pixel = pte_image_shape(r.outer, r.inner, 1, 1);
    MostCall c = {.kernel = {r.count, 1}, .stride = {1, 1}, .min = -128, .max = 127};
    int in = least ? pte_opposite(t, r.tensor) : r.tensor;
    int out = least ? pte_tensor(t, PTE_CHAR, &pixel) : pte_result(t, n, r.order);
    call_most(t, &c, pte_view(t, in, &image), pte_view(t, out, &pixel));
    pte_finish(t, n, r.order, least ? pte_opposite(t, out) : out);
    return true;
}

/* ---- of images ----------------------------------------------------------------------------- */

/* The divisor of all windows, 0 if they have several. */
static int64_t one_divisor(const LayerWindow *k, const int32_t *divisor) {
    for (int64_t i = 1; i < k->out[0] * k->out[1]; i++)
        if (divisor[i] != divisor[0])
            return 0;
    return divisor[0];
}

/* With sums of 64 times the numbers requantizing in two steps divides exactly, half away from zero:
 * what is not a tie is 16 steps of the first rounding from one, and a tie has a whole number. */
enum { SUM_WEIGHT = 64 };

/* Sums of the numbers as they are, the padding among them, by their divisor. */
static void write_sums_divided(Pte *t, Node *n, LayerWindow k, int64_t divisor) {
    const Value *x = node_operand(n, 0);
    Sums s = {.batch = x->type.dim[0],
              .weight = SUM_WEIGHT,
              .factor = 1.0 / (double)(SUM_WEIGHT * divisor),
              .min = -128,
              .max = 127};
    int image = pte_padded(t, pte_image(t, x), s.batch, value_zero_point(x), &k);
    s.k = k;
    int out = pte_result_image(t, n);
    call_sums(t, &s, image, out);
    pte_finish_image(t, n, out);
}

typedef struct { /* the part of the image that each output reads, along height and width */
    int64_t *start[2], *stop[2];
} Windows;

/* By divisors of their own: each output is a column of products, with a factor of its own. What a
 * window has beyond the image is worth the zero point. */
static bool write_windows_divided(Pte *t, Node *n, const Windows *w, const int32_t *divisor) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    const Sides from = image_sides(x), to = image_sides(y);
    int64_t in = from.of[0] * from.of[1], out = to.of[0] * to.of[1];
    if (in * out > PTE_WEIGHTS_MOST)
        return false;
    int8_t *weights = c_alloc(t->c, (size_t)(in * out)), plain[MAX_RANK];
    int32_t *multiplier = NEW_ARRAY(t->c, int32_t, out), *shift = NEW_ARRAY(t->c, int32_t, out);
    int32_t *bias = NEW_ARRAY(t->c, int32_t, out);
    for (int64_t o = 0; o < out; o++) {
        int64_t i = o / to.of[1], j = o % to.of[1], inside = 0;
        for (int64_t a = w->start[0][i]; a < w->stop[0][i]; a++)
            for (int64_t b = w->start[1][j]; b < w->stop[1][j]; b++, inside++)
                weights[o * in + a * from.of[1] + b] = SUM_WEIGHT;
        bias[o] = SUM_WEIGHT * (divisor[o] - (int32_t)inside) * value_zero_point(x);
        multiplier_from(1.0 / SUM_WEIGHT / divisor[o], &multiplier[o], &shift[o]);
    }
    order_identity(plain);
    PteRows rows = {.rows = x->type.dim[0] * x->type.dim[1],
                    .depth = in,
                    .columns = out,
                    .weights = weights,
                    .bias = bias,
                    .multiplier = multiplier,
                    .shift = shift,
                    .min = -128,
                    .max = 127};
    int result = pte_result(t, n, plain);
    pte_rows(t, &rows, pte_value_in(t, x, plain), result);
    pte_finish(t, n, plain, result);
    return true;
}

static Windows windows_new(Pte *t, const Value *y) {
    Windows w;
    const Sides to = image_sides(y);
    for (int a = 0; a < 2; a++) {
        w.start[a] = NEW_ARRAY(t->c, int64_t, to.of[a]);
        w.stop[a] = NEW_ARRAY(t->c, int64_t, to.of[a]);
    }
    return w;
}

static Windows pool_windows(Pte *t, const Node *n, const LayerWindow *k) {
    Windows w = windows_new(t, n->out[0]);
    for (int a = 0; a < 2; a++)
        for (int64_t i = 0; i < k->out[a]; i++) {
            int64_t start = i * k->stride[a] - k->side[2 * a], stop = start + k->kernel[a];
            w.start[a][i] = start < 0 ? 0 : start;
            w.stop[a][i] = stop > k->in[a] ? k->in[a] : stop;
        }
    return w;
}

static Windows adaptive_windows(Pte *t, const Value *x, const Value *y) {
    Windows w = windows_new(t, y);
    for (int a = 0; a < 2; a++)
        for (int64_t i = 0, in = image_sides(x).of[a], out = image_sides(y).of[a]; i < out; i++) {
            w.start[a][i] = i * in / out;
            w.stop[a][i] = ((i + 1) * in + out - 1) / out;
        }
    return w;
}

/* The dialect's average divides the sum of the numbers as they are by how many of the window lie in
 * the image, as Corten's does, and stays on their grid, whose scale it is told. */
static void write_pool(Pte *t, Node *n, const LayerWindow *k) {
    int32_t multiplier, shift;
    multiplier_from(value_scale(n->out[0]), &multiplier, &shift);
    int image = pte_image(t, node_operand(n, 0)), out = pte_result_image(t, n);
    int args[] = {image,
                  pte_pair(t, k->kernel[0], k->kernel[1]),
                  pte_pair(t, k->stride[0], k->stride[1]),
                  pte_pair(t, k->side[0], k->side[2]),
                  pte_bool(t, false),
                  pte_int(t, value_zero_point(n->out[0])),
                  pte_int(t, multiplier),
                  pte_int(t, shift),
                  pte_scratch(t, pte_isa_is(t, "dsp") ? 4 * k->in_c : 0),
                  out};
    pte_call(t, "quantized_avg_pool2d", 10, args);
    pte_finish_image(t, n, out);
}

bool pte_avg_pool(Pte *t, Node *n) {
    LayerWindow k;
    if (!pool_window(n, &k) || !layer_int8(n->out[0]) ||
        !grids_equal(node_operand(n, 0), n->out[0]))
        return false;
    bool padding = node_bool(n, "count_include_pad");
    const int32_t *divisor = window_divisors(t->c, &k, padding);
    const int32_t *inside = window_divisors(t->c, &k, false);
    bool pools = pte_even(&k);
    for (int64_t i = 0; i < k.out[0] * k.out[1]; i++)
        pools = pools && divisor[i] == inside[i];
    int64_t one = one_divisor(&k, divisor);
    if (!pools && one == 0) {
        Windows w = pool_windows(t, n, &k);
        return write_windows_divided(t, n, &w, divisor);
    }
    if (pools)
        write_pool(t, n, &k);
    else
        write_sums_divided(t, n, k, one);
    return true;
}

/* Along dim `a` of an image: the first place of every window, the second ... , the last one again
 * where a window has fewer, then the greatest of them. */
static int most_along(Pte *t, int image, const Value *x, const Value *y, const Windows *w, int a) {
    const Sides from = image_sides(x), to = image_sides(y);
    int64_t out = to.of[a], in = from.of[a], longest = 1;
    int64_t outer = x->type.dim[0] * (a ? to.of[0] : 1);
    int64_t inner = x->type.dim[1] * (a ? 1 : from.of[1]), *place = NEW_ARRAY(t->c, int64_t, out);
    int all = -1;
    for (int64_t i = 0; i < out; i++)
        if (w->stop[a][i] - w->start[a][i] > longest)
            longest = w->stop[a][i] - w->start[a][i];
    for (int64_t k = 0; k < longest; k++) {
        for (int64_t i = 0; i < out; i++)
            place[i] = w->start[a][i] + k < w->stop[a][i] ? w->start[a][i] + k : w->stop[a][i] - 1;
        int piece = pte_chosen(t, image, outer, in, inner, place, out);
        piece = pte_flat(t, piece, 3, (int64_t[]){outer, out, inner});
        if (all >= 0)
            pte_call(t, "maximum", 3, (int[]){all, piece, piece});
        all = piece;
    }
    return all;
}

bool pte_adaptive_pool(Pte *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_int8(x) || !layer_int8(y) || !layer_is_image(x) || !grids_equal(x, y))
        return false;
    Windows w = adaptive_windows(t, x, y);
    if (!node_bool(n, "maximum"))
        return write_windows_divided(t, n, &w, adaptive_divisors(t->c, x, y));
    int8_t order[MAX_RANK];
    int image = pte_image(t, x);
    order_channels_last(x->type.rank, order);
    for (int a = 0; a < 2; a++)
        image = most_along(t, image, x, y, &w, a);
    pte_finish(t, n, order, image);
    return true;
}

bool pte_max_pool(Pte *t, Node *n) {
    LayerWindow k;
    const Value *x = node_operand(n, 0);
    if (!pool_window(n, &k) || !layer_int8(x) || !grids_equal(x, n->out[0]) || k.dilation[0] > 1 ||
        k.dilation[1] > 1)
        return false;
    int image = pte_image(t, x);
    if (!pte_even(&k)) /* what is least wins nowhere */
        image = pte_padded(t, image, x->type.dim[0], -128, &k);
    int out = pte_result_image(t, n);
    MostCall c = {.kernel = {k.kernel[0], k.kernel[1]},
                  .stride = {k.stride[0], k.stride[1]},
                  .pad = {k.side[0], k.side[2]},
                  .zero = value_zero_point(x)};
    store_clamp(n, &c.min, &c.max);
    call_most(t, &c, image, out);
    pte_finish_image(t, n, out);
    return true;
}
