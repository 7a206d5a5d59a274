/* Two instances of a model, stepped in turns on memory of their own, each with its own input: they
 * give what whole runs give, a step does one traced call, and the trace sees where the output is.
 */
#include MODEL_H

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

enum { COUNT = 2, STATE = STATE_BYTES + 16 };

typedef JOIN(MODEL, _t) Model;

static CTN_ALIGN(16) uint8_t arena[COUNT][(ARENA_BYTES + 15) / 16 * 16];
static CTN_ALIGN(16) uint8_t state[COUNT][(STATE + 15) / 16 * 16];
static uint8_t whole[COUNT][OUTPUT_BYTES];
static uint8_t traced[OUTPUT_BYTES];
static int begun, ended, nested;

void JOIN(MODEL, _trace)(const Model *self, int k, int done);
void JOIN(MODEL, _trace)(const Model *self, int k, int done) {
    const CtnCallInfo *info = &JOIN(MODEL, _call_info)[k];
    if (!done) {
        nested += begun++ != ended;
        return;
    }
    nested += begun != ++ended;
    if (info->bytes == OUTPUT_BYTES)
        memcpy(traced, ctn_at(&self->frame, info->output), OUTPUT_BYTES);
}

static void write_input(Model *model, int which) {
    uint8_t *input = (uint8_t *)JOIN(MODEL, _input0)(model);
    for (int i = 0; i < (int)INPUT_BYTES; i++)
        input[i] = (uint8_t)(i * (37 + which) + 11);
}

static int equals(const Model *model, const uint8_t *want) {
    return memcmp(JOIN(MODEL, _output0)(model), want, OUTPUT_BYTES) == 0;
}

int main(void) {
    Model model[COUNT];
    int left = 1;
    for (int m = 0; m < COUNT; m++) {
        JOIN(MODEL, _init)(&model[m], arena[m], state[m]);
        write_input(&model[m], m);
        JOIN(MODEL, _run)(&model[m]);
        memcpy(whole[m], JOIN(MODEL, _output0)(&model[m]), OUTPUT_BYTES);
        if (memcmp(traced, whole[m], OUTPUT_BYTES) != 0)
            return 1;
        JOIN(MODEL, _reset)(&model[m]);
        write_input(&model[m], m);
    }
    if (memcmp(whole[0], whole[1], OUTPUT_BYTES) == 0)
        return 2;
    int of_whole_runs = begun;
    for (int step = 1; left; step++) {
        for (int m = 0; m < COUNT; m++)
            left = JOIN(MODEL, _step)(&model[m]);
        if (begun != of_whole_runs + COUNT * step)
            return 3;
    }
    if (begun != 2 * of_whole_runs || nested)
        return 4;
    return equals(&model[0], whole[0]) && equals(&model[1], whole[1]) ? 0 : 5;
}
