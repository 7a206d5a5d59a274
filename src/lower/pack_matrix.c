/* Convolutions of one tap are products of matrices: all pixels can lie in one row, of which kernels
 * and strips take as many at a time as suits them. */
#include "lower/packing.h"

bool conv2d_is_matrix(const CtnConv2dS8Args *a) {
    return a->kernel_h == 1 && a->kernel_w == 1 && a->stride_h == 1 && a->stride_w == 1 &&
           a->out_h == a->in_h && a->out_w == a->in_w;
}

void conv2d_to_one_row(Call *call, int block) {
    CtnConv2dS8Args *a = call->args;
    a->in_w = a->out_w = a->in_h * a->in_w * a->batches;
    a->in_h = a->out_h = a->batches = 1;
    call->block = block;
}
