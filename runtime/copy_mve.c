/* Affine copy of bytes by MVE. The host has put last a dim along which one side is dense: dense on
 * both sides it is a run, else eight bytes are gathered or scattered at a time. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "run_mve.h"

__attribute__((noinline)) static void collect(uint8_t *to, const uint8_t *from, int32_t stride,
                                              int32_t count) {
    const uint16x8_t offset = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)stride);
    for (; count >= 8; count -= 8, to += 8, from += 8 * stride)
        vstrbq_u16(to, vldrbq_gather_offset_u16(from, offset));
    for (; count > 0; count--, from += stride)
        *to++ = *from;
}

__attribute__((noinline)) static void spread(uint8_t *to, int32_t stride, const uint8_t *from,
                                             int32_t count) {
    const uint16x8_t offset = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)stride);
    for (; count >= 8; count -= 8, to += 8 * stride, from += 8)
        vstrbq_scatter_offset_u16(to, offset, vldrbq_u16(from));
    for (; count > 0; count--, to += stride)
        *to = *from++;
}

void ctn_copy_mve(const CtnCopyArgs *a, const CtnFrame *frame) {
    uint8_t *input = ctn_at(frame, a->input);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t index[7] = {0}, in = 0, out = 0;
    int first = 0, outer = 7;
    int32_t in_step = a->in_stride[7], out_step = a->out_stride[7];
    while (first < 7 && a->dim[first] == 1)
        first++;
    if (ctn_is_empty(8 - first, a->dim + first))
        return;
    int is_run = in_step == 1 && out_step == 1;
    CtnByteRows rows = {1, a->dim[7], 0, 0};
    if (is_run && outer > first) {
        outer--;
        rows = (CtnByteRows){a->dim[outer], a->dim[7], a->in_stride[outer], a->out_stride[outer]};
    }
    do
        if (is_run)
            ctn_copy_rows_mve(output + out, input + in, &rows);
        else if (out_step == 1)
            collect(output + out, input + in, in_step, rows.bytes);
        else
            spread(output + out, out_step, input + in, rows.bytes);
    while (ctn_step(outer - first, a->dim + first, index, a->in_stride + first, &in,
                    a->out_stride + first, &out));
}
#endif
