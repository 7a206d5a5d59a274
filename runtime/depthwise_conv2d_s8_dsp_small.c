/* Depthwise convolution on DSP cores where code is to be small: four channels of a pixel at a time,
 * of inputs with as many. Streams and sums are those of depthwise_conv2d_s8_dsp.c. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dot_dsp.h"
#include "dsp.h"
#include "word.h"

enum { CHANNELS = 4, STREAM_WORDS = 9 };

/* The window at (y0, x0); `image` begins with the first channel. */
static void pixel(const CtnDepthwiseConv2dS8Args *a, const CtnDotDsp *dot, const uint32_t *stream,
                  const int8_t *image, int32_t y0, int32_t x0, int8_t *output) {
    int32_t sum[CHANNELS];
    uint32_t shifts = stream[2 * CHANNELS];
    const uint32_t *w = stream + STREAM_WORDS;
    for (int c = 0; c < CHANNELS; c++)
        sum[c] = (int32_t)stream[c];
    for (int32_t kx = 0; kx < a->kernel_w; kx++)
        for (int32_t ky = 0; ky < a->kernel_h; ky++, w++) {
            int32_t y = y0 + ky * a->dilation_h, x = x0 + kx * a->dilation_w;
            uint32_t four = (uint8_t)a->input_zero_point * 0x01010101u;
            if (y >= 0 && y < a->in_h && x >= 0 && x < a->in_w)
                four = ctn_load_word(image + (y * a->in_w + x) * a->in_c);
            four ^= 0x80808080u;
            uint32_t even = four << 1 & 0x01fe01feu, odd = four >> 7 & 0x01fe01feu;
            sum[0] = ctn_smlabb(even, ctn_sxtb16(*w), sum[0]);
            sum[2] = ctn_smlatt(even, ctn_sxtb16(*w), sum[2]);
            sum[1] = ctn_smlabb(odd, ctn_sxtb16_odd(*w), sum[1]);
            sum[3] = ctn_smlatt(odd, ctn_sxtb16_odd(*w), sum[3]);
        }
    for (int c = 0; c < CHANNELS; c++, shifts >>= 8)
        output[c] = ctn_dot_store(dot, sum[c], (int32_t)stream[CHANNELS + c], shifts & 0xff);
}

void ctn_depthwise_conv2d_s8_dsp_small(const CtnDepthwiseConv2dS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    const uint32_t *stream = ctn_at(frame, a->weights);
    int8_t *output = ctn_at(frame, a->output);
    uint32_t no_rows[1]; /* only the store is used */
    CtnDotDsp dot =
        ctn_dot_begin(no_rows, 0, a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    for (int32_t c = 0; c < a->out_c; c += CHANNELS) {
        int32_t first = c > a->out_c - CHANNELS ? a->out_c - CHANNELS : c;
        int8_t *to = output + first;
        for (int32_t line = 0; line < a->batches * a->out_h; line++) {
            int32_t batch = line / a->out_h, y0 = (line - batch * a->out_h) * a->stride_h;
            const int8_t *image = input + batch * a->in_h * a->in_w * a->in_c + first;
            for (int32_t x = 0; x < a->out_w; x++, to += a->out_c)
                pixel(a, &dot, stream, image, y0 - a->pad_top, x * a->stride_w - a->pad_left, to);
        }
        stream += STREAM_WORDS + a->kernel_h * a->kernel_w;
    }
}
#endif
