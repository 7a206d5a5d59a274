/* The sizes that a call's instructions grow with, the same for all CPUs: estimates (estimate.c) and
 * the fit of their factors (bench/costs.c) share them. Terms are rounded up to blocks where kernels
 * work in blocks: no kernel is asked how it works. */
#include "lower/measured.h"
#include "lower/memory.h"
#include "taps.h"

#include <math.h>

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

/* Steps of the search for the piece of a function. */
static double searched(const Call *call) {
    double pieces = get(call, "pieces", 0);
    return pieces > 0 ? 1 + ceil(log2(pieces)) : 0;
}

/* Of `count` places, `stride` apart, those from low to high. */
static double places_from_to(double count, double stride, double low, double high) {
    double first = fmax(ceil(low / stride), 0), last = fmin(floor(high / stride), count - 1);
    return fmax(last - first + 1, 0);
}

/* Taps that fall on the image, summed over the places of one axis. */
static double taps_inside(double out, double in, double kernel, double stride, double dilation,
                          double pad) {
    double sum = 0;
    for (int tap = 0; tap < (int)kernel; tap++) {
        double first = pad - tap * dilation;
        sum += places_from_to(out, stride, first, first + in - 1);
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

/* Of `count` places along an axis those whose windows lie within the image. */
static double axis_within(double count, double in, double taps, double stride, double dilation,
                          double pad) {
    return places_from_to(count, stride, pad, pad + in - 1 - (taps - 1) * dilation);
}

static double rows_within(const Window *w, const Call *c) {
    return w->batches * axis_within(w->rows / w->batches, get(c, "in_h", 1), w->lines,
                                    get(c, "stride_h", 1), get(c, "dilation_h", 1),
                                    get(c, "pad_top", 0));
}

static double places_within(const Window *w, const Call *c) {
    return rows_within(w, c) * axis_within(w->width, get(c, "in_w", 1), w->kernel_w,
                                           get(c, "stride_w", 1), get(c, "dilation_w", 1),
                                           get(c, "pad_left", 0));
}

/* Rows of outputs with a window that reaches over the image. */
static double rows_beyond(const Window *w, const Call *c) {
    double width = (w->width - 1) * get(c, "stride_w", 1) + w->kernel_w;
    bool beside = get(c, "pad_left", 0) > 0 || width > get(c, "in_w", 1);
    return beside ? w->rows : w->rows - rows_within(w, c);
}

/* Blocks of two and of four places, wherever they lie, against pairs and fours of channels. */
static void scalar_terms(Terms *t, const Window *w, double groups, double channels, double depth) {
    double two = groups * blocks(w->pixels, 2), four = groups * blocks(w->pixels, 4);
    double sums = w->taps * depth, alone = fmod(channels, 4);
    double is_padded = w->inside < w->pixels * w->taps;
    add(t, two);
    add(t, two * sums);
    add(t, two * floor(channels / 4));
    add(t, two * floor(channels / 4) * sums);
    add(t, two * alone);
    add(t, two * alone * sums);
    add(t, four);
    add(t, four * sums);
    add(t, four * blocks(channels, 2));
    add(t, four * blocks(channels, 2) * sums);
    add(t, four * (is_padded || groups > 1 ? w->taps : w->lines));
}

/* Pairs of places, each place's window in runs of 16 bytes, against fours of channels: along rows,
 * which are copied where they reach over the image, or with each window gathered first. */
static void pair_terms(Terms *t, const Window *w, double groups, double channels, double depth) {
    const Call *c = t->call;
    bool gathered = ((int)get(c, "gathered", 0) & CTN_GATHERED) || groups > 1;
    bool flat = w->taps == 1 && fmod(depth, 16) == 0 && get(c, "in_w", 1) == w->width;
    double run = w->kernel_w * depth, lines = gathered ? 1 : w->lines;
    double pairs = gathered || flat ? w->batches * groups * blocks(w->pixels / w->batches, 2)
                                    : w->rows * blocks(w->width, 2);
    double chunks = gathered ? blocks(w->taps * depth, 16) : w->lines * blocks(run, 16);
    double fours = floor(channels / 4), rest = channels > 4 * fours;
    double copied = gathered || flat ? 0 : rows_beyond(w, c) * w->lines;
    double span = (w->width - 1) * get(c, "stride_w", 1) + w->kernel_w;
    bool is_short = run <= 16 && get(c, "dilation_w", 1) == 1 && groups == 1;
    add(t, pairs);
    add(t, pairs * fours);
    add(t, pairs * fours * lines);
    add(t, pairs * fours * chunks);
    add(t, pairs * rest);
    add(t, pairs * rest * chunks);
    add(t, copied);
    add(t, copied * blocks(span * depth, 16));
    add(t, w->pixels * groups * gathered);
    add(t, w->pixels * w->lines * (gathered && is_short));
    add(t, w->pixels * w->lines * groups * (gathered && !is_short));
    add(t, w->pixels * w->taps * groups * (gathered && !is_short));
    add(t, w->pixels * w->taps * groups * blocks(depth, 16) * (gathered && !is_short));
}

static void convolution_terms(Terms *t) {
    const Call *c = t->call;
    Window w = window_of(c);
    double groups = get(c, "groups", 1), channels = get(c, "out_c", 1) / groups;
    double depth = get(c, "in_c", 1) / groups, run = w.kernel_w * depth, sums = w.taps * depth;
    double outputs = w.pixels * channels * groups;
    double threes = groups * (w.pixels < 3 ? w.pixels : blocks(w.pixels, 3)),
           pairs = 2 * blocks(channels, 2);
    double twos = w.rows * blocks(w.width, 2) * groups;
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
    add(t, threes);
    add(t, threes * pairs);
    add(t, threes * pairs * w.lines * blocks(run, 4));
    add(t, threes * sums);
    add(t, threes * w.lines);
    add(t, twos * channels * sums);
    add(t, twos * channels);
    pair_terms(t, &w, groups, channels, depth);
    scalar_terms(t, &w, groups, channels, depth);
    add(t, outputs * (get(c, "narrow", 1) == 0));
    add(t, outputs * sums * (get(c, "narrow", 1) == 0));
    bool by_taps = groups > 1 && depth == 1;
    add(t, w.pixels * by_taps);
    add(t, w.inside * by_taps);
    add(t, w.inside * blocks(channels * groups, 4) * by_taps);
    add(t, outputs * (get(c, "pieces", 0) > 0));
    add(t, outputs * searched(c));
}

/* Sixteen channels at a time, of one place or of several neighbours. Where channels fill vectors,
 * places at the edge go by themselves, else rows that reach over the image are copied. */
static void vector_terms(Terms *t, const Window *w, double channels) {
    const Call *c = t->call;
    bool fills = fmod(channels, 16) == 0;
    double together = get(c, "stride_w", 1) == 1 && fmod(16, channels) == 0 ? 16 / channels : 1;
    double units = w->rows * blocks(w->width, together), groups = blocks(channels * together, 16);
    double span = (w->width - 1) * get(c, "stride_w", 1) + w->kernel_w;
    double copied = fills ? 0 : rows_beyond(w, c) * w->lines;
    double inner = fills ? places_within(w, c) : 0, edges = fills ? w->pixels - inner : 0;
    add(t, units);
    add(t, units * groups);
    add(t, units * groups * w->taps);
    add(t, copied);
    add(t, copied * blocks(span * channels, 16));
    add(t, edges);
    add(t, edges * w->taps);
}

/* Runs of four places, along the height if `turned`, of as many lines as a strip has (taps.h). */
static void strip_terms(Terms *t, const Window *w, double channels) {
    const Call *c = t->call;
    bool turned = get(c, "turned", 0) != 0;
    double height = w->rows / w->batches, run = turned ? height : w->width;
    double taps = turned ? w->lines : w->kernel_w, across = turned ? w->kernel_w : w->lines;
    double lines = turned ? w->width : height, stride = get(c, turned ? "stride_w" : "stride_h", 1);
    double most = floor((floor(CTN_TAPS_STRIP / (8 * taps)) - across) / stride) + 1;
    most = fmin(fmax(most, 1), lines);
    double strips = w->batches * blocks(run, 4) * blocks(lines, most);
    double rows = strips * ((most - 1) * stride + across), inputs = get(c, "in_c", 1);
    add(t, strips);
    add(t, strips * inputs);
    add(t, strips * channels);
    add(t, rows * inputs);
    add(t, rows * inputs * taps);
    add(t, w->batches * blocks(run, 4) * lines * channels);
    add(t, w->batches * blocks(run, 4) * lines * channels * w->taps);
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
    add(t, w.pixels);
    vector_terms(t, &w, channels);
    strip_terms(t, &w, channels);
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
    add(t, outputs * searched(c));
}

/* Rows one by one or in twos, columns in fours. */
static void few_rows_terms(Terms *t, double rows, double columns, double depth) {
    add(t, rows);
    add(t, rows * depth);
    add(t, rows * floor(columns / 4));
    add(t, rows * floor(columns / 4) * depth);
    add(t, rows * fmod(columns, 4));
    add(t, rows * fmod(columns, 4) * depth);
}

/* Rows in fours, columns in twos. */
static void many_rows_terms(Terms *t, double rows, double columns, double depth) {
    add(t, rows * depth);
    add(t, rows * blocks(columns, 2));
    add(t, rows * blocks(columns, 2) * depth);
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
    few_rows_terms(t, times * (rows < 4 ? rows : 0), columns, depth);
    few_rows_terms(t, times * (rows > 1 ? blocks(rows, 2) : 0), columns, depth);
    many_rows_terms(t, times * (rows < 4 ? 0 : blocks(rows, 4)), columns, depth);
    add(t, times * rows * blocks(columns, 8));
    add(t, times * rows * blocks(columns, 8) * blocks(depth, 16));
    add(t, times * rows * blocks(columns, 8) * blocks(depth, 64));
    add(t, times * rows * blocks(depth, 16) * (fmod(depth, 16) > 0));
    add(t, outputs * (get(c, "pieces", 0) > 0));
    add(t, outputs * searched(c));
}

/* How many elements of the innermost dims lie one behind the other in both operands. */
static double dense_run(const Call *c, int rank) {
    static const char *const strides[] = {"in_stride", "out_stride", "a_stride", "b_stride",
                                          "condition_stride"};
    const int32_t *dim = call_ints(c, "dim"), *index = call_ints(c, "index_start");
    double run = 1;
    for (int k = rank - 1; k >= 0; k--) {
        for (size_t s = 0; s < COUNT_OF(strides); s++) {
            const int32_t *stride = call_ints(c, strides[s]);
            if (index && index[k] >= 0)
                return run;
            if (stride && dim[k] > 1 && stride[k] != run)
                return run;
        }
        run *= dim[k];
    }
    return run;
}

/* Elements of the innermost dims along which every operand goes on as it does in the last of them:
 * a value that is the same for all of them may stand beside what is dense. */
static double steady_run(const Call *c, int rank) {
    static const char *const strides[] = {"in_stride", "out_stride", "a_stride", "b_stride"};
    const int32_t *dim = call_ints(c, "dim");
    double run = dim[rank - 1];
    for (int k = rank - 2; k >= 0; k--) {
        for (size_t s = 0; s < COUNT_OF(strides); s++) {
            const int32_t *stride = call_ints(c, strides[s]);
            if (stride && dim[k] > 1 && stride[k] != stride[rank - 1] * run)
                return run;
        }
        run *= dim[k];
    }
    return run;
}

/* Runs in fours, the last one filled up. */
static void steady_terms(Terms *t, double outputs, int rank) {
    const int32_t *b = call_ints(t->call, "b_stride");
    double run = steady_run(t->call, rank), runs = outputs / run;
    add(t, runs);
    add(t, runs * blocks(run, 4));
    add(t, b && b[rank - 1] == 0 ? runs * blocks(run, 4) : 0);
    add(t, fmod(run, 4) > 0 ? runs : 0);
}

/* Do runs of so many bytes begin on words in all memory that the call touches? Where nothing is
 * placed yet: as if it were. */
static bool is_by_words(const Call *c, double bytes, bool several) {
    for (int r = 0; r < c->ref_count; r++)
        if (c->ref[r].buffer && (c->ref[r].buffer->offset + c->ref[r].offset) % 4 != 0)
            return false;
    return !several || fmod(bytes, 4) == 0;
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
    add(t, outputs * size * dense * is_by_words(c, run * size, outputs > run));
    add(t, outputs * !dense);
    add(t, outputs / run * blocks(run * size, 16));
    add(t, outputs / dim[last] * blocks(dim[last], 16));
    add(t, last > 0 ? outputs / dim[last - 1] * blocks(dim[last - 1], 16) : 0);
    add(t, outputs * blocks(inner, 16));
    add(t, outputs * get(c, "length", 0));
    add(t, outputs / dim[rank - 1]);
    add(t, has(c, "reduced") ? outputs * inner / call_ints(c, "reduced")[rank - 1] : 0);
    const int32_t *index = call_ints(c, "index_start");
    add(t, index && index[rank - 1] >= 0 ? outputs : 0);
    steady_terms(t, outputs, rank);
    add(t, outputs * searched(c));
}

/* Of a softmax's numbers those near enough to their row's largest to have an exponential: a grid
 * holds its numbers' range, so they lie apart in it as random ones do. */
static double share_with_exponential(const Call *c) {
    double range = get(c, "input_bytes", 1) > 1 ? 65535 : 255;
    return has(c, "diff_min") ? fmin(1, -get(c, "diff_min", 0) / range) : 0;
}

static void row_terms(Terms *t) {
    const Call *c = t->call;
    double rows = get(c, "rows", 1), size = get(c, "row_size", 1);
    add(t, rows);
    add(t, rows * size);
    add(t, rows * blocks(size, 16));
    bool masked = call_ref_named(c, "mask") != NULL;
    add(t, rows * size * share_with_exponential(c) * !masked);
    add(t, rows * size * share_with_exponential(c) * masked);
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

/* Taps that fall on the image, summed over the places of one axis, as conv2d_channels_s8 has it. */
static double sources_inside(double out, double in, double taps, double start, double step,
                             double tap, double ratio) {
    double sum = 0;
    for (int at = 0; at < (int)out; at++)
        for (int k = 0; k < (int)taps; k++) {
            double p = start + at * step + k * tap;
            sum += p >= 0 && fmod(p, ratio) == 0 && p / ratio < in;
        }
    return sum;
}

/* Some channels of a convolution, tap by tap. */
static void channel_terms(Terms *t) {
    const Call *c = t->call;
    Window w = window_of(c);
    double depth = get(c, "depth", 1), count = w.batches * get(c, "channel_count", 1);
    double down =
        count * sources_inside(w.rows / w.batches, get(c, "in_h", 1), w.lines, get(c, "start_h", 0),
                               get(c, "step_h", 1), get(c, "tap_h", 1), get(c, "ratio_h", 1));
    double across = sources_inside(w.width, get(c, "in_w", 1), w.kernel_w, get(c, "start_w", 0),
                                   get(c, "step_w", 1), get(c, "tap_w", 1), get(c, "ratio_w", 1));
    double pixels = count * w.rows / w.batches * w.width;
    add(t, count);
    add(t, count * w.rows);
    add(t, pixels);
    add(t, pixels * w.lines);
    add(t, pixels * w.lines * (get(c, "ratio_h", 1) > 1));
    add(t, down * w.width);
    add(t, down * w.width * w.kernel_w);
    add(t, down * w.width * w.kernel_w * (get(c, "ratio_w", 1) > 1));
    add(t, down * across);
    add(t, down * across * depth);
    add(t, down * across * blocks(depth, 16));
    add(t, pixels * looked_up(c));
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
    else if (has(call, "channel_count"))
        channel_terms(&t);
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
