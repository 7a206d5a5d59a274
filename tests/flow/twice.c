/* A model that keeps its inputs: written once and run twice, the input and the output are the
 * same. */
#include MODEL_H

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

static _Alignas(16) uint8_t memory[ARENA_BYTES];
static uint8_t before[INPUT_BYTES], first[OUTPUT_BYTES];

int main(void) {
    JOIN(MODEL, _t) model;
    if (JOIN(MODEL, _init)(&model, memory, 0) != 0)
        return 1;
    for (int i = 0; i < (int)INPUT_BYTES; i++)
        before[i] = (uint8_t)(i * 37 + 11);
    memcpy(JOIN(MODEL, _input0)(&model), before, sizeof before);
    JOIN(MODEL, _run)(&model);
    memcpy(first, JOIN(MODEL, _output0)(&model), sizeof first);
    if (memcmp(JOIN(MODEL, _input0)(&model), before, sizeof before) != 0)
        return 2;
    JOIN(MODEL, _run)(&model);
    return memcmp(JOIN(MODEL, _output0)(&model), first, sizeof first) == 0 ? 0 : 3;
}
