/* What the variants of pools ask of a call. */
#include "lower/packing.h"

bool max_pool_of_bytes(const Call *call) {
    const CtnMaxPool2dS8Args *a = call->args;
    return a->clamp_min >= -128 && a->clamp_max <= 127;
}

bool avg_pool_of_few_taps(const Call *call) {
    const CtnAvgPool2dS8Args *a = call->args;
    return (int64_t)a->kernel_h * a->kernel_w <= 255;
}

/* Four channels at a time, the last ones once more. */
enum { QUAD = 4 };

bool max_pool_of_quads(const Call *call) {
    return ((const CtnMaxPool2dS8Args *)call->args)->channels >= QUAD;
}

bool avg_pool_of_quads(const Call *call) {
    return ((const CtnAvgPool2dS8Args *)call->args)->channels >= QUAD;
}
