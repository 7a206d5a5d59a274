/* Strips: chains of calls that run a few rows at a time through rings, so that the large values
 * between them never exist as a whole. No row is computed twice: a ring keeps the rows that its
 * reader needs again, moved to its front.
 *
 * A call takes part if it makes output rows from a window of input rows in order: convolutions and
 * pools, rows of linear layers, and elementwise kernels. It runs unchanged on patched arguments:
 * fewer rows, no padding above but for the topmost, references that point to the rows.
 *
 * An output that takes over its input's memory lies a few rows below it. Where the next strip does
 * so as well it goes from the bottom up, with its output as far above: the way back costs nothing.
 */
#include "lower/memory.h"

#include <string.h>

static const struct {
    int kernel;
    RowKind kind;
    const char *operand[2], *stride[2]; /* of ROWS_DIMS */
} row_kernels[] = {
    {CTN_KERNEL_conv2d_s8, ROWS_WINDOW, {"input"}, {NULL}},
    {CTN_KERNEL_conv2d_add_s8, ROWS_WINDOW, {"input", "skip"}, {NULL}},
    {CTN_KERNEL_conv2d_add_s8w4, ROWS_WINDOW, {"input", "skip"}, {NULL}},
    {CTN_KERNEL_depthwise_conv2d_s8, ROWS_WINDOW, {"input"}, {NULL}},
    {CTN_KERNEL_conv2d_s8w4, ROWS_WINDOW, {"input"}, {NULL}},
    {CTN_KERNEL_depthwise_conv2d_s8w4, ROWS_WINDOW, {"input"}, {NULL}},
    {CTN_KERNEL_max_pool2d_s8, ROWS_WINDOW, {"input"}, {NULL}},
    {CTN_KERNEL_add_s8, ROWS_DIMS, {"a", "b"}, {"a_stride", "b_stride"}},
    {CTN_KERNEL_mul_s8, ROWS_DIMS, {"a", "b"}, {"a_stride", "b_stride"}},
    {CTN_KERNEL_prelu_s8, ROWS_DIMS, {"input"}, {"in_stride"}},
    {CTN_KERNEL_table_s8, ROWS_COUNT, {"input"}, {NULL}},
    {CTN_KERNEL_linear_s8, ROWS_LINES, {"input"}, {NULL}},
};

static int window_int(const Call *call, const char *name) {
    const int32_t *p = call_ints(call, name);
    return p ? *p : 1;
}

static int channels_of(const Call *call, const char *name) {
    return window_int(call, kernel_field(call->kernel, name) ? name : "channels");
}

static bool rows_window(const Call *call, Rows *r) {
    r->in_h = window_int(call, "in_h");
    r->out_h = window_int(call, "out_h");
    r->window = (window_int(call, "kernel_h") - 1) * window_int(call, "dilation_h") + 1;
    r->stride = window_int(call, "stride_h");
    r->pad = window_int(call, "pad_top");
    r->operand_row[0] = (int64_t)window_int(call, "in_w") * channels_of(call, "in_c");
    r->out_row = (int64_t)window_int(call, "out_w") * channels_of(call, "out_c");
    r->operand_row[1] = r->out_row; /* of what is summed, as it is made */
    return window_int(call, "batches") == 1;
}

/* A window of one pixel, packed as one long row: the rows that its neighbour has are parts of it.
 */
static bool rows_flat(const Call *call, int rows, Rows *r) {
    bool one = window_int(call, "kernel_w") == 1 && window_int(call, "stride_w") == 1 &&
               *call_ints(call, "pad_left") == 0;
    if (!one || r->in_h != 1 || r->out_h != 1 || r->window != 1 || r->stride != 1 || r->pad != 0 ||
        rows < 2 || r->out_row % rows != 0 || r->operand_row[0] % rows != 0)
        return false;
    r->kind = ROWS_FLAT;
    r->pixels = window_int(call, "out_w") / rows;
    r->block = call->block > 0 ? call->block : 1;
    r->in_h = r->out_h = rows;
    r->out_row /= rows;
    r->operand_row[0] /= rows;
    r->operand_row[1] /= rows;
    return true;
}

/* The rows are the outermost dim above 1; nothing but the operands may depend on them. */
static bool rows_dims(const Call *call, size_t k, Rows *r) {
    const int32_t *dim = call_ints(call, "dim"), *channel = call_ints(call, "channel_stride");
    while (r->dim < 5 && dim[r->dim] == 1)
        r->dim++;
    r->in_h = r->out_h = dim[r->dim];
    r->window = r->stride = 1;
    r->out_row = 1;
    for (int d = r->dim + 1; d < 6; d++)
        r->out_row *= dim[d];
    for (int i = 0; i < r->operand_count; i++)
        r->operand_row[i] = call_ints(call, row_kernels[k].stride[i])[r->dim];
    return !channel || channel[r->dim] == 0;
}

/* `rows` is how many rows the reader or writer beside it has: a flat kernel cannot tell. */
static bool rows_count(const Call *call, int rows, Rows *r) {
    int32_t count = *call_ints(call, "count");
    r->in_h = r->out_h = rows;
    r->window = r->stride = 1;
    r->operand_row[0] = r->out_row = rows > 0 ? count / rows : 0;
    return rows > 0 && count % rows == 0 && *call_ints(call, "entry_size") == 1;
}

/* Weights of few rows are packed another way: no step may have fewer than LINES_LEAST. */
static bool rows_lines(const Call *call, Rows *r) {
    enum { LINES_LEAST = 4 };
    r->in_h = r->out_h = window_int(call, "rows");
    r->window = r->stride = 1;
    r->least = LINES_LEAST;
    r->operand_row[0] = window_int(call, "depth");
    r->out_row = window_int(call, "columns");
    return r->out_h >= LINES_LEAST;
}

/* Kernels may count on buffers that begin on a word: so must each row. */
static bool rows_aligned(const Rows *r) {
    bool aligned = r->out_row % 4 == 0;
    for (int i = 0; i < r->operand_count; i++)
        aligned &= r->operand_row[i] % 4 == 0;
    return aligned;
}

static size_t row_kernel(const Call *call) {
    size_t k = 0;
    while (k < COUNT_OF(row_kernels) && row_kernels[k].kernel != call->kernel)
        k++;
    return k;
}

static bool rows_of(const Call *call, int rows, Rows *r) {
    size_t k = row_kernel(call);
    if (k == COUNT_OF(row_kernels))
        return false;
    *r = (Rows){.kind = row_kernels[k].kind, .output = call_ref_named(call, "output")};
    for (int i = 0; i < 2 && row_kernels[k].operand[i]; i++) {
        r->operand[i] = call_ref_named(call, row_kernels[k].operand[i]);
        if (!r->operand[i])
            return false;
        r->operand_count++;
    }
    bool fits = r->kind == ROWS_WINDOW  ? rows_window(call, r)
                : r->kind == ROWS_DIMS  ? rows_dims(call, k, r)
                : r->kind == ROWS_LINES ? rows_lines(call, r)
                                        : rows_count(call, rows, r);
    if (fits && r->kind == ROWS_WINDOW)
        rows_flat(call, rows, r);
    return fits && r->output && r->out_h >= 2 && rows_aligned(r);
}

/* ---- chains -------------------------------------------------------------------------------- */

static bool touches(const Call *call, const Buffer *b) {
    for (int r = 0; r < call->ref_count; r++)
        if (call->ref[r].buffer == b)
            return true;
    return false;
}

/* Which operand of `reader` is the whole output of `writer`, which nobody else sees; -1: none. */
static int linked_operand(const Graph *g, const Call *writer, const Rows *from, const Call *reader,
                          const Rows *to) {
    const Buffer *b = from->output->buffer;
    int index = -1;
    for (int i = 0; i < to->operand_count; i++)
        if (to->operand[i]->buffer == b && to->operand[i]->offset == 0)
            index = index < 0 ? i : -2;
    if (index > 0 && to->kind != ROWS_DIMS)
        return -1;
    if (index < 0 || from->output->offset != 0 || b->kind != BUFFER_VALUE ||
        b->region != CTN_ARENA || from->out_h != to->in_h ||
        to->operand_row[index] != from->out_row || b->bytes != from->out_row * from->out_h)
        return -1;
    if (to->kind == ROWS_DIMS &&
        !call_walks_densely(reader, "dim", row_kernels[row_kernel(reader)].stride[index]))
        return -1;
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i].kind == ARG_VALUE && g->output[i].u.value->buffer == b)
            return -1;
    for (const Call *call = g->first_call; call; call = call->next)
        if (call != writer && call != reader && touches(call, b))
            return -1;
    return index;
}

/* ---- the schedule -------------------------------------------------------------------------- */

/* The rows of flat kernels in front of a chain: the first that is not flat knows them. Where all
 * are flat, pixels are rows. */
static int rows_ahead(const Call *first, int count) {
    Rows r;
    for (const Call *call = first; call && count > 0; call = call->next, count--)
        if (rows_of(call, 0, &r))
            return r.in_h;
    return window_int(first, "out_w");
}

bool strip_begin(const Graph *g, Call *first, int count, Strip *chain) {
    *chain = (Strip){.first = first, .call_count = count};
    Call *call = first;
    for (int k = 0; k < count; k++, call = call->next) {
        if (!call || strip_of(g, call))
            return false;
        int rows = k > 0 ? chain->row[k - 1].out_h : rows_ahead(call, count);
        if (!rows_of(call, rows, &chain->row[k]))
            return false;
        chain->call[k] = call;
        chain->last = call;
        if (k > 0) {
            chain->link[k] =
                linked_operand(g, chain->call[k - 1], &chain->row[k - 1], call, &chain->row[k]);
            if (chain->link[k] < 0)
                return false;
        }
    }
    return true;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static int most(int a, int b) {
    return a > b ? a : b;
}

/* The padding that the first window meets is then what the image lacks below. */
void strip_turn(Strip *chain) {
    chain->upward = !chain->upward;
    for (int k = 0; k < chain->call_count; k++) {
        Rows *r = &chain->row[k];
        r->pad = (r->out_h - 1) * r->stride + r->window - r->pad - r->in_h;
    }
}

/* Of the first `rows` rows, what a call of the chain makes of them at once: a flat kernel at the
 * end leaves pixels that fill no block to the next step. */
static int pixels_made(const Strip *c, int k, int rows) {
    const Rows *r = &c->row[k];
    int pixels = rows * r->pixels;
    bool leaves = k == c->call_count - 1 && rows < r->out_h && r->out_row / r->pixels % 4 == 0 &&
                  r->operand_row[0] / r->pixels % 4 == 0;
    return leaves ? pixels - pixels % r->block : pixels;
}

static int64_t bytes_made(const Strip *c, int k, int rows) {
    const Rows *r = &c->row[k];
    return r->kind == ROWS_FLAT ? pixels_made(c, k, rows) * (r->out_row / r->pixels)
                                : rows * r->out_row;
}

static int first_needed(const Rows *r, int row) {
    return most(0, row * r->stride - r->pad);
}

/* Where the window of the last output row before `end` ends, in the image or beyond it. */
static int window_end(const Rows *r, int end) {
    return (end - 1) * r->stride + r->window - r->pad;
}

/* Input rows needed to have output rows up to `end`; what the image has beyond is not. */
static int last_needed(const Rows *r, int end) {
    return end <= 0 ? 0 : least(r->in_h, window_end(r, end));
}

typedef struct { /* rows of each call's output made before (made) and after (end) a step */
    int made[STRIP_CALLS], end[STRIP_CALLS];
} Step;

static void step_next(const Strip *c, Step *s) {
    int last = c->call_count - 1;
    for (int k = 0; k <= last; k++)
        s->made[k] = s->end[k];
    s->end[last] = least(c->row[last].out_h, s->end[last] + c->rows);
    for (int k = last - 1; k >= 0; k--)
        s->end[k] = most(s->made[k], last_needed(&c->row[k + 1], s->end[k + 1]));
}

/* Bytes of call k's output that lie before what its reader still needs in this step. */
static int64_t ring_start(const Strip *c, const Step *s, int k) {
    const Rows *from = &c->row[k], *to = &c->row[k + 1];
    int64_t made = s->made[k] * from->out_row, needed;
    if (to->kind == ROWS_FLAT)
        needed = pixels_made(c, k + 1, s->made[k + 1]) * (from->out_row / to->pixels);
    else
        needed = first_needed(to, s->made[k + 1]) * from->out_row;
    return made < needed ? made : needed;
}

static int step_count(const Strip *c) {
    return (c->row[c->call_count - 1].out_h + c->rows - 1) / c->rows;
}

bool strip_has_rows(const Strip *chain) {
    Step s = {{0}, {0}};
    for (int t = 0; t < step_count(chain); t++) {
        step_next(chain, &s);
        for (int k = 0; k < chain->call_count; k++) {
            int rows = s.end[k] - s.made[k];
            if (rows > 0 && rows < chain->row[k].least)
                return false;
        }
    }
    return true;
}

void strip_measure(Strip *chain) {
    int links = chain->call_count - 1;
    memset(chain->ring, 0, sizeof chain->ring);
    Step s = {{0}, {0}};
    for (int t = 0; t < step_count(chain); t++) {
        step_next(chain, &s);
        for (int k = 0; k < links; k++) {
            int64_t bytes = s.end[k] * chain->row[k].out_row - ring_start(chain, &s, k);
            if (bytes > chain->ring[k])
                chain->ring[k] = bytes;
        }
    }
}

/* ---- patches ------------------------------------------------------------------------------- */

static void patch(StripItem *item, int field_offset) {
    item->patch[item->patch_count++] = field_offset;
}

static void patch_field(StripItem *item, const char *name) {
    patch(item, kernel_field(item->call->kernel, name)->offset);
}

void strip_make_items(Strip *c) {
    Strip *s = c;
    s->item_count = s->width = 0;
    for (int k = 0; k < s->call_count; k++) {
        if (k < s->call_count - 1)
            s->item[s->item_count++] = (StripItem){.call = NULL, .patch_count = 2};
        StripItem *item = &s->item[s->item_count++];
        *item = (StripItem){.call = c->call[k]};
        const Rows *r = &c->row[k];
        item->walks[item->patch_count] = k == s->call_count - 1;
        patch(item, r->output->field_offset);
        for (int i = 0; i < r->operand_count; i++) {
            item->walks[item->patch_count] = k == 0 || i != s->link[k];
            patch(item, r->operand[i]->field_offset);
        }
        if (r->kind == ROWS_WINDOW) {
            patch_field(item, "out_h");
            patch_field(item, "in_h");
            patch_field(item, "pad_top");
        } else if (r->kind == ROWS_FLAT) {
            patch_field(item, "out_w");
            patch_field(item, "in_w");
        } else if (r->kind == ROWS_DIMS) {
            patch(item, kernel_field(item->call->kernel, "dim")->offset + 4 * r->dim);
        } else if (r->kind == ROWS_LINES) {
            patch_field(item, "rows");
        } else {
            patch_field(item, "count");
        }
    }
    for (int i = 0; i < s->item_count; i++)
        s->width += 1 + s->item[i].patch_count;
}

static int32_t place_of(const Buffer *b, int64_t offset) {
    return (int32_t)CTN_REF(b->region, b->offset + offset);
}

/* The first byte of call k's output that its ring holds after a step. */
static int64_t ring_first(const Strip *c, const Step *s, int k) {
    const Rows *r = &c->row[k];
    return c->upward ? (r->out_h - s->end[k]) * r->out_row : ring_start(c, s, k);
}

/* The move that makes room in the ring behind call k, whose first byte was `start` of its output
 * and will be `first`: downward what is kept goes to the front, upward it makes way there. */
static int32_t *fill_move(const Strip *c, const Step *s, int k, int64_t start, int64_t first,
                          int32_t *v) {
    const Rows *r = &c->row[k];
    int64_t kept = s->made[k] * r->out_row - ring_start(c, s, k);
    int64_t from = c->upward ? 0 : first - start, to = c->upward ? start - first : 0;
    *v++ = from != to && kept > 0 ? (int32_t)kept : 0;
    *v++ = place_of(r->output->buffer, to);
    *v++ = place_of(r->output->buffer, from);
    return v;
}

/* Pixels instead of rows. */
static int32_t *fill_flat(const Strip *c, const Step *s, int k, const int64_t *start, int32_t *v) {
    const Rows *r = &c->row[k];
    int made = pixels_made(c, k, s->made[k]), end = pixels_made(c, k, s->end[k]);
    int from = c->upward ? r->out_h * r->pixels - end : made;
    *v++ = end - made;
    *v++ = place_of(r->output->buffer,
                    r->output->offset + from * (r->out_row / r->pixels) - start[k + 1]);
    for (int i = 0; i < r->operand_count; i++)
        *v++ = place_of(r->operand[i]->buffer, r->operand[i]->offset +
                                                   from * (r->operand_row[i] / r->pixels) -
                                                   (k > 0 && i == c->link[k] ? start[k] : 0));
    *v++ = end - made;
    *v++ = end - made;
    return v;
}

/* start[k + 1]: the first byte of call k's output that its ring holds. */
static int32_t *fill_call(const Strip *c, const Step *s, int k, const int64_t *start, int32_t *v) {
    const Rows *r = &c->row[k];
    if (r->kind == ROWS_FLAT)
        return fill_flat(c, s, k, start, v);
    int made = s->made[k], end = s->end[k], rows = end - made;
    int from = c->upward ? r->out_h - end : made;
    int first = c->upward ? r->in_h - last_needed(r, end) : first_needed(r, made);
    int above = c->upward ? window_end(r, end) - r->in_h : r->pad - made * r->stride;
    *v++ = rows;
    *v++ = place_of(r->output->buffer, r->output->offset + from * r->out_row - start[k + 1]);
    for (int i = 0; i < r->operand_count; i++) {
        bool ring = k > 0 && i == c->link[k];
        *v++ = place_of(r->operand[i]->buffer, r->operand[i]->offset +
                                                   (i == 0 ? first : from) * r->operand_row[i] -
                                                   (ring ? start[k] : 0));
    }
    if (r->kind == ROWS_WINDOW) {
        *v++ = rows;
        *v++ = last_needed(r, end) - first_needed(r, made);
        *v++ = most(0, above);
    } else {
        *v++ = r->kind == ROWS_COUNT ? (int32_t)(rows * r->operand_row[0]) : rows;
    }
    return v;
}

int64_t strip_number_count(const Strip *s) {
    return (int64_t)step_count(s) * s->width;
}

void strip_fill_steps(Strip *chain, int32_t *value) {
    int last = chain->call_count - 1;
    int64_t start[STRIP_CALLS + 1] = {0}; /* of inputs and outputs that are whole: 0 */
    for (int k = 0; k < last && chain->upward; k++)
        start[k + 1] = chain->row[k].out_h * chain->row[k].out_row;
    chain->step_count = step_count(chain);
    chain->value = value;
    Step s = {{0}, {0}};
    int32_t *v = chain->value;
    for (int t = 0; t < chain->step_count; t++) {
        step_next(chain, &s);
        for (int k = 0; k <= last; k++) {
            if (k < last) {
                bool rests = s.end[k] == s.made[k];
                int64_t first = rests ? start[k + 1] : ring_first(chain, &s, k);
                v = fill_move(chain, &s, k, start[k + 1], first, v);
                start[k + 1] = first;
            }
            v = fill_call(chain, &s, k, start, v);
        }
    }
}

/* ---- overwriting the input ----------------------------------------------------------------- */

/* First byte of `in` that a call still reads, when it is about to make rows from `row` on. */
static int64_t still_read(const Strip *c, int k, int operand, int row) {
    const Rows *r = &c->row[k];
    if (row >= r->out_h)
        return INT64_MAX / 4;
    if (r->kind == ROWS_FLAT)
        return pixels_made(c, k, row) * (r->operand_row[operand] / r->pixels);
    return (operand == 0 ? first_needed(r, row) : row) * r->operand_row[operand];
}

/* An operand that is read some other way than by its rows: nothing is known of when. */
static bool read_elsewhere(const Strip *s, const Buffer *in) {
    for (int k = 0; k < s->call_count; k++)
        for (int r = 0; r < s->call[k]->ref_count; r++) {
            const CallRef *ref = &s->call[k]->ref[r];
            bool by_rows = false;
            for (int i = 0; i < s->row[k].operand_count; i++)
                by_rows |= ref == s->row[k].operand[i] && ref->offset == 0;
            if (ref->buffer == in && !by_rows)
                return true;
        }
    return false;
}

/* Upward, bytes count from the ends: both values must end where their last row does. */
static bool ends_with_rows(const Strip *c, const Buffer *in) {
    const Rows *last = &c->row[c->call_count - 1];
    bool ends = last->output->buffer->bytes == last->out_h * last->out_row;
    for (int k = 0; k < c->call_count; k++)
        for (int i = 0; i < c->row[k].operand_count; i++)
            if (c->row[k].operand[i]->buffer == in)
                ends &= in->bytes ==
                        (i == 0 ? c->row[k].in_h : c->row[k].out_h) * c->row[k].operand_row[i];
    return ends;
}

/* The last call writes output rows [made, end) of a step when all calls before it have made theirs.
 * What they and it will still read must lie beyond the bytes written so far. What the last call
 * itself reads in this step counts as still read, unless it goes element by element, from the first
 * byte on whichever way the strip goes, or has read it before it writes. */
int64_t strip_distance(const Strip *c, const Buffer *in) {
    int last = c->call_count - 1;
    int64_t distance = 0;
    bool reads_first = call_reads_first(c->call[last], c->rows);
    if (c->row[last].output->offset != 0 || read_elsewhere(c, in) ||
        (c->upward && !ends_with_rows(c, in)))
        return -1;
    Step s = {{0}, {0}};
    for (int t = 0; t < step_count(c); t++) {
        step_next(c, &s);
        int64_t written = bytes_made(c, last, s.end[last]);
        for (int k = 0; k <= last; k++)
            for (int i = 0; i < c->row[k].operand_count; i++) {
                const Rows *r = &c->row[k];
                if (r->operand[i]->buffer != in)
                    continue;
                bool in_order = !c->upward && k == last &&
                                (r->kind == ROWS_DIMS || r->kind == ROWS_COUNT || i > 0) &&
                                r->operand_row[i] == r->out_row;
                bool through = k < last || reads_first;
                int64_t read =
                    in_order ? written : still_read(c, k, i, through ? s.end[k] : s.made[k]);
                distance = written - read > distance ? written - read : distance;
            }
    }
    return distance;
}

/* ---- strips of a graph --------------------------------------------------------------------- */

const Strip *strip_of(const Graph *g, const Call *call) {
    for (int i = 0; i < g->strip_count; i++)
        if (call->index >= g->strip[i].first->index && call->index <= g->strip[i].last->index)
            return &g->strip[i];
    return NULL;
}

void strips_settle(Graph *g) {
    for (int i = 0; i < g->strip_count; i++)
        strip_fill_steps(&g->strip[i], NEW_ARRAY(g->c, int32_t, strip_number_count(&g->strip[i])));
    for (int i = 0; i < g->strip_count; i++)
        strip_find_table(g->c, &g->strip[i]);
}
