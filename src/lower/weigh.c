/* The choice among a call's variants by what was measured (measured.h). The last row of the table
 * that accepts a call is the one that was written to be fast; another one is taken
 *
 *   for speed, call by call, if it is estimated to take fewer instructions by more than estimates
 *      may err;
 *   for size, kernel by kernel, if all calls that accept it then need less code together with what
 *      else the model links, and that does not add more than twice what the model took at first.
 *
 * Variants without a row in the tables keep out of it. */
#include "lower/lower.h"

#include <math.h>

enum { MORE_AT_MOST = 2 };

static const double estimate_error = 0.1;

typedef struct {
    C *c;
    Graph *g;
    const Options *options;
    double instructions; /* of the model at first */
} Scale;

static double with_variant(const Scale *s, const Call *call, const Variant *v) {
    Call other = *call;
    other.variant = v;
    return call_instructions(s->g, &other, s->options);
}

static bool could_take(const Call *call, const Variant *v, const char *isa) {
    return v->kernel == call->kernel && v != call->variant && !variant_is_given(call) &&
           variant_runs_on(v, isa) && v->accepts(call);
}

static void weigh_instructions(const Scale *s, Call *call) {
    const char *isa = s->options->isa;
    double least = (1 - estimate_error) * with_variant(s, call, call->variant);
    for (int i = 0; i < variant_table_count; i++) {
        const Variant *v = &variant_table[i];
        double count = v->small ? NAN : with_variant(s, call, v);
        if (count < least && could_take(call, v, isa)) {
            least = count;
            call->variant = v;
        }
    }
}

static int64_t code_of(const Scale *s) {
    Totals t = {0};
    return plan_code(s->c, s->g, s->options, &t) ? t.kernel_code : INT64_MAX;
}

/* Gives v to all calls that accept it, unless that saves no code or costs too much. `kept` has room
 * for the variants of all calls. */
static void try_for_all(const Scale *s, const Variant *v, const Variant **kept) {
    int64_t before = code_of(s);
    double more = 0;
    int count = 0;
    for (Call *call = s->g->first_call; call; call = call->next) {
        kept[count++] = call->variant;
        if (!could_take(call, v, s->options->isa))
            continue;
        double old = call_instructions(s->g, call, s->options);
        call->variant = v;
        more += call_instructions(s->g, call, s->options) - old;
    }
    if (code_of(s) < before && more <= MORE_AT_MOST * s->instructions)
        return;
    count = 0;
    for (Call *call = s->g->first_call; call; call = call->next)
        call->variant = kept[count++];
}

static void weigh_code(const Scale *s) {
    const Variant **kept = NEW_ARRAY(s->c, const Variant *, s->g->call_count);
    for (int i = 0; i < variant_table_count; i++)
        try_for_all(s, &variant_table[i], kept);
}

void variants_weigh(C *c, Graph *g, const Options *o) {
    Scale s = {c, g, o, 0};
    for (Call *call = g->first_call; call; call = call->next)
        s.instructions += call_instructions(g, call, o);
    if (o->optimize_size)
        weigh_code(&s);
    else
        for (Call *call = g->first_call; call; call = call->next)
            weigh_instructions(&s, call);
}
