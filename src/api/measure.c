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

/* With so few dB about its mean an output says little of what the float model computes. */
enum { POOR_DB = 10 };

/* The first node from which on all that leads to v is poor, or was not measured by itself; NULL:
 * none is. */
static const Node *first_poor(C *c, const Graph *g, const double *varying_db, const Value *v) {
    const Node *first = NULL;
    bool *leads = NEW_ARRAY(c, bool, g->value_count + 1); /* by id of values */
    leads[v->id] = true;
    for (const Node *n = g->last; n; n = n->prev) {
        bool read = false;
        for (int k = 0; k < n->out_count; k++)
            read |= leads[n->out[k]->id];
        if (!read || varying_db[n->index] >= POOR_DB)
            continue;
        first = isnan(varying_db[n->index]) ? first : n;
        for (int k = 0; k < node_operand_count(n); k++)
            leads[node_operand(n, k)->id] = true;
    }
    return first;
}

static void warn_of_poor_output(C *c, const Graph *g, const double *varying_db, int output,
                                const Noise *n) {
    const Node *first = first_poor(c, g, varying_db, g->output[output].u.value);
    bool mean = noise_db(n) >= POOR_DB; /* which has more power than all that varies */
    diag_warning(c, first ? &first->loc : NULL,
                 "output %d keeps %s%s of the float model over the calibration samples%s%s; "
                 "corten sensitivity says what costs most",
                 output, db_text(c, mean ? noise_varying_db(n) : noise_db(n)),
                 mean ? ", about its mean," : "",
                 first ? ", and less than 10 dB from here on: " : "", first ? first->name : "");
}

/* One call's node may be another's too: the last that writes it counts. */
void measure_note(C *c, Graph *lowered, const Comparison *k) {
    graph_index(lowered);
    double *varying_db = NEW_ARRAY(c, double, lowered->node_count + 1); /* by node */
    for (int i = 0; i < lowered->node_count; i++)
        varying_db[i] = NAN;
    for (Call *call = lowered->first_call; call; call = call->next) {
        const Noise *n = comparison_call(k, call);
        if (!call->node || n->signal <= 0)
            continue;
        call->node->sqnr_db = noise_db(n);
        varying_db[call->node->index] = noise_varying_db(n);
    }
    lowered->output_sqnr_db = NEW_ARRAY(c, double, lowered->output_count + 1);
    for (int i = 0; i < lowered->output_count; i++) {
        const Noise *n = comparison_output(k, i);
        lowered->output_sqnr_db[i] = n->signal > 0 || n->all.noise > 0 ? noise_db(n) : NAN;
        if (lowered->output_sqnr_db[i] < POOR_DB || noise_varying_db(n) < POOR_DB)
            warn_of_poor_output(c, lowered, varying_db, i, n);
    }
}
