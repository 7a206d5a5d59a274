/* Fully connected layer with 4-bit weights in plain C. */
#include "linear_plain_s8.h"

void ctn_linear_s8w4(const CtnLinearS8W4Args *a, const CtnFrame *frame) {
    ctn_linear_plain((const CtnLinearS8Args *)(const void *)a, frame, 1);
}
