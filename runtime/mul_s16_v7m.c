/* Product of two int16 activations on ARMv7-M (scale_s16.h). */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "scale_s16.h"

void ctn_mul_s16_v7m(const CtnMulS16Args *a, const CtnFrame *frame) {
    const CtnRunsS16 runs = {
        ctn_at(frame, a->a), ctn_at(frame, a->b), ctn_at(frame, a->output), a->dim,
        a->a_stride,         a->b_stride};
    ctn_runs_s16(&runs, mul_run, a);
}
#endif
