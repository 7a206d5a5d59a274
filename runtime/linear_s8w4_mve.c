/* Fully connected layer by MVE (linear_s8_mve.c) with weights of 4 bits (row_w4_mve.h). */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "int4_args.h"
#include "linear_s8_mve.h"
#include "row_w4_mve.h"

void ctn_linear_s8w4_mve(const CtnLinearS8W4Args *a, const CtnFrame *frame) {
    const CtnLinearS8Args as8 = ctn_linear_of_int4(a);
    ctn_linear_rows_mve(&as8, frame, &ctn_row_w4_mve);
}
#endif
