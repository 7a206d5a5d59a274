/* The strips of taps.h. */
#include "taps.h"

typedef struct {
    const CtnTapsLevel *level;
    void *user;
    CtnTapsAxis line, run;
    int32_t in_c, out_c, per_input, zero_point;
    uint32_t *strip;
    const int8_t *image;
    CtnTapsBlock block;
    int32_t position[CTN_TAPS_BLOCK];
    int32_t above, within, below; /* lines of the strip over, in and under the image */
    int32_t first_row;            /* of those within */
} Layer;

void ctn_taps_axes(const CtnDepthwiseConv2dS8Args *a, CtnTapsAxis *line, CtnTapsAxis *run) {
    CtnTapsAxis height = {a->in_h,    a->out_h,      a->kernel_h,       a->stride_h,
                          a->pad_top, a->dilation_h, a->in_w * a->in_c, a->out_w * a->out_c};
    CtnTapsAxis width = {a->in_w,     a->out_w,      a->kernel_w, a->stride_w,
                         a->pad_left, a->dilation_w, a->in_c,     a->out_c};
    int turned = ctn_taps_turned(a);
    *line = turned ? width : height;
    *run = turned ? height : width;
}

static uint32_t word(const Layer *l, int32_t a0, int32_t a1) {
    return l->level->base + (uint32_t)a0 + ((uint32_t)a1 << l->level->shift);
}

static uint32_t *fill(const Layer *l, uint32_t *to, int32_t rows) {
    uint32_t padding = word(l, l->zero_point, l->zero_point);
    for (; rows > 0; rows--)
        for (int32_t i = 2 * l->run.kernel; i > 0; i--)
            *to++ = padding;
    return to;
}

/* One tap of a run whose positions are not all in the image; offsets below 0 are those. */
static void expand_edge(const Layer *l, const int8_t *from, const int32_t *offset, uint32_t *to) {
    int32_t a[CTN_TAPS_BLOCK];
    for (int32_t row = 0; row < l->within; row++, from += l->line.in_step) {
        for (int i = 0; i < CTN_TAPS_BLOCK; i++)
            a[i] = offset[i] < 0 ? l->zero_point : from[offset[i]];
        to[0] = word(l, a[0], a[1]);
        to[1] = word(l, a[2], a[3]);
        to += 2 * l->run.kernel;
    }
}

/* The strip of one channel. */
static void expand(const Layer *l, int32_t channel) {
    const CtnTapsAxis *run = &l->run;
    uint32_t *to = fill(l, l->strip, l->above);
    const int8_t *from = l->image + l->first_row * l->line.in_step + channel;
    CtnTapsRows rows = {l->within, l->line.in_step, 8 * run->kernel};
    for (int32_t k = 0; l->within > 0 && k < run->kernel; k++, to += 2) {
        int32_t offset[CTN_TAPS_BLOCK];
        int whole = 1;
        for (int i = 0; i < CTN_TAPS_BLOCK; i++) {
            int32_t at = l->position[i] + k * run->dilation;
            whole &= at >= 0 && at < run->in;
            offset[i] = at >= 0 && at < run->in ? at * run->in_step : -1;
        }
        if (whole)
            l->level->expand(from, offset, to, &rows);
        else
            expand_edge(l, from, offset, to);
    }
    fill(l, l->strip + 2 * run->kernel * (l->above + l->within), l->below);
}

static void strip(Layer *l) {
    int32_t made = -1;
    for (int32_t channel = 0; channel < l->out_c; channel++) {
        int32_t input = l->per_input == 1 ? channel : channel / l->per_input;
        if (input != made)
            expand(l, input);
        made = input;
        l->level->channel(l->user, &l->block, channel);
    }
}

/* Output lines first .. first + lines of the block. */
static void set_lines(Layer *l, int32_t first, int32_t lines, int8_t *output) {
    const CtnTapsAxis *line = &l->line;
    int32_t start = first * line->stride - line->pad, count = (lines - 1) * line->stride;
    int32_t end = start + count + line->kernel;
    l->first_row = start < 0 ? 0 : start < line->in ? start : line->in;
    int32_t last = end < 0 ? 0 : end < line->in ? end : line->in;
    l->within = last > l->first_row ? last - l->first_row : 0;
    l->above = start < 0 ? (end < 0 ? end : 0) - start : 0;
    l->below = end - start - l->above - l->within;
    l->block.lines = lines;
    l->block.output = output + first * line->out_step;
}

static void set_positions(Layer *l, int32_t first) {
    const CtnTapsAxis *run = &l->run;
    for (int32_t i = 0; i < CTN_TAPS_BLOCK; i++) {
        int32_t at = first + i < run->out ? first + i : run->out - 1;
        l->position[i] = at * run->stride - run->pad;
        l->block.place[i] = at * run->out_step;
    }
}

void ctn_taps_run(const CtnTapsLevel *level, void *user, const CtnDepthwiseConv2dS8Args *a,
                  const CtnFrame *frame) {
    Layer l = {.level = level,
               .user = user,
               .in_c = a->in_c,
               .out_c = a->out_c,
               .per_input = a->out_c == a->in_c ? 1 : a->out_c / a->in_c,
               .zero_point = a->input_zero_point,
               .strip = ctn_at(frame, a->scratch),
               .image = ctn_at(frame, a->input)};
    int8_t *output = ctn_at(frame, a->output);
    ctn_taps_axes(a, &l.line, &l.run);
    l.block.entries = l.strip;
    l.block.line_step = 8 * l.run.kernel * l.line.stride;
    l.block.out_step = l.line.out_step;
    int32_t lines = ctn_taps_lines(&l.line, &l.run);
    for (int32_t b = 0; b < a->batches; b++) {
        for (int32_t at = 0; at < l.run.out; at += CTN_TAPS_BLOCK) {
            set_positions(&l, at);
            for (int32_t first = 0; first < l.line.out; first += lines) {
                int32_t left = l.line.out - first;
                set_lines(&l, first, left < lines ? left : lines, output);
                strip(&l);
            }
        }
        l.image += a->in_h * a->in_w * a->in_c;
        output += a->out_h * a->out_w * a->out_c;
    }
}
