/* Fully connected layer on ARMv7-M without DSP: few rows one by one (vector_v7m.h), more than
 * CTN_DOT_ROWS in fours by the matrix block (dot_v7m.h). Scratch is the block's. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__) ||               \
    defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#include "ctn.h"
#include "dot_v7m.h"
#include "short_store.h"
#include "vector_v7m.h"

static int32_t sum_of(const int8_t *p, int32_t count) {
    int32_t sum = 0;
    for (; count >= 4; count -= 4, p += 4)
        sum += p[0] + p[1] + p[2] + p[3];
    for (; count > 0; count--)
        sum += *p++;
    return sum;
}

/* A column beyond fours. */
static int8_t one_column(const CtnVectorV7m *v, const int8_t *weights) {
    int32_t sum = 0;
    for (int32_t k = 0; k < v->depth; k++)
        sum += v->input[k] * weights[k];
    weights += v->depth;
    sum = ctn_stream_word(weights) + 2 * sum;
    return ctn_short_store(sum, ctn_stream_word(weights + 4), weights[8], v->zero, v->tail,
                           v->table);
}

static void row_by_row(const CtnLinearS8Args *a, const CtnFrame *frame) {
    const int8_t *table = ctn_at(frame, a->table);
    int32_t four = 4 * a->depth + CTN_VECTOR_FOUR;
    CtnVectorV7m v = {.input = ctn_at(frame, a->input),
                      .depth = a->depth,
                      .tail = ctn_tail_of(a->clamp_max, table),
                      .zero = 2 * a->output_zero_point + 1,
                      .table = table ? table + a->clamp_max + 1 : table,
                      .output = ctn_at(frame, a->output),
                      .weights = ctn_at(frame, a->weights)};
    v.weights_end = v.weights + (a->columns >> 2) * four;
    for (int32_t row = 0; row < a->rows; row++, v.input += a->depth) {
        v.input_sum = 256 * sum_of(v.input, a->depth);
        if (v.weights != v.weights_end)
            ctn_vector_4_v7m(&v);
        v.output += a->columns & ~3;
        const int8_t *weights = v.weights_end;
        for (int32_t i = a->columns & 3; i > 0; i--, weights += a->depth + CTN_VECTOR_ONE)
            *v.output++ = one_column(&v, weights);
    }
}

/* One segment of four rows. */
static void segment(CtnDotV7m *dot, const CtnLinearS8Args *a, const int8_t *const row[4],
                    int32_t *pairs, int32_t first, int32_t step) {
    const int8_t *from[4];
    int last = first + step >= a->depth;
    int32_t count = last ? a->depth - first : step;
    for (int i = 0; i < 4; i++)
        from[i] = row[i] + first;
    ctn_expand_v7m(from, pairs, count);
    dot->sum = !last ? CTN_SUM_PART : first == 0 ? CTN_SUM_WHOLE : CTN_SUM_LAST;
    ctn_dot_depth_v7m(dot, count);
    ctn_dot_block_v7m(dot, count, a->columns);
}

static void in_fours(const CtnLinearS8Args *a, const CtnFrame *frame) {
    const int8_t *input = ctn_at(frame, a->input);
    int8_t *output = ctn_at(frame, a->output);
    int32_t *pairs = ctn_at(frame, a->scratch), step = ctn_dot_share(a->depth, CTN_DOT_DEPTH);
    CtnDotV7m dot = ctn_dot_begin_v7m(a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    dot.pairs = pairs;
    dot.sums = pairs + 2 * step;
    for (int32_t at = 0; at < a->rows; at += 4) {
        const int8_t *row[4];
        for (int32_t i = 0; i < 4; i++) {
            int32_t index = at + i < a->rows ? at + i : a->rows - 1;
            row[i] = input + index * a->depth;
            dot.row[i] = output + index * a->columns;
        }
        if (step < a->depth)
            for (int32_t i = 0; i < 4 * a->columns; i++)
                dot.sums[i] = 0;
        dot.weights = ctn_at(frame, a->weights);
        for (int32_t first = 0; first < a->depth; first += step)
            segment(&dot, a, row, pairs, first, step);
    }
}

void ctn_linear_s8_v7m(const CtnLinearS8Args *a, const CtnFrame *frame) {
    if (a->rows < CTN_DOT_ROWS)
        row_by_row(a, frame);
    else
        in_fours(a, frame);
}
#endif
