/* A model with state: the same input again gives something else, and behind a reset, or another
 * init, what it gave at first. */
#include MODEL_H

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

static CTN_ALIGN(16) uint8_t arena[ARENA_BYTES + 16];
static CTN_ALIGN(16) uint8_t state[STATE_BYTES + 16];
static uint8_t first[OUTPUT_BYTES];

/* Does a run on the one input give what the first one gave? */
static int as_at_first(JOIN(MODEL, _t) * model) {
    uint8_t *input = (uint8_t *)JOIN(MODEL, _input0)(model);
    for (int i = 0; i < (int)INPUT_BYTES; i++)
        input[i] = (uint8_t)(i * 37 + 11);
    JOIN(MODEL, _run)(model);
    return memcmp(JOIN(MODEL, _output0)(model), first, OUTPUT_BYTES) == 0;
}

int main(void) {
    JOIN(MODEL, _t) model;
    memset(state, 0x5a, sizeof state); /* what memory holds that nobody has cleared */
    JOIN(MODEL, _init)(&model, arena, state);
    as_at_first(&model);
    memcpy(first, JOIN(MODEL, _output0)(&model), OUTPUT_BYTES);
    int changed = !as_at_first(&model);
    changed |= !as_at_first(&model);
    if (!changed)
        return 1;
    JOIN(MODEL, _reset)(&model);
    if (!as_at_first(&model))
        return 2;
    JOIN(MODEL, _init)(&model, arena, state);
    return as_at_first(&model) ? 0 : 3;
}
