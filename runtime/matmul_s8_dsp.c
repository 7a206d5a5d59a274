/* Product of two activations on DSP cores, by the matrix block with int16 weights (dot_dsp.h): rows
 * of the left operand against columns of the right one, less its zero point, packed as many at a
 * time as scratch holds. The left zero point is in the bias: -2 (z + 128) times the column's sum.
 * Of an odd number of columns the last pair starts one earlier; a product with one column is taken
 * as its transpose, which lies in memory alike. scratch: rows, columns, one row of bytes. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dot_dsp.h"
#include "loop.h"
#include "word.h"

typedef struct {
    const int8_t *q;
    int32_t count, step, depth_step, zero_point; /* rows or columns */
} Operand;

typedef struct {
    const CtnMatmulS8Args *a;
    CtnDotDsp dot;
    uint32_t *rows, *columns;
    int8_t *bytes;
    int32_t steps;
} Product;

/* int16 2 apart: words (d0, d2) and (d1, d3) of four bytes less the zero point; their sum. */
static int32_t pack_step(const int8_t *q, int32_t depth_step, int32_t count, int32_t zero_point,
                         uint32_t *word) {
    int32_t d[4] = {0};
    for (int32_t i = 0; i < count; i++, q += depth_step)
        d[i] = *q - zero_point;
    word[0] = ((uint32_t)d[0] & 0xffffu) | (uint32_t)d[2] << 16;
    word[1] = ((uint32_t)d[1] & 0xffffu) | (uint32_t)d[3] << 16;
    return d[0] + d[1] + d[2] + d[3];
}

/* One column into every other two words; its bias. */
static int32_t pack_column(const Product *p, const Operand *right, const int8_t *q,
                           int32_t left_zero_point, uint32_t *word) {
    int32_t sum = 0, depth = p->a->depth, k = 0;
    for (; k <= depth - 4; k += 4, word += 4, q += 4 * right->depth_step)
        sum += pack_step(q, right->depth_step, 4, right->zero_point, word);
    if (k < depth)
        sum += pack_step(q, right->depth_step, depth - k, right->zero_point, word);
    return -2 * (left_zero_point + 128) * sum;
}

/* Pairs of columns that start at `first`; the words behind them. */
static uint32_t *pack_pair(const Product *p, const Operand *right, int32_t first,
                           int32_t left_zero_point, uint32_t *word) {
    const int8_t *q = right->q + first * right->step;
    uint32_t shift = (uint32_t)(-p->a->shift - 1);
    word[0] = (uint32_t)pack_column(p, right, q, left_zero_point, word + 2);
    word[1] = (uint32_t)pack_column(p, right, q + right->step, left_zero_point, word + 4);
    word += 2 + 4 * p->steps;
    word[0] = word[2] = (uint32_t)p->a->multiplier;
    word[1] = shift << 8 | shift;
    return word + 3;
}

static void expand_row(const Product *p, const Operand *left, int32_t row, int32_t slot) {
    const int8_t *q = left->q + row * left->step;
    if (left->depth_step != 1) {
        for (int32_t k = 0; k < p->a->depth; k++, q += left->depth_step)
            p->bytes[k] = *q;
        q = p->bytes;
    }
    ctn_expand_dsp(q, p->rows + 2 * slot, p->a->depth);
}

/* The packed columns, from column `first` on, against all rows. `tail` is a last pair that starts
 * one column before the others end, or null. */
static void run_columns(Product *p, const Operand *left, int32_t pitch, int32_t columns,
                        const uint32_t *end, const uint32_t *tail, int8_t *output) {
    int32_t block = left->count < CTN_DOT_ROWS ? 1 : CTN_DOT_ROWS;
    p->dot.output_stride = block == 1 ? 0 : pitch;
    for (int32_t row = 0; row < left->count; row += block) {
        int32_t first = row > left->count - block ? left->count - block : row;
        for (int32_t i = 0; i < block; i++)
            expand_row(p, left, first + i, i);
        p->dot.weights = (const uint8_t *)p->columns;
        p->dot.weights_end = (const uint8_t *)(tail ? tail : end);
        p->dot.output = output + first * pitch;
        if (p->dot.weights != p->dot.weights_end)
            ctn_dot_3x2_s16_dsp(&p->dot);
        if (tail) {
            p->dot.weights = (const uint8_t *)tail;
            p->dot.weights_end = (const uint8_t *)end;
            p->dot.output = output + first * pitch + columns - 2;
            ctn_dot_3x2_s16_dsp(&p->dot);
        }
    }
}

static void run(Product *p, const Operand *left, const Operand *right, int8_t *output) {
    int32_t most = ctn_dot_columns_s16(right->count, p->steps);
    for (int32_t column = 0; column < right->count; column += most) {
        int32_t count = right->count - column < most ? right->count - column : most;
        if (count == 1) { /* the last of several blocks */
            column--;
            count = 2;
        }
        uint32_t *word = p->columns, *tail = 0;
        for (int32_t c = 0; c + 1 < count; c += 2)
            word = pack_pair(p, right, column + c, left->zero_point, word);
        if (count & 1) {
            tail = word;
            word = pack_pair(p, right, column + count - 2, left->zero_point, word);
        }
        run_columns(p, left, right->count, count, word, tail, output + column);
    }
}

void ctn_matmul_s8_dsp(const CtnMatmulS8Args *a, const CtnFrame *frame) {
    Product p = {.a = a, .rows = ctn_at(frame, a->scratch), .steps = ctn_dot_steps(a->depth)};
    Operand left = {ctn_at(frame, a->lhs), a->rows, a->lhs_row_stride, a->lhs_depth_stride,
                    a->lhs_zero_point};
    Operand right = {ctn_at(frame, a->rhs), a->columns, a->rhs_column_stride, a->rhs_depth_stride,
                     a->rhs_zero_point};
    int32_t turned = a->columns == 1, index[4] = {0}, l = 0, r = 0;
    const int8_t *lhs = left.q, *rhs = right.q;
    int8_t *output = ctn_at(frame, a->output);
    if (ctn_is_empty(4, a->batch))
        return;
    p.columns = p.rows + p.steps * CTN_DOT_STEP_WORDS;
    p.bytes = (int8_t *)p.columns + ctn_dot_columns_s16(turned ? a->rows : a->columns, p.steps) /
                                        2 * (CTN_DOT_PAIR_BYTES + 16 * p.steps);
    p.dot =
        ctn_dot_begin(p.rows, p.steps, a->output_zero_point, a->clamp_max, ctn_at(frame, a->table));
    p.dot.entry =
        (uint32_t)(-p.steps & (CTN_DOT_UNROLL - 1)) * CTN_DOT_STEP_CODE_S16 + 1; /* Thumb */
    do {
        left.q = lhs + l;
        right.q = rhs + r;
        if (turned)
            run(&p, &right, &left, output);
        else
            run(&p, &left, &right, output);
        output += a->rows * a->columns;
    } while (ctn_step(4, a->batch, index, a->lhs_batch_stride, &l, a->rhs_batch_stride, &r));
}
#endif
