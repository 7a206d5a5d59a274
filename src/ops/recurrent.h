/* One direction of one recurrent layer, as its kernel has it (runtime/gate.h): for writers of other
 * programs too. */
#ifndef CORTEN_RECURRENT_H
#define CORTEN_RECURRENT_H

#include "ops/ops.h"

typedef enum { RECURRENT_LSTM, RECURRENT_GRU, RECURRENT_RNN } RecurrentKind;

typedef struct { /* input [steps][batches][in_size], output [steps][batches][size] */
    RecurrentKind kind;
    int64_t steps, batches, in_size, size, gates; /* gates: of all kinds together */
    bool reverse, relu;
} Recurrent;

/* Reads a core row of recurrent.c with constant weights; else false, with a diagnostic. */
bool recurrent_ready(C *c, const Node *n, Recurrent *l);

typedef struct { /* int8 [gates][depth], and what brings each gate's product with int8 to Q15.16 */
    int8_t *weight;
    int32_t *multiplier, *shift;
} GateRows;
GateRows recurrent_rows(C *c, const Array *weights, double scale);
/* In Q15.16: both biases, or their sum where the gates need no more. */
const int32_t *recurrent_bias(C *c, const Node *n, const Recurrent *l, int64_t *count);
/* sigmoid or tanh from Q3.12 to Q0.15. */
void recurrent_table(bool tangent, int16_t entry[WIDE_ENTRIES]);
/* From what a step computes to the output's grid. */
double recurrent_factor(const Node *n, const Recurrent *l);
int32_t recurrent_state_bits(const Value *state); /* behind the point of an int16 state */

#endif
