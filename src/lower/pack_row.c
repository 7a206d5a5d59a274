/* Weights of fully connected layers for MVE: eight columns at a time, in the order in which
 * runtime/row_s8_mve.c loads them, the input's zero point folded into the bias. */
#include "lower/packing.h"
#include "row_s8_mve.h"

#include <string.h>

enum { GROUP = 8, VECTOR = 16 };

bool linear_rows(const Call *call) {
    const CtnLinearS8Args *a = call->args;
    return a->rows > 0 && shifts_right(call, &a->shift, a->columns);
}

/* Columns from `first` on; `to` is zeroed. */
static void pack_group(const Call *call, int first, int chunks, int8_t *to) {
    const CtnLinearS8Args *a = call->args;
    const int8_t *weights = call_data(call, &a->weights), *shift = call_data(call, &a->shift);
    const int32_t *bias = call_data(call, &a->bias);
    const int32_t *multiplier = call_data(call, &a->multiplier);
    struct {
        int32_t bias[2][GROUP / 2], multiplier[2][GROUP / 2];
        int8_t shift[2][GROUP / 2];
    } parameters = {{{0}}, {{0}}, {{-1, -1, -1, -1}, {-1, -1, -1, -1}}};
    for (int c = 0; c < GROUP && first + c < a->columns; c++) {
        const int8_t *from = weights + (int64_t)(first + c) * a->depth;
        int64_t sum = 0;
        for (int k = 0; k < a->depth; k++) {
            to[(k / VECTOR * GROUP + c) * VECTOR + k % VECTOR] = from[k];
            sum += from[k];
        }
        parameters.bias[c % 2][c / 2] =
            (int32_t)((bias ? bias[first + c] : 0) - sum * a->input_zero_point);
        parameters.multiplier[c % 2][c / 2] = multiplier[first + c];
        parameters.shift[c % 2][c / 2] = shift[first + c];
    }
    memcpy(to + chunks * GROUP * VECTOR, &parameters, sizeof parameters);
}

void pack_linear_rows(C *c, Graph *g, Call *call) {
    CtnLinearS8Args *a = call->args;
    (void)g;
    int chunks = (a->depth + VECTOR - 1) / VECTOR, groups = (a->columns + GROUP - 1) / GROUP;
    int64_t group = (int64_t)chunks * GROUP * VECTOR + CTN_ROW_PARAMETERS;
    int8_t *packed = c_calloc(c, (size_t)groups, (size_t)group);
    for (int i = 0; i < groups; i++)
        pack_group(call, i * GROUP, chunks, packed + i * group);
    constants_pack(call, "packed", DT_I8, packed, groups * group, 4);
    if (a->depth % VECTOR != 0)
        call_scratch(call, &a->scratch, (int64_t)chunks * VECTOR, 16);
}
