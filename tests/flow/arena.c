/* A model on an arena of exactly the reported size, with guards around it: no byte outside of it
 * may change, and an arena that does not lie as reported must be refused. */
#include MODEL_H

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { GUARD = 64, ROOM = ARENA_BYTES + 2 * GUARD };

static _Alignas(64) uint8_t memory[ROOM];

static int untouched(const uint8_t *p) {
    for (int i = 0; i < GUARD; i++)
        if (p[i] != 0xa5)
            return 0;
    return 1;
}

int main(void) {
    JOIN(MODEL, _t) model;
    memset(memory, 0xa5, sizeof memory);
    if (JOIN(MODEL, _init)(&model, memory + 4, 0) == 0)
        return 1;
    if (JOIN(MODEL, _init)(&model, memory + GUARD, 0) != 0)
        return 2;
    memset(JOIN(MODEL, _input0)(&model), 3, INPUT_BYTES);
    JOIN(MODEL, _run)(&model);
    if (!untouched(memory) || !untouched(memory + GUARD + ARENA_BYTES))
        return 3;
    uint8_t *output = (uint8_t *)JOIN(MODEL, _output0)(&model);
    return output >= memory + GUARD && output + OUTPUT_BYTES <= memory + GUARD + ARENA_BYTES ? 0
                                                                                             : 4;
}
