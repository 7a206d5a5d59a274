/* Fully connected layer with weights of 4 bits on DSP cores, for one or two rows: four columns at a
 * time straight from the input's bytes. Products of more rows are convolutions of single pixels
 * (pack_int4.c).
 *
 * weights: for each four columns one stream: four int32 biases with the input's offset folded in;
 * per four bytes of depth a word of bytes 16 * w1 + w0 + 8 of the first two columns and one of the
 * others; four multipliers; their shifts in the bytes of a word. Columns that are left over have a
 * stream each with bytes of 8 bits: bias, bytes, multiplier, shift. Sums are those of
 * dot_w4_dsp.c; the store is that of short_store.h. */
#if defined(__ARM_FEATURE_DSP) || defined(CTN_EMULATE)
#include "ctn.h"
#include "dsp.h"
#include "short_store.h"
#include "word.h"

enum { COLUMNS = 4 };

typedef struct {
    const int8_t *input;
    uint32_t last; /* the last word of the input, filled up, if there is one */
    int32_t words, has_last, eights, zero;
    uint32_t tail;
    const int8_t *table;
} Row;

typedef struct {
    int32_t whole[2], high[2]; /* of both pairs of columns */
} Sums;

static inline void step(Sums *s, uint32_t q, const uint32_t weights[2]) {
    const uint32_t high = 0xfff0fff0u;
    uint32_t even = ctn_sxtb16(q), odd = ctn_sxtb16_odd(q);
    for (int i = 0; i < 2; i++) {
        uint32_t e = ctn_sxtb16(weights[i]), o = ctn_sxtb16_odd(weights[i]);
        s->whole[i] = ctn_smlad(odd, o, ctn_smlad(even, e, s->whole[i]));
        s->high[i] = ctn_smlad(odd, o & high, ctn_smlad(even, e & high, s->high[i]));
    }
}

static int8_t store(const Row *row, int32_t sum, uint32_t multiplier, uint32_t shift) {
    return ctn_short_store((int32_t)((uint32_t)sum << 1), (int32_t)multiplier,
                           (int32_t)(shift & 0xff), row->zero, row->tail, row->table);
}

/* Four columns; returns what follows their stream. */
static const uint32_t *four(const Row *row, const uint32_t *stream, int8_t *output) {
    const int8_t *x = row->input;
    const uint32_t *w = stream + COLUMNS;
    Sums s = {{0}, {0}};
    for (int32_t i = row->words >> 1; i > 0; i--, x += 8, w += 4) {
        step(&s, ctn_load_word(x), w);
        step(&s, ctn_load_word(x + 4), w + 2);
    }
    if (row->words & 1) {
        step(&s, ctn_load_word(x), w);
        w += 2;
    }
    if (row->has_last) {
        step(&s, row->last, w);
        w += 2;
    }
    for (int i = 0; i < 2; i++, output += 2) {
        int32_t first = 16 * (s.whole[i] - s.high[i] - row->eights), second = s.high[i];
        output[0] = store(row, first + (int32_t)stream[2 * i], w[2 * i], w[4] >> 16 * i);
        output[1] =
            store(row, second + (int32_t)stream[2 * i + 1], w[2 * i + 1], w[4] >> (16 * i + 8));
    }
    return w + 5;
}

static const uint32_t *one(const Row *row, const uint32_t *stream, int8_t *output) {
    const int8_t *x = row->input;
    int32_t sum = (int32_t)*stream++;
    for (int32_t i = 0; i < row->words + row->has_last; i++, x += 4) {
        uint32_t q = i < row->words ? ctn_load_word(x) : row->last, w = *stream++;
        sum = ctn_smlad(ctn_sxtb16(q), ctn_sxtb16(w), sum);
        sum = ctn_smlad(ctn_sxtb16_odd(q), ctn_sxtb16_odd(w), sum);
    }
    *output = store(row, sum, stream[0], stream[1]);
    return stream + 2;
}

static void begin(Row *row, int32_t depth) {
    const uint32_t ones = 0x00010001u;
    int32_t sum = 0;
    row->last = 0;
    for (int32_t k = depth & ~3; k < depth; k++)
        row->last |= (uint32_t)(uint8_t)row->input[k] << 8 * (k & 3);
    for (int32_t i = 0; i < row->words + row->has_last; i++) {
        uint32_t q = i < row->words ? ctn_load_word(row->input + 4 * i) : row->last;
        sum = ctn_smlad(ctn_sxtb16(q), ones, sum);
        sum = ctn_smlad(ctn_sxtb16_odd(q), ones, sum);
    }
    row->eights = 8 * sum;
}

void ctn_linear_s8w4_dsp(const CtnLinearS8W4Args *a, const CtnFrame *frame) {
    const int8_t *table = ctn_at(frame, a->table);
    int8_t *output = ctn_at(frame, a->output);
    Row row = {.input = ctn_at(frame, a->input),
               .words = a->depth >> 2,
               .has_last = (a->depth & 3) != 0,
               .zero = 2 * a->output_zero_point + 1,
               .tail = ctn_tail_of(a->clamp_max, table),
               .table = table ? table + a->clamp_max + 1 : table};
    for (int32_t i = 0; i < a->rows; i++, row.input += a->depth) {
        const uint32_t *stream = ctn_at(frame, a->weights);
        begin(&row, a->depth);
        for (int32_t n = a->columns >> 2; n > 0; n--, output += COLUMNS)
            stream = four(&row, stream, output);
        for (int32_t n = a->columns & 3; n > 0; n--)
            stream = one(&row, stream, output++);
    }
}
#endif
