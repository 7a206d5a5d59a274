/* The integer model beside float: both run on the same samples, and signal and noise are summed for
 * each output and for what each call writes. A float value belongs to a call if it has the name of
 * the value that the call writes; factors of equalization are taken out. */
#include "run/run.h"

#include <math.h>

struct Comparison {
    Graph *integer, *reference;
    Simulator *simulator;
    Noise *input, *output, *call;
    const Value **value; /* by id of the reference's value: that of a call, or NULL */
    int *index;          /* likewise: of that call */
};

double noise_db(const Noise *n) {
    return n->all.noise == 0 ? HUGE_VAL : 10 * log10(n->signal / n->all.noise);
}

double noise_varying_db(const Noise *n) {
    double power = n->signal - n->sum * n->sum / n->numbers;
    if (!(power > 1e-12 * n->signal)) /* what sums of doubles leave of nothing */
        return NAN;
    return n->all.noise == 0 ? HUGE_VAL : 10 * log10(power / n->all.noise);
}

double noise_share(const Noise *n, const NoisePart *part) {
    return n->all.count > 0 ? (double)part->count / (double)n->all.count : 0;
}

double noise_cost(const Noise *n, const NoisePart *part) {
    return n->all.noise > 0 ? part->noise / n->all.noise : 0;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static const Part *part_at(const Grid *grid, int64_t at) {
    int k = 0;
    while (k + 1 < grid->part_count && at >= grid->part[k].stop)
        k++;
    return &grid->part[k];
}

static int64_t inner_of(const Type *t, int axis) {
    int64_t inner = 1;
    for (int d = axis + 1; d < t->rank; d++)
        inner *= t->dim[d];
    return inner;
}

static void add_signal(Noise *n, double r) {
    n->signal += r * r;
    n->sum += r;
    n->numbers++;
}

static void add_to(NoisePart *part, double noise) {
    part->count++;
    part->noise += noise;
}

/* A float number is clipped where it lies more than a step beyond what the grid can hold. */
static void add_integers(Noise *n, const Array *want, const Value *v, const Array *got) {
    const Grid *grid = v->grid;
    int axis = grid->part_count > 1 ? grid->part[0].axis : 0;
    int64_t inner = inner_of(&v->type, axis), scaled = inner_of(&v->type, v->factor_axis);
    double first, last;
    grid_ends(grid, &first, &last);
    const Part *p = &grid->part[0];
    for (int64_t i = 0, count = array_count(want); i < count; i++) {
        if (grid->part_count > 1)
            p = part_at(grid, i / inner % v->type.dim[axis]);
        double factor = v->factor_count ? v->factor[i / scaled % v->factor_count] : 1;
        double r = array_get(want, i), q = array_get(got, i) - p->zero_point;
        if (!isfinite(r)) {
            n->left_out++;
            continue;
        }
        double d = r - (double)((float)p->scale * (float)q) / factor;
        double exact = r * factor / p->scale + p->zero_point;
        add_signal(n, r);
        add_to(&n->all, d * d);
        if (exact >= first - 1.001 && exact <= last + 1.001)
            continue;
        add_to(&n->clipped, d * d);
        if (n->seen && (r * factor < n->seen[0] || r * factor > n->seen[1]))
            add_to(&n->unseen, d * d);
    }
}

static void noise_add(Noise *n, const Array *want, const Value *v, const Array *got) {
    if (v->grid && !dtype_is_float(got->dtype)) {
        add_integers(n, want, v, got);
        return;
    }
    for (int64_t i = 0, count = array_count(want); i < count; i++) {
        double r = array_get(want, i), d = r - array_get(got, i);
        if (!isfinite(r)) {
            n->left_out++;
            continue;
        }
        add_signal(n, r);
        n->all.noise += d * d;
    }
}

/* ---- pairs --------------------------------------------------------------------------------- */

static const Value *value_named(const Graph *g, const char *name) {
    for (int i = 0; i < g->value_count; i++)
        if (text_equal(g->value[i]->name, name))
            return g->value[i];
    return NULL;
}

static void pair_values(Comparison *k) {
    for (const Call *call = k->integer->first_call; call; call = call->next) {
        const Value *out = call->node && call->node->out_count ? node_result(call->node) : NULL;
        const Value *same = out ? value_named(k->reference, out->name) : NULL;
        if (!same)
            continue;
        k->value[same->id] = out;
        k->index[same->id] = call->index;
    }
}

static void see_value(void *user, const Value *v, const Array *a) {
    Comparison *k = user;
    const Value *written = k->value[v->id];
    const Array *got = written ? simulator_value(k->integer->c, k->simulator, written) : NULL;
    if (got && array_count(got) == array_count(a))
        noise_add(&k->call[k->index[v->id]], a, written, got);
}

Comparison *comparison_new(C *c, Graph *integer, Graph *reference, Simulator *simulator) {
    Comparison *k = NEW(c, Comparison);
    *k = (Comparison){.integer = integer, .reference = reference, .simulator = simulator};
    k->input = NEW_ARRAY(c, Noise, integer->input_count + 1);
    k->output = NEW_ARRAY(c, Noise, integer->output_count + 1);
    k->call = NEW_ARRAY(c, Noise, integer->call_count + 1);
    k->value = NEW_ARRAY(c, const Value *, reference->value_count + 1);
    k->index = NEW_ARRAY(c, int, reference->value_count + 1);
    pair_values(k);
    return k;
}

void comparison_run(C *c, Comparison *k, Array *const *stored, Array *const *real, Array **integers,
                    Array **floats) {
    simulator_run(c, k->simulator, stored, integers);
    for (int i = 0; i < k->integer->input_count; i++) {
        const Value *v =
            k->integer->input[i].kind == ARG_VALUE ? k->integer->input[i].u.value : NULL;
        if (v && v->grid)
            noise_add(&k->input[i], real[i], v, quantize_array(c, real[i], v->grid));
    }
    run_float_watched(c, k->reference, real, floats, see_value, k);
    for (int i = 0; i < k->integer->output_count; i++)
        if (integers[i] && floats[i])
            noise_add(&k->output[i], floats[i], k->integer->output[i].u.value, integers[i]);
}

Noise *comparison_input(const Comparison *k, int input) {
    return &k->input[input];
}

Noise *comparison_output(const Comparison *k, int output) {
    return &k->output[output];
}

Noise *comparison_call(const Comparison *k, const Call *call) {
    return &k->call[call->index];
}
