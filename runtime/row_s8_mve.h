/* The inner loop of MVE fully connected layers: a row times groups of eight columns. The row is
 * 16 * chunks bytes; what lies behind a shorter one meets zero weights. */
#ifndef CTN_ROW_S8_MVE_H
#define CTN_ROW_S8_MVE_H

#include <stdint.h>

enum {
    CTN_ROW_CHUNK = 68,      /* bytes of code for one chunk */
    CTN_ROW_PARAMETERS = 72, /* bytes behind the weights of a group */
};

/* Weights of a group: per chunk 16 bytes of each of its eight columns; then two int32 [4] each of
 * bias and multiplier, and two int8 [4] of shift: columns 0, 2, 4, 6 and 1, 3, 5, 7. Bias has
 * -zero_point * (sum of weights) in it; all shifts are -1 or less. The order of the fields is that
 * of the assembly. */
typedef struct {
    const int8_t *in;
    int8_t *out;
    const int8_t *weights;
    int32_t passes, code; /* of the loop of four chunks, and where it is entered */
    int32_t columns, rows;
    int32_t in_step, out_step; /* from row to row */
    int32_t zero_point, clamp_min, clamp_max;
    const int8_t *table;
} CtnRow;

/* The blocks for one kind of weights; the ends of a sum are those of block_mve.h. */
typedef struct {
    void (*exact)(const CtnRow *r);
    void (*relu)(const CtnRow *r);
    void (*table)(const CtnRow *r);
} CtnRowKind;

extern const CtnRowKind ctn_row_s8_mve;

#endif
