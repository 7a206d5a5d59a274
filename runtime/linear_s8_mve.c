/* Fully connected layer by MVE, in groups of eight columns (row_s8_mve.h). Rows that do not fill
 * whole vectors are first copied to scratch, where there is room behind them. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "linear_s8_mve.h"
#include "vector_mve.h"

void ctn_linear_rows_mve(const CtnLinearS8Args *a, const CtnFrame *frame, const CtnRowKind *kind) {
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *copy = ctn_at(frame, a->scratch);
    int32_t chunks = (a->depth + 15) / 16, first = table ? a->clamp_min : 0;
    CtnRow r = {.in = ctn_at(frame, a->input),
                .out = ctn_at(frame, a->output),
                .weights = ctn_at(frame, a->weights),
                .passes = (chunks - 1) / 4 + 1,
                .code = (chunks - 1) % 4 * CTN_ROW_CHUNK,
                .columns = a->columns,
                .rows = a->rows,
                .in_step = a->depth,
                .out_step = a->columns,
                .zero_point = a->output_zero_point - first,
                .clamp_min = a->clamp_min - first,
                .clamp_max = a->clamp_max - first,
                .table = table};
    void (*run)(const CtnRow *) = table ? kind->table : kind->exact;
    if (!table && a->output_zero_point == -128 && a->clamp_min == -128 && a->clamp_max == 127)
        run = kind->relu;
    if (!copy) {
        run(&r);
        return;
    }
    r.rows = 1;
    for (int32_t row = 0; row < a->rows; row++, r.out += a->columns) {
        ctn_vector_copy(copy, (const int8_t *)ctn_at(frame, a->input) + row * a->depth, a->depth);
        r.in = copy;
        run(&r);
    }
}

void ctn_linear_s8_mve(const CtnLinearS8Args *a, const CtnFrame *frame) {
    ctn_linear_rows_mve(a, frame, &ctn_row_s8_mve);
}
#endif
