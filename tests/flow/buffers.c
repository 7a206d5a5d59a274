/* Inputs in two buffers that take turns: the next is filled before the run of the first has ended,
 * which reads only its own and leaves it as it was. */
#include MODEL_H

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { COUNT = 2 };

static CTN_ALIGN(16) uint8_t arena[ARENA_BYTES];
static CTN_ALIGN(16) uint8_t input[COUNT][DIGITS_SILU_INPUTS_BYTES];
static uint8_t output[COUNT][OUTPUT_BYTES], before[COUNT][DIGITS_SILU_INPUTS_BYTES];

static void fill(int which) {
    for (int i = 0; i < (int)INPUT_BYTES; i++)
        input[which][i] = before[which][i] = (uint8_t)(i * (37 + which) + 11);
}

int main(void) {
    JOIN(MODEL, _t) model;
    if (JOIN(MODEL, _init)(&model, arena, 0) != 0)
        return 1;
    fill(0);
    for (int turn = 0; turn < 2 * COUNT; turn++) {
        int now = turn % COUNT, next = (turn + 1) % COUNT;
        JOIN(MODEL, _bind_inputs)(&model, input[now]);
        if ((uint8_t *)JOIN(MODEL, _input0)(&model) != input[now])
            return 2;
        while (JOIN(MODEL, _step)(&model))
            fill(next);
        if (memcmp(input[now], before[now], sizeof input[now]) != 0)
            return 3;
        if (turn < COUNT)
            memcpy(output[now], JOIN(MODEL, _output0)(&model), OUTPUT_BYTES);
        else if (memcmp(output[now], JOIN(MODEL, _output0)(&model), OUTPUT_BYTES) != 0)
            return 4;
    }
    return memcmp(output[0], output[1], OUTPUT_BYTES) != 0 ? 0 : 5;
}
