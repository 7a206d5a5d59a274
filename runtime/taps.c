/* The strips of taps.h. */
#include "taps.h"

void ctn_taps_axes(const CtnDepthwiseConv2dS8Args *a, CtnTapsAxis *line, CtnTapsAxis *run) {
    CtnTapsAxis height = {a->in_h,    a->out_h,      a->kernel_h,       a->stride_h,
                          a->pad_top, a->dilation_h, a->in_w * a->in_c, a->out_w * a->out_c};
    CtnTapsAxis width = {a->in_w,     a->out_w,      a->kernel_w, a->stride_w,
                         a->pad_left, a->dilation_w, a->in_c,     a->out_c};
    *line = a->turned ? width : height;
    *run = a->turned ? height : width;
}

/* Padding in place of the activations that were read where there is none. */
static void mend(const CtnTaps *t, const int8_t *from, uint32_t *to, uint32_t shift) {
    for (int32_t row = t->rows.rows; row > 0; row--) {
        *to += (uint32_t)(t->zero_point - *from) << shift;
        from += t->rows.in_step;
        to += 2 * t->run.kernel;
    }
}

static void expand_edge(const CtnTaps *t, const int8_t *from, const int32_t *offset, uint32_t *to) {
    int32_t valid[CTN_TAPS_BLOCK];
    for (int i = 0; i < CTN_TAPS_BLOCK; i++)
        valid[i] = offset[i] < 0 ? 0 : offset[i];
    t->level->expand(from, valid, to, &t->rows);
    for (int i = 0; i < CTN_TAPS_BLOCK; i++)
        if (offset[i] < 0)
            mend(t, from, to + (i >> 1), i & 1 ? t->level->shift : 0);
}

void ctn_taps_expand(const CtnTaps *t, int32_t channel) {
    const int8_t *from = t->from + channel;
    const int32_t *offset = t->offset;
    uint32_t *to = t->middle;
    if (t->rows.rows == 0)
        return;
    for (int32_t k = t->run.kernel; k > 0; k--, to += 2, offset += CTN_TAPS_BLOCK)
        if (t->edges && (offset[0] | offset[1] | offset[2] | offset[3]) < 0)
            expand_edge(t, from, offset, to);
        else
            t->level->expand(from, offset, to, &t->rows);
}

static void fill(const CtnTaps *t, uint32_t *to, int32_t rows) {
    uint32_t q = (uint32_t)t->zero_point;
    for (int32_t i = rows * 2 * t->run.kernel; i > 0; i--)
        *to++ = t->level->base + q + (q << t->level->shift);
}

/* Output lines first .. first + lines of the block; the strip's lines outside of the image. */
static void set_lines(CtnTaps *t, int32_t first, int32_t lines, int8_t *output) {
    const CtnTapsAxis *line = &t->line;
    int32_t start = first * line->stride - line->pad;
    int32_t end = start + (lines - 1) * line->stride + line->kernel;
    int32_t top = start < 0 ? 0 : start < line->in ? start : line->in;
    int32_t bottom = end < top ? top : end < line->in ? end : line->in;
    int32_t above = (end < top ? end : top) - start;
    t->rows.rows = bottom - top;
    t->from = t->image + top * line->in_step;
    t->middle = t->strip + 2 * t->run.kernel * above;
    fill(t, t->strip, above);
    fill(t, t->middle + 2 * t->run.kernel * t->rows.rows, end - start - above - t->rows.rows);
    t->block.lines = lines;
    t->block.output = output + first * line->out_step;
}

static void set_positions(CtnTaps *t, int32_t first) {
    const CtnTapsAxis *run = &t->run;
    t->edges = 0;
    for (int32_t i = 0; i < CTN_TAPS_BLOCK; i++) {
        int32_t position = first + i < run->out ? first + i : run->out - 1;
        int32_t at = position * run->stride - run->pad;
        t->block.place[i] = position * run->out_step;
        for (int32_t k = 0; k < run->kernel; k++, at += run->dilation) {
            int inside = at >= 0 && at < run->in;
            t->offset[k * CTN_TAPS_BLOCK + i] = inside ? at * run->in_step : -1;
            t->edges |= !inside;
        }
    }
}

void ctn_taps_run(const CtnTapsLevel *level, void *user, const CtnDepthwiseConv2dS8Args *a,
                  const CtnFrame *frame, int32_t reserved) {
    CtnTaps t = {.level = level,
                 .channels = a->out_c,
                 .per_input = a->out_c == a->in_c ? 1 : a->out_c / a->in_c,
                 .zero_point = a->input_zero_point,
                 .offset = (int32_t *)ctn_at(frame, a->scratch) + reserved,
                 .image = ctn_at(frame, a->input)};
    int8_t *output = ctn_at(frame, a->output);
    ctn_taps_axes(a, &t.line, &t.run);
    t.strip = (uint32_t *)(t.offset + CTN_TAPS_BLOCK * t.run.kernel);
    t.rows.in_step = t.line.in_step;
    t.rows.step = 8 * t.run.kernel;
    t.block.entries = t.strip;
    t.block.line_step = t.rows.step * t.line.stride;
    t.block.out_step = t.line.out_step;
    int32_t lines = ctn_taps_lines(&t.line, &t.run);
    for (int32_t b = 0; b < a->batches; b++) {
        for (int32_t at = 0; at < t.run.out; at += CTN_TAPS_BLOCK) {
            set_positions(&t, at);
            for (int32_t first = 0; first < t.line.out; first += lines) {
                int32_t left = t.line.out - first;
                set_lines(&t, first, left < lines ? left : lines, output);
                level->run(&t, user);
            }
        }
        t.image += a->in_h * a->in_w * a->in_c;
        output += a->out_h * a->out_w * a->out_c;
    }
}
