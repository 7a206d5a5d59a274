/* Transposed convolution on DSP cores. Output places whose row and column leave the same remainders
 * by the strides are reached by the same taps: they are a convolution of their own, by the matrix
 * block (dot_dsp.h), whose results lie a stride apart.
 *
 * weights: for each group and pair of remainders, rows first, the streams of the group's outputs
 * over the taps that reach, in their order; one step of zeros where none does. scratch: the rows.
 */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dot_dsp.h"
#include "reach.h"

typedef struct {
    const CtnConvTranspose2dS8Args *a;
    const int8_t *image; /* its first channel of the group */
    uint32_t *rows;
    int32_t depth, tap_steps;
} Gather;

/* The taps that reach place (y, x): how far along each axis the first input lies. */
static void gather_pixel(const Gather *g, const CtnReach *down, const CtnReach *across, int32_t y,
                         int32_t x, uint32_t *steps) {
    const CtnConvTranspose2dS8Args *a = g->a;
    for (int32_t i = 0; i < down->count; i++, y -= down->input_step) {
        int32_t at = x;
        for (int32_t k = 0; k < across->count; k++, at -= across->input_step) {
            if (y >= 0 && y < a->in_h && at >= 0 && at < a->in_w)
                ctn_expand_dsp(g->image + (y * a->in_w + at) * a->in_c, steps, g->depth);
            else
                ctn_expand_fill_dsp(a->input_zero_point, steps, g->tap_steps);
            steps += g->tap_steps * CTN_DOT_STEP_WORDS;
        }
    }
}

/* Places ox = column + i * stride of one row of the output, at `output`. */
static void line(const Gather *g, CtnDotDsp *dot, const CtnReach *down, const CtnReach *across,
                 int32_t y, const uint8_t *weights, int8_t *output) {
    const CtnConvTranspose2dS8Args *a = g->a;
    int32_t pitch = a->stride_w * a->out_c;
    int32_t block = across->places < CTN_DOT_ROWS ? 1 : CTN_DOT_ROWS;
    dot->output_stride = block == 1 ? 0 : pitch;
    for (int32_t i = 0; i < across->places; i += block) {
        int32_t first = i > across->places - block ? across->places - block : i;
        for (int32_t p = 0; p < block; p++)
            gather_pixel(g, down, across, y, across->input + first + p, g->rows + 2 * p);
        ctn_dot_block(dot, weights, a->out_c / a->groups, output + first * pitch);
    }
}

/* All places of one pair of remainders; returns the weights of the next. */
static const uint8_t *places(const Gather *g, const CtnReach *down, const CtnReach *across,
                             const int8_t *table, const uint8_t *weights, int8_t *output) {
    const CtnConvTranspose2dS8Args *a = g->a;
    int32_t steps = down->count * across->count * g->tap_steps;
    steps = steps > 0 ? steps : 1;
    CtnDotDsp dot = ctn_dot_begin(g->rows, steps, a->output_zero_point, a->clamp_max, table);
    output += (down->first * a->out_w + across->first) * a->out_c;
    for (int32_t i = 0; i < down->places; i++)
        line(g, &dot, down, across, down->input + i, weights,
             output + i * a->stride_h * a->out_w * a->out_c);
    return weights + ctn_dot_stream_bytes(a->out_c / a->groups, steps);
}

static void image(Gather *g, const int8_t *table, const uint8_t *weights, int8_t *output) {
    const CtnConvTranspose2dS8Args *a = g->a;
    for (int32_t group = 0; group < a->groups; group++) {
        for (int32_t row = 0; row < a->stride_h; row++) {
            CtnReach down =
                ctn_reach(row, a->kernel_h, a->stride_h, a->dilation_h, a->pad_top, a->out_h);
            for (int32_t column = 0; column < a->stride_w; column++) {
                CtnReach across = ctn_reach(column, a->kernel_w, a->stride_w, a->dilation_w,
                                            a->pad_left, a->out_w);
                weights = places(g, &down, &across, table, weights, output);
            }
        }
        g->image += g->depth;
        output += a->out_c / a->groups;
    }
}

void ctn_conv_transpose2d_s8_dsp(const CtnConvTranspose2dS8Args *a, const CtnFrame *frame) {
    Gather g = {.a = a, .rows = ctn_at(frame, a->scratch), .depth = a->in_c / a->groups};
    g.tap_steps = ctn_dot_steps(g.depth);
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    for (int32_t b = 0; b < a->batches; b++) {
        g.image = input + b * a->in_h * a->in_w * a->in_c;
        image(&g, ctn_at(frame, a->table), ctn_at(frame, a->weights),
              output + b * a->out_h * a->out_w * a->out_c);
    }
}
#endif
