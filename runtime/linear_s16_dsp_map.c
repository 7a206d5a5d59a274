/* Fully connected layer between activations of 8 or 16 bits on DSP cores with a
 * function of the results in its store (map_s16.h). */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#define CTN_ROWS_MAP
#include "dot_s16_dsp.h"

#include "linear_rows_s16.h"

void ctn_linear_s16_dsp_map(const CtnLinearS16Args *a, const CtnFrame *frame) {
    linear_by_rows(a, frame);
}
#endif
