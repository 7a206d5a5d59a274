/* Fully connected layer between activations of 8 or 16 bits by MVE with a
 * function of the results in its store (map_s16.h). */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#define CTN_ROWS_MAP
#include "dot_s16_mve.h"

#include "linear_rows_s16.h"

void ctn_linear_s16_mve_map(const CtnLinearS16Args *a, const CtnFrame *frame) {
    linear_by_rows(a, frame);
}
#endif
