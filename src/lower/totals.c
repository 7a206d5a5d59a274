/* What a planned graph will need, before anything is compiled or run. Every constant of the emitted
 * source is counted once, under what it is; what the compiler adds to them is nothing, since each
 * object there is a multiple of CONSTANTS_ALIGN, which no compiler asks more than. */
#include "lower/memory.h"

#include <string.h>

static const struct {
    const char *field;
    ConstantRole role;
} roles[] = {
    {"weights", CONSTANT_WEIGHTS},      {"x_weights", CONSTANT_WEIGHTS},
    {"h_weights", CONSTANT_WEIGHTS},    {"gamma", CONSTANT_WEIGHTS},
    {"bias", CONSTANT_BIASES},          {"beta", CONSTANT_BIASES},
    {"multiplier", CONSTANT_FACTORS},   {"shift", CONSTANT_FACTORS},
    {"x_multiplier", CONSTANT_FACTORS}, {"x_shift", CONSTANT_FACTORS},
    {"h_multiplier", CONSTANT_FACTORS}, {"h_shift", CONSTANT_FACTORS},
    {"table", CONSTANT_TABLES},         {"a_table", CONSTANT_TABLES},
    {"b_table", CONSTANT_TABLES},       {"exponentials", CONSTANT_TABLES},
    {"sigmoid", CONSTANT_TABLES},       {"tangent", CONSTANT_TABLES},
    {"cell", CONSTANT_TABLES},          {"start", CONSTANT_TABLES},
    {"piece", CONSTANT_TABLES},         {"addends", CONSTANT_TABLES},
    {"sum_table", CONSTANT_TABLES},
};

ConstantRole constant_role(const Call *call, const CallRef *ref) {
    if (!ref->buffer || ref->buffer->kind != BUFFER_CONSTANT)
        return CONSTANT_NONE;
    const Kernel *k = kernel_at(call->kernel);
    const char *name = "";
    for (int i = 0; i < k->field_count; i++)
        if (k->field[i].offset == ref->field_offset)
            name = k->field[i].name;
    for (size_t i = 0; i < COUNT_OF(roles); i++)
        if (strcmp(roles[i].field, name) == 0)
            return roles[i].role;
    return CONSTANT_NUMBERS;
}

static ConstantRole buffer_role(const Graph *g, const Buffer *b) {
    for (const Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++)
            if (call->ref[r].buffer == b)
                return constant_role(call, &call->ref[r]);
    return CONSTANT_NONE;
}

/* Equal constants share one place: the first stands for all. */
static bool is_first_there(const Graph *g, const Buffer *b) {
    for (int i = 0; i < b->id; i++) {
        const Buffer *o = g->buffer[i];
        if (o->kind == BUFFER_CONSTANT && o->last_call >= 0 && o->region == b->region &&
            o->offset == b->offset)
            return false;
    }
    return true;
}

static void add_constant(Totals *t, ConstantRole role, const Buffer *b) {
    switch (role) {
    case CONSTANT_WEIGHTS:
        t->weights += b->bytes - b->biases - b->factors;
        t->biases += b->biases;
        t->factors += b->factors;
        break;
    case CONSTANT_BIASES:
        t->biases += b->bytes;
        break;
    case CONSTANT_FACTORS:
        t->factors += b->bytes;
        break;
    case CONSTANT_TABLES:
        t->tables += b->bytes;
        break;
    case CONSTANT_NUMBERS:
    case CONSTANT_NONE:
        t->numbers += b->bytes;
        break;
    }
}

const Array *state_initial(const State *s) {
    const Array *a = s->before->initial;
    for (int64_t k = 0; a && k < array_bytes(a); k++)
        if (((const char *)a->data)[k] != 0)
            return a;
    return NULL;
}

Totals plan_totals(const Graph *g) {
    Totals t = {.arena = g->arena_bytes,
                .state = g->state_bytes,
                .inputs = g->input_bytes,
                .outputs = g->output_bytes,
                .scratch = g->scratch_bytes};
    int64_t stored = 0;
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (b->kind != BUFFER_CONSTANT || b->last_call < 0 || !is_first_there(g, b))
            continue;
        add_constant(&t, buffer_role(g, b), b);
        stored += b->bytes;
    }
    for (const Call *call = g->first_call; call; call = call->next)
        t.calls += call->args_bytes;
    for (int i = 0; i < g->strip_count; i++)
        t.steps += strip_table_bytes(&g->strip[i]);
    for (int i = 0; i < g->state_count; i++)
        if (state_initial(&g->state[i]))
            t.initial += align_up(array_bytes(state_initial(&g->state[i])), CONSTANTS_ALIGN);
    t.padding = g->weights_bytes - stored + align_up(t.calls + t.steps, CONSTANTS_ALIGN) - t.calls -
                t.steps;
    t.rodata = t.weights + t.biases + t.factors + t.tables + t.numbers + t.padding + t.calls +
               t.steps + t.initial;
    return t;
}
