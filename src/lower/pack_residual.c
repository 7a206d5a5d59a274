/* What kernels with a sum in their store ask of a call beyond what those without one do, and how
 * its constants are packed: runtime/residual_s8.h says what it is. */
#include "conv2d_s8_mve.h"
#include "dot_dsp.h"
#include "lower/memory.h"
#include "lower/packing.h"

#include <stdlib.h>

enum { ENTRIES = 256, ROWS_V6M = 2, ROWS_V7M = 4 };

static CtnResidualArgs *residual_of(const Call *call) {
    const KernelField *skip = kernel_field(call->kernel, "skip");
    return (CtnResidualArgs *)(void *)((char *)call->args + skip->offset);
}

/* The largest sum of an addend and a product, from the addends themselves. */
static int64_t largest_sum(const Call *call, const CtnResidualArgs *a) {
    const int32_t *addend = call_data(call, &a->addends);
    int64_t most = 0;
    for (int i = 0; i < ENTRIES; i++)
        most = llabs(addend[i]) > most ? llabs(addend[i]) : most;
    return most + 128 * llabs(a->factor);
}

/* Twice the sum is below 2^29, as ctn_smmlar of ARMv6-M wants it. */
static bool sums_are_short(const Call *call) {
    const CtnResidualArgs *a = residual_of(call);
    return largest_sum(call, a) < 1 << 28 &&
           short_store_is_exact(1 << 28, a->sum_multiplier, a->sum_shift, a->sum_zero_point);
}

/* Room for the results of `pixels` pixels behind the scratch. */
static void add_block(Call *call, uint32_t *scratch, CtnResidualArgs *r, int64_t bytes) {
    const CallRef *ref = call_ref_named(call, "scratch");
    if (!ref) {
        call_scratch(call, scratch, bytes, 4);
        r->block = 0;
        return;
    }
    r->block = (int32_t)align_up(ref->buffer->bytes, 4);
    ref->buffer->bytes = r->block + bytes;
}

/* What is stored by SMMLAR is twice as large. */
static void double_sums(Call *call, CtnResidualArgs *r) {
    const int32_t *addend = call_data(call, &r->addends);
    int32_t doubled[ENTRIES];
    for (int i = 0; i < ENTRIES; i++)
        doubled[i] = 2 * addend[i];
    call_const(call, &r->addends, "addends", DT_I32, doubled, sizeof doubled, 4);
    r->factor *= 2;
}

/* ---- convolutions: of one group, whose pixels lie in the order of the output ---------------- */

static bool one_group(const Call *call) {
    return ((const CtnConv2dAddS8Args *)call->args)->groups == 1;
}

static void pack_with(C *c, Graph *g, Call *call, void (*pack)(C *, Graph *, Call *), int pixels) {
    CtnConv2dAddS8Args *a = call->args;
    pack(c, g, call);
    add_block(call, &a->scratch, residual_of(call), (int64_t)pixels * a->out_c);
}

bool conv2d_add_dots(const Call *call) {
    return one_group(call) && sums_are_short(call) && conv2d_dots(call);
}

void pack_conv2d_add_bytes(C *c, Graph *g, Call *call) {
    pack_with(c, g, call, pack_conv2d_bytes, ROWS_V6M);
    double_sums(call, residual_of(call));
}

void pack_conv2d_add_dots(C *c, Graph *g, Call *call) {
    pack_with(c, g, call, pack_conv2d_dots, ROWS_V7M);
    double_sums(call, residual_of(call));
}

bool conv2d_add_accepts_dsp(const Call *call) {
    return one_group(call) && sums_are_short(call) && conv2d_accepts_dsp(call);
}

void conv2d_add_pack_dsp(C *c, Graph *g, Call *call) {
    pack_with(c, g, call, conv2d_pack_dsp, CTN_DOT_ROWS);
    double_sums(call, residual_of(call));
}

bool conv2d_add_pairs(const Call *call) {
    return one_group(call) && residual_of(call)->sum_shift < 0 && conv2d_pairs(call);
}

void pack_conv2d_add_pairs(C *c, Graph *g, Call *call) {
    pack_with(c, g, call, pack_conv2d_pairs, CTN_RESIDUAL_PIXELS);
}

/* ---- the same with weights of 4 bits --------------------------------------------------------- */

bool conv2d_add_int4_rows(const Call *call) {
    return one_group(call) && sums_are_short(call) && conv2d_int4_rows(call);
}

void pack_conv2d_add_int4_rows(C *c, Graph *g, Call *call) {
    pack_with(c, g, call, pack_conv2d_int4_rows, CTN_DOT_ROWS);
    double_sums(call, residual_of(call));
}

bool conv2d_add_int4_pairs(const Call *call) {
    return residual_of(call)->sum_shift < 0 && conv2d_int4_pairs(call);
}

void pack_conv2d_add_int4_pairs(C *c, Graph *g, Call *call) {
    pack_with(c, g, call, pack_conv2d_int4_pairs, CTN_RESIDUAL_PIXELS);
}
