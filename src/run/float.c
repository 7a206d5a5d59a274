/* A run in float: the graph's own rows, before any rounding. State lives in the graph's `before`
 * values from run to run, as on the chip. */
#include "run/run.h"

#include <string.h>

static Array *copy_array(C *c, const Array *a) {
    Array *copy = array_new(c, a->dtype, a->rank, a->dim);
    if (array_bytes(a) > 0)
        memcpy(copy->data, a->data, (size_t)array_bytes(a));
    return copy;
}

void run_float(C *c, Graph *g, Array *const *inputs, Array **outputs) {
    run_float_watched(c, g, inputs, outputs, NULL, NULL);
}

void run_float_watched(C *c, Graph *g, Array *const *inputs, Array **outputs,
                       void (*seen)(void *user, const Value *v, const Array *a), void *user) {
    Env *env = env_new(c, g), *outer = c->env;
    for (int k = 0; k < g->input_count; k++)
        if (g->input[k].kind == ARG_VALUE)
            env_set(env, g->input[k].u.value, inputs[k]);
    c->env = env;
    graph_eval(c, g, env, false, seen, user);
    for (int k = 0; k < g->output_count; k++)
        outputs[k] = g->output[k].kind == ARG_VALUE
                         ? copy_array(c, env_get(env, g->output[k].u.value))
                         : NULL;
    Array **after = NEW_ARRAY(c, Array *, g->state_count + 1);
    for (int i = 0; i < g->state_count; i++)
        after[i] = copy_array(c, env_get(env, g->state[i].after));
    for (int i = 0; i < g->state_count; i++)
        g->state[i].before->initial = after[i];
    env_free(env);
    c->env = outer;
}
