/* Normalization by MVE, four elements at a time (norm_runs_s8.h). */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "norm_runs_s8.h"
#include "scale_mve.h"

static void sums(const int8_t *input, int32_t count, int32_t *sum, int64_t *squares) {
    int32_t s = *sum;
    for (int32_t piece; count > 0; count -= piece) { /* of 2^16 squares, which fit int32 */
        int32_t t = 0;
        piece = count < 65536 ? count : 65536;
        for (int32_t left = piece; left > 0; left -= 16, input += 16) {
            int8x16_t q = vldrbq_z_s8(input, vctp8q((uint32_t)left));
            s = vaddvaq_s8(s, q);
            t = vmladavaq_s8(t, q, q);
        }
        *squares += t;
    }
    *sum = s;
}

typedef struct {
    CtnNormRun run;
    const int16_t *gamma;
    const int32_t *beta;
    const int8_t *table;
    int32_t multiplier, shift, zero_point, min, max;
} Row;

__attribute__((noinline)) static void normalize_run(const Row *row, const int8_t *input,
                                                    int8_t *output, int32_t count) {
    const Row r = *row;
    const int32x4_t left = vdupq_n_s32(r.run.left), min = vdupq_n_s32(r.min);
    const int32x4_t right = vdupq_n_s32(-r.run.right), max = vdupq_n_s32(r.max);
    const int32x4_t n = vdupq_n_s32(r.run.count), reciprocal = vdupq_n_s32(r.run.reciprocal);
    for (int32_t i = 0; i < count; i += 4) {
        mve_pred16_t live = vctp32q((uint32_t)(count - i));
        int32x4_t x = vmlasq_n_s32(vldrbq_z_s32(input + i, live), n, r.run.offset);
        x = vrshlq_s32(vmulhq_s32(vshlq_s32(x, left), reciprocal), right);
        if (r.gamma) /* (x * gamma + 2^15) / 2^16 is VQRDMULH with 2^15 * gamma */
            x = vqrdmulhq_s32(x, vshlq_s32(vldrhq_z_s32(r.gamma + i, live), vdupq_n_s32(15)));
        if (r.beta)
            x = vaddq_s32(x, vldrwq_z_s32(r.beta + i, live));
        x = vaddq_n_s32(ctn_scale_mve(x, r.multiplier, r.shift, 1), r.zero_point);
        vstrbq_p_s32(output + i, ctn_end_mve(x, min, max, r.table, r.min), live);
    }
}

static void group(const CtnLayerNormS8Args *a, const CtnFrame *frame, const int8_t *input,
                  int32_t parameter, int8_t *output) {
    const int16_t *gamma = ctn_at(frame, a->gamma);
    const int32_t *beta = ctn_at(frame, a->beta);
    Row row = {.run = ctn_norm_group(a, input, sums),
               .table = ctn_at(frame, a->table),
               .multiplier = a->multiplier,
               .shift = a->shift,
               .zero_point = a->output_zero_point,
               .min = a->clamp_min,
               .max = a->clamp_max};
    int32_t index[3] = {0}, offset = 0;
    do {
        row.gamma = gamma ? gamma + parameter : gamma;
        row.beta = beta ? beta + parameter : beta;
        normalize_run(&row, input + offset, output + offset, a->reduced[3]);
    } while (ctn_step(3, a->reduced, index, a->reduced_stride, &offset, a->reduced_parameter_stride,
                      &parameter));
}

void ctn_layer_norm_s8_mve(const CtnLayerNormS8Args *a, const CtnFrame *frame) {
    ctn_norm_all(a, frame, group);
}
#endif
