/* Fully connected layer in plain C. */
#include "linear_plain_s8.h"

void ctn_linear_s8(const CtnLinearS8Args *a, const CtnFrame *frame) {
    ctn_linear_plain(a, frame, 0);
}
