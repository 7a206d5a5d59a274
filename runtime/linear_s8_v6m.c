/* Fully connected layer on ARMv6-M: a single row by vector_v6m.h, several in twos by the matrix
 * block (dot_v6m.h), with the expanded rows in scratch. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "ctn.h"
#include "dot_v6m.h"
#include "vector_v6m.h"

static void one_row(const CtnLinearS8Args *a, const CtnFrame *frame) {
    const uint8_t *stream = ctn_at(frame, a->weights);
    CtnVectorV6m vector;
    vector.store =
        ctn_store_begin_v6m(*stream, a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    ctn_vector_row_v6m(&vector, stream + 4, ctn_at(frame, a->input), a->depth, a->columns,
                       ctn_at(frame, a->output));
}

static void in_twos(const CtnLinearS8Args *a, const CtnFrame *frame) {
    uint32_t *rows = ctn_at(frame, a->scratch);
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    CtnDotV6m dot = ctn_dot_begin_v6m(ctn_at(frame, a->weights), a->depth, a->columns,
                                      a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    for (int32_t row = 0; row < a->rows; row += CTN_DOT_ROWS) {
        int32_t second = row + 1 < a->rows;
        const int8_t *two[CTN_DOT_ROWS] = {input, input + (second ? a->depth : 0)};
        uint32_t sum[CTN_DOT_ROWS] = {0};
        ctn_expand_v6m(two, rows, a->depth, sum);
        dot.sum[0] = sum[0] << 7;
        dot.sum[1] = sum[1] << 7;
        dot.output[0] = output;
        dot.output[1] = output + (second ? a->columns : 0);
        dot.weights = dot.stream;
        ctn_dot_block_v6m(&dot, rows);
        input += 2 * a->depth;
        output += 2 * a->columns;
    }
}

void ctn_linear_s8_v6m(const CtnLinearS8Args *a, const CtnFrame *frame) {
    if (a->rows == 1)
        one_row(a, frame);
    else
        in_twos(a, frame);
}
#endif
