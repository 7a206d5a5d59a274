/* What rounding costs a compiled model, measured on its calibration samples: the lowered graph runs
 * bit for bit beside the archive in float. Large models take as many samples as a second or so
 * allows, small ones all. */
#include "api/session.h"

#include <math.h>

/* Multiplications of all samples together. */
#define WORK 4e8

static int samples_affordable(const Graph *g, int count) {
    double macs = 1;
    for (const Call *call = g->first_call; call; call = call->next)
        macs += (double)call->macs;
    return macs * count <= WORK ? count : WORK / macs < 1 ? 1 : (int)(WORK / macs);
}

/* The states that a sample brings, on both sides. */
static void set_states(C *c, Simulator *simulator, const Graph *lowered, Graph *reference,
                       Array *const *sample) {
    for (int k = 0; k < lowered->state_count; k++) {
        int slot = lowered->state[k].slot;
        if (slot < 0 || !sample[slot])
            continue;
        simulator_set_state(c, simulator, k, sample[slot]);
        for (int i = 0; i < reference->state_count; i++)
            if (reference->state[i].slot == slot)
                reference->state[i].before->initial = sample[slot];
    }
}

Comparison *measure(C *c, const Session *s, Graph *lowered, Graph *reference) {
    const Options *o = &s->compile;
    Simulator *simulator = simulator_spread(c, lowered);
    if (!simulator)
        return NULL;
    Comparison *k = comparison_new(c, lowered, reference, simulator);
    Array **integers = NEW_ARRAY(c, Array *, lowered->output_count + 1);
    Array **floats = NEW_ARRAY(c, Array *, lowered->output_count + 1);
    int count = samples_affordable(lowered, o->sample_count);
    for (int i = 0; i < count; i++) {
        set_states(c, simulator, lowered, reference, o->sample[i]);
        comparison_run(c, k, o->sample[i], o->sample[i], integers, floats);
        c_progress(c, "measuring", (double)(i + 1) / count);
        c_stop_if_asked(c);
    }
    simulator_free(simulator);
    return k;
}

/* Below so many dB an output says little of what the float model computes. */
enum { POOR_DB = 10 };

/* The first node from which on all that leads to v is poor, or was not measured by itself; NULL:
 * none is. */
static const Node *first_poor(C *c, const Graph *g, const Value *v) {
    const Node *first = NULL;
    bool *leads = NEW_ARRAY(c, bool, g->value_count + 1); /* by id of values */
    leads[v->id] = true;
    for (const Node *n = g->last; n; n = n->prev) {
        bool read = false;
        for (int k = 0; k < n->out_count; k++)
            read |= leads[n->out[k]->id];
        if (!read || n->sqnr_db >= POOR_DB)
            continue;
        first = isnan(n->sqnr_db) ? first : n;
        for (int k = 0; k < node_operand_count(n); k++)
            leads[node_operand(n, k)->id] = true;
    }
    return first;
}

static void warn_of_poor_output(C *c, const Graph *g, int output) {
    const Node *first = first_poor(c, g, g->output[output].u.value);
    diag_warning(c, first ? &first->loc : NULL,
                 "output %d keeps %s of the float model over the calibration samples%s%s; "
                 "corten sensitivity says what costs most",
                 output, db_text(c, g->output_sqnr_db[output]),
                 first ? ", and less than 10 dB from here on: " : "", first ? first->name : "");
}

/* One call's node may be another's too: the last that writes it counts. */
void measure_note(C *c, Graph *lowered, const Comparison *k) {
    for (Call *call = lowered->first_call; call; call = call->next)
        if (call->node && comparison_call(k, call)->signal > 0)
            call->node->sqnr_db = noise_db(comparison_call(k, call));
    lowered->output_sqnr_db = NEW_ARRAY(c, double, lowered->output_count + 1);
    for (int i = 0; i < lowered->output_count; i++) {
        const Noise *n = comparison_output(k, i);
        lowered->output_sqnr_db[i] = n->signal > 0 || n->all.noise > 0 ? noise_db(n) : NAN;
        if (lowered->output_sqnr_db[i] < POOR_DB)
            warn_of_poor_output(c, lowered, i);
    }
}
