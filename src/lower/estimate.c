/* Instructions before anything runs. A kernel's cost is linear in a few sizes of its call, the same
 * for all levels; how much each counts was fitted to counts of a simulated chip (measured.h). Terms
 * are rounded up to blocks where kernels work in blocks: no kernel is asked how it works. */
#include "lower/measured.h"
#include "lower/memory.h"

#include <math.h>
#include <string.h>

/* ---- terms --------------------------------------------------------------------------------- */

typedef struct {
    const Call *call;
    double *term;
    int count;
} Terms;

static void add(Terms *t, double size) {
    if (t->count < COST_TERMS)
        t->term[t->count++] = size;
}

static double get(const Call *call, const char *name, int32_t otherwise) {
    const int32_t *p = call_ints(call, name);
    return p ? *p : otherwise;
}

static bool has(const Call *call, const char *name) {
    return kernel_field(call->kernel, name) != NULL;
}

static double product(const Call *call, const char *name) {
    const KernelField *f = kernel_field(call->kernel, name);
    double n = 1;
    for (int i = 0; f && i < f->count; i++)
        n *= call_ints(call, name)[i];
    return n;
}

static double blocks(double n, double block) {
    return ceil(n / block);
}

static double looked_up(const Call *call) {
    return call_ref_named(call, "table") != NULL;
}

/* Taps that fall on the image, summed over the places of one axis. */
static double taps_inside(double out, double in, double kernel, double stride, double dilation,
                          double pad) {
    double sum = 0;
    for (double at = 0; at < out; at++)
        for (double tap = 0; tap < kernel; tap++) {
            double place = at * stride - pad + tap * dilation;
            sum += place >= 0 && place < in;
        }
    return sum;
}

/* What convolutions and pools have in common. */
typedef struct {
    double batches, rows, width, pixels, taps, lines, kernel_w, inside;
} Window;

static Window window_of(const Call *c) {
    Window w = {.batches = get(c, "batches", 1) * get(c, "out_d", 1), .width = get(c, "out_w", 1)};
    w.rows = w.batches * get(c, "out_h", 1);
    w.pixels = w.rows * w.width;
    w.kernel_w = get(c, "kernel_w", 1);
    w.lines = get(c, "kernel_d", 1) * get(c, "kernel_h", 1);
    w.taps = w.lines * w.kernel_w;
    w.inside = w.batches * get(c, "kernel_d", 1) *
               taps_inside(get(c, "out_h", 1), get(c, "in_h", 1), get(c, "kernel_h", 1),
                           get(c, "stride_h", 1), get(c, "dilation_h", 1), get(c, "pad_top", 0)) *
               taps_inside(w.width, get(c, "in_w", 1), w.kernel_w, get(c, "stride_w", 1),
                           get(c, "dilation_w", 1), get(c, "pad_left", 0));
    return w;
}

static void convolution_terms(Terms *t) {
    const Call *c = t->call;
    Window w = window_of(c);
    double groups = get(c, "groups", 1), channels = get(c, "out_c", 1) / groups;
    double depth = get(c, "in_c", 1) / groups, run = w.kernel_w * depth, sums = w.taps * depth;
    double outputs = w.pixels * channels * groups;
    double threes = groups * (w.pixels < 3 ? w.pixels : blocks(w.pixels, 3)),
           pairs = 2 * blocks(channels, 2);
    double twos = w.rows * blocks(w.width, 2) * groups, fours = blocks(channels, 4);
    add(t, w.rows * groups);
    add(t, w.pixels * groups);
    add(t, outputs);
    add(t, outputs * looked_up(c));
    add(t, outputs * sums);
    add(t, w.pixels * groups * sums);
    add(t, channels * groups * sums);
    add(t, channels * groups);
    add(t, w.inside * groups);
    add(t, w.inside * channels * groups);
    add(t, w.inside * depth * groups * channels);
    add(t, w.inside * depth * groups);
    add(t, w.pixels * w.lines * groups);
    add(t, get(c, "batches", 1) * get(c, "in_h", 1) * get(c, "in_w", 1) * get(c, "in_c", 1));
    add(t, twos);
    add(t, twos * fours);
    add(t, twos * fours * w.lines);
    add(t, twos * fours * w.lines * blocks(run, 16));
    add(t, threes);
    add(t, threes * pairs);
    add(t, threes * pairs * w.lines * blocks(run, 4));
    add(t, threes * sums);
    add(t, threes * w.lines);
    add(t, twos * channels * sums);
    add(t, twos * channels);
    add(t, w.pixels * sums * (get(c, "gathered", 0) > 0));
    add(t, w.pixels * (get(c, "gathered", 0) > 0));
}

/* Some levels take channels by four or sixteen, others one and four places of a line. */
static void depthwise_terms(Terms *t) {
    const Call *c = t->call;
    Window w = window_of(c);
    double channels = get(c, "out_c", 1), outputs = w.pixels * channels,
           height = w.rows / w.batches;
    double stride = fmin(get(c, "stride_h", 1), w.lines), quads = blocks(channels, 4) * w.batches;
    double reach = (w.width - 1) * get(c, "stride_w", 1) + w.kernel_w;
    double is_three = w.lines == 3, is_square = is_three && w.kernel_w == 3;
    bool by_pairs = is_square && get(c, "stride_w", 1) == 1;
    double alone = by_pairs ? fmod(w.width, 2) : w.width;
    double across = height * blocks(w.width, 4), down = w.width * blocks(height, 4);
    double fours = fmin(across, down) * channels * w.batches;
    double sixteens = blocks(channels, 16);
    add(t, w.rows);
    add(t, outputs);
    add(t, outputs * looked_up(c));
    add(t, outputs * w.taps);
    add(t, w.inside * channels);
    add(t, w.inside);
    add(t, channels * w.taps);
    add(t, quads);
    add(t, quads * w.taps);
    add(t, quads * height);
    add(t, quads * height * stride * reach * is_three);
    add(t, quads * height * stride * reach * w.lines * !is_three);
    add(t, quads * reach * w.lines);
    add(t, quads * height * (w.width - alone));
    add(t, quads * height * alone);
    add(t, quads * height * alone * w.taps);
    add(t, quads * height * (alone > 0));
    add(t, fours);
    add(t, fours * w.taps);
    add(t, fours * w.kernel_w * get(c, "stride_h", 1));
    add(t, fours * w.kernel_w);
    add(t, w.batches * channels);
    add(t, w.pixels * sixteens);
    add(t, w.pixels * sixteens * w.taps);
    add(t, w.rows * sixteens);
    add(t, w.rows * stride * get(c, "in_w", 1) * get(c, "in_c", 1));
    add(t, w.pixels);
}

static void pool_terms(Terms *t) {
    const Call *c = t->call;
    Window w = window_of(c);
    double channels = get(c, "channels", 1), outputs = w.pixels * channels;
    add(t, w.rows);
    add(t, w.pixels);
    add(t, outputs);
    add(t, outputs * looked_up(c));
    add(t, outputs * w.taps);
    add(t, w.inside);
    add(t, w.inside * channels);
    add(t, w.inside * blocks(channels, 16));
    add(t, w.pixels * blocks(channels, 16));
    add(t, w.inside * blocks(channels, 4));
    add(t, w.pixels * blocks(channels, 4));
    add(t, get(c, "batches", 1) * get(c, "in_h", 1) * get(c, "in_w", 1) * channels);
    add(t, w.rows * channels);
}

/* Products of matrices. */
static void product_terms(Terms *t) {
    const Call *c = t->call;
    double times = product(c, "batch"), rows = get(c, "rows", 1), depth = get(c, "depth", 1);
    double columns = get(c, "columns", 1), outputs = times * rows * columns;
    add(t, times);
    add(t, times * rows);
    add(t, outputs);
    add(t, outputs * looked_up(c));
    add(t, outputs * depth);
    add(t, times * rows * depth);
    add(t, times * columns * depth);
    add(t, times * columns);
    add(t, times * rows * blocks(columns, 4));
    add(t, times * rows * blocks(columns, 4) * blocks(depth, 16));
    add(t, times * rows * blocks(depth, 16));
    add(t, times * columns * blocks(depth, 16));
    add(t, times * blocks(rows, 2) * blocks(columns, 4) * blocks(depth, 16));
    add(t, outputs * depth * (get(c, "rhs_depth_stride", 1) != 1));
}

/* How many elements of the innermost dims lie one behind the other in both operands. */
static double dense_run(const Call *c, int rank) {
    static const char *const strides[] = {"in_stride", "out_stride", "a_stride", "b_stride",
                                          "condition_stride"};
    const int32_t *dim = call_ints(c, "dim");
    double run = 1;
    for (int k = rank - 1; k >= 0; k--) {
        for (size_t s = 0; s < COUNT_OF(strides); s++) {
            const int32_t *stride = call_ints(c, strides[s]);
            if (stride && dim[k] > 1 && stride[k] != run)
                return run;
        }
        run *= dim[k];
    }
    return run;
}

/* Kernels that move elements have a loop for each size. */
static void sized_terms(Terms *t, double count, double size) {
    for (int bytes = 1; bytes <= 8; bytes *= 2)
        add(t, count * (size == bytes));
}

/* Walks over dims with strides: elementwise kernels, copies, reductions. */
static void walk_terms(Terms *t) {
    const Call *c = t->call;
    int rank = kernel_field(c->kernel, "dim")->count, last = rank - 1;
    const int32_t *dim = call_ints(c, "dim");
    while (last > 0 && dim[last] == 1)
        last--;
    double outputs = product(c, "dim"), inner = product(c, "reduced");
    if (has(c, "mode") && has(c, "count"))
        inner = get(c, "count", 1); /* argmax */
    if (has(c, "in_step"))
        inner = get(c, "count", 1); /* running sums */
    double run = dense_run(c, rank), size = get(c, "element_size", 1);
    bool dense = run > 1 || outputs == 1;
    if (outputs == 0)
        return;
    add(t, outputs / dim[last]);
    add(t, last > 0 ? outputs / dim[last] / dim[last - 1] : 0);
    add(t, outputs / run);
    add(t, outputs);
    add(t, outputs * inner);
    add(t, outputs * looked_up(c));
    add(t, outputs * dense);
    if (has(c, "element_size"))
        sized_terms(t, outputs, size);
    add(t, outputs * size * dense);
    add(t, outputs / run * blocks(run * size, 16));
    add(t, outputs / dim[last] * blocks(dim[last], 16));
    add(t, last > 0 ? outputs / dim[last - 1] * blocks(dim[last - 1], 16) : 0);
    add(t, outputs * blocks(inner, 16));
    add(t, outputs * get(c, "length", 0));
}

static void row_terms(Terms *t) {
    const Call *c = t->call;
    double rows = get(c, "rows", 1), size = get(c, "row_size", 1);
    add(t, rows);
    add(t, rows * size);
    add(t, rows * blocks(size, 16));
}

static void recurrent_terms(Terms *t) {
    const Call *c = t->call;
    double cells = get(c, "steps", 1) * get(c, "batches", 1);
    double size = get(c, "size", 1), in = get(c, "in_size", 1);
    add(t, cells);
    add(t, cells * size);
    double before = call_ref_named(c, "h0") ? cells : cells - get(c, "batches", 1);
    add(t, before * size);
    add(t, before * size * size);
    add(t, cells * size * in);
    add(t, size * get(c, "batches", 1));
}

static void flat_terms(Terms *t) {
    const Call *c = t->call;
    double outputs = 0;
    for (int r = 0; r < c->ref_count; r++)
        if (c->ref[r].writes && c->ref[r].buffer && c->ref[r].buffer->kind == BUFFER_VALUE)
            outputs += (double)c->ref[r].buffer->bytes;
    double count = has(c, "count") ? get(c, "count", 1) : outputs;
    if (has(c, "out_w"))
        count =
            get(c, "batches", 1) * get(c, "out_h", 1) * get(c, "out_w", 1) * get(c, "channels", 1);
    if (has(c, "inner"))
        count *= get(c, "inner", 1) * get(c, "outer", 1);
    double runs = get(c, "runs", 0);
    if (has(c, "runs"))
        count *= runs;
    add(t, count);
    sized_terms(t, count, get(c, has(c, "element_size") ? "element_size" : "entry_size", 1));
    add(t, has(c, "inner") ? get(c, "count", 1) * get(c, "outer", 1) : 0);
    add(t, blocks(count, 16));
    add(t, get(c, "out_h", 0) * get(c, "out_w", 0));
    add(t, get(c, "out_h", 0) * get(c, "channels", 0));
    add(t, runs);
    add(t, count * get(c, "element_size", 0));
    add(t, has(c, "pieces") ? count * ceil(log2(get(c, "pieces", 1))) : 0);
}

/* What a sum in its store adds to a call. */
static void residual_terms(Terms *t) {
    const Call *c = t->call;
    Window w = window_of(c);
    double outputs = w.pixels * get(c, "out_c", 1);
    add(t, outputs);
    add(t, w.rows);
    add(t, w.pixels);
    add(t, outputs * (call_ref_named(c, "sum_table") != NULL));
}

void call_terms(const Call *call, double term[COST_TERMS]) {
    Terms t = {call, term, 0};
    for (int i = 0; i < COST_TERMS; i++)
        term[i] = 0;
    add(&t, 1);
    if (has(call, "addends"))
        residual_terms(&t);
    else if (has(call, "kernel_h") && has(call, "groups"))
        convolution_terms(&t);
    else if (has(call, "kernel_h") && has(call, "weights"))
        depthwise_terms(&t);
    else if (has(call, "kernel_h"))
        pool_terms(&t);
    else if (has(call, "depth") && has(call, "columns"))
        product_terms(&t);
    else if (has(call, "dim"))
        walk_terms(&t);
    else if (has(call, "row_size"))
        row_terms(&t);
    else if (has(call, "steps"))
        recurrent_terms(&t);
    else
        flat_terms(&t);
}

/* ---- the estimate -------------------------------------------------------------------------- */

static const CostRow *cost_row(const char *isa, const char *symbol) {
    for (int i = 0; i < cost_table_count; i++)
        if (strcmp(cost_table[i].symbol, symbol) == 0 && strcmp(cost_table[i].isa, isa) == 0)
            return &cost_table[i];
    return NULL;
}

static double estimate(const Call *call, const CostRow *row);

/* Of a call with a sum in its store: without that. Its arguments begin with those of the kernel
 * that has none. */
static double estimate_producer(const Call *call, const char *isa) {
    Call producer = *call;
    const CostRow *row = NULL;
    producer.kernel = residual_producer(call->kernel);
    for (int i = 0; i < variant_table_count; i++)
        if (variant_table[i].kernel == producer.kernel && !variant_table[i].small &&
            isa_rank(variant_table[i].isa) == isa_rank(call->variant->isa))
            row = cost_row(isa, variant_table[i].symbol);
    return row ? estimate(&producer, row) : NAN;
}

static double estimate(const Call *call, const CostRow *row) {
    double term[COST_TERMS], sum = has(call, "addends") ? estimate_producer(call, row->isa) : 0;
    call_terms(call, term);
    for (int k = 0; k < COST_TERMS; k++)
        sum += row->factor[k] * term[k];
    return sum;
}

/* The strip's item for call `call`, and where its numbers begin in a step. */
static const StripItem *item_of(const Strip *s, const Call *call, int *at) {
    *at = 0;
    for (int i = 0; i < s->item_count; i++) {
        if (s->item[i].call == call)
            return &s->item[i];
        *at += 1 + s->item[i].patch_count;
    }
    return NULL;
}

/* The call as each step runs it, with what setting its arguments takes. */
static double estimate_strip(const Strip *s, const Call *call, const CostRow *row) {
    int at;
    const StripItem *item = item_of(s, call, &at);
    int32_t args[128];
    Call part = *call;
    part.args = args;
    double sum = 0;
    for (int t = 0; t < s->step_count; t++) {
        const int32_t *v = s->value + (int64_t)t * s->width + at;
        if (v[0] <= 0)
            continue;
        memcpy(args, call->args, (size_t)call->args_bytes);
        for (int i = 0; i < item->patch_count; i++)
            args[item->patch[i] / 4] = v[1 + i];
        sum += estimate(&part, row) + 4 + 3 * item->patch_count;
    }
    return sum;
}

double call_instructions(const Graph *g, const Call *call, const char *isa) {
    const CostRow *row = cost_row(isa, call->variant->symbol);
    const Strip *s = strip_of(g, call);
    if (!row)
        return NAN;
    return s ? estimate_strip(s, call, row) : estimate(call, row);
}

const char *instructions_origin(void) {
    return cost_origin;
}
