/* Random programs of views and in-place writes (tests/programs, made by tools/make_programs.py) in
 * two successive calls against torch: after functionalize all outputs are equal in float, and
 * compiled to integers they are within 1.5 steps, or 30 dB where steps add up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "import/import.h"
#include "lower/lower.h"
#include "passes/passes.h"
#include "run/run.h"

enum { CALLS = 2, FEWEST_PROGRAMS = 300 };

typedef struct {
    const char *name;
    const Array *record; /* tensors as rank, sizes, elements */
    int64_t at;
    bool jumps; /* not compared in integers */
    char why[300];
} Program;

static double next_number(C *c, Program *p) {
    if (p->at >= array_count(p->record))
        fatal(c, DIAG_INPUT, NULL, "the record ends early");
    return array_get(p->record, p->at++);
}

static Array *next_array(C *c, Program *p) {
    int64_t dim[MAX_RANK] = {0};
    int rank = (int)next_number(c, p);
    for (int d = 0; d < rank; d++)
        dim[d] = (int64_t)next_number(c, p);
    Array *a = array_new(c, DT_F32, rank, dim);
    for (int64_t i = 0; i < array_count(a); i++)
        array_set(a, i, next_number(c, p));
    return a;
}

static void compare(C *c, Program *p, int call, int k, const Array *want, const Array *got) {
    if (!got || want->rank != got->rank ||
        memcmp(want->dim, got->dim, sizeof(int64_t) * (size_t)want->rank) != 0) {
        snprintf(p->why, sizeof p->why, "call %d output %d: want %s, got %s", call, k,
                 shape_text(c, want->rank, want->dim),
                 got ? shape_text(c, got->rank, got->dim) : "nothing");
        return;
    }
    for (int64_t i = 0; i < array_count(want); i++) {
        double w = array_get(want, i), g = array_get(got, i);
        if (!(fabs(w - g) <= 1e-6 * fabs(w))) {
            snprintf(p->why, sizeof p->why, "call %d output %d element %lld: want %g, got %g", call,
                     k, (long long)i, w, g);
            return;
        }
    }
}

/* One call; `state` has the buffers' values before it and, then, after it. */
static void call_run(C *c, Program *p, Graph *g, int call, Array **state) {
    Env *e = env_new(c, g);
    for (int i = 0; i < g->input_count; i++)
        env_set(e, g->input[i].u.value, next_array(c, p));
    for (int i = 0; i < g->state_count && call > 0; i++)
        env_set(e, g->state[i].before, state[i]);
    graph_eval(c, g, e, false, NULL, NULL);
    for (int k = 0; k < g->output_count && !p->why[0]; k++)
        compare(c, p, call, k, next_array(c, p), env_get(e, g->output[k].u.value));
    for (int i = 0; i < g->state_count; i++)
        state[i] = array_convert(c, env_get(e, g->state[i].after), DT_F32);
    env_free(e);
}

static void program_run(C *c, void *user) {
    Program *p = user;
    Graph *g = import_pt2(c, c_format(c, "programs/%s.pt2", p->name));
    Options options = {0};
    PipelineControl control = {.stop_after = "functionalize"};
    pipeline_run(c, g, &options, &control);
    diag_stop_if_errors(c);
    for (const Node *n = g->first; n; n = n->next)
        if (n->writes || n->copies || n->out_arg)
            fatal(c, DIAG_BUG, &n->loc, "%s still writes or copies", n->name);
    Array **state = NEW_ARRAY(c, Array *, g->state_count);
    for (int call = 0; call < CALLS && !p->why[0]; call++)
        call_run(c, p, g, call, state);
}

/* ---- in integers ------------------------------------------------------------------------------
 */

/* Comparing and truncating jump: a rounded input may fall on the other side. */
static bool has_jumps(const Graph *g) {
    for (const Node *n = g->first; n; n = n->next)
        if (n->out_count > 0 && node_operand_count(n) > 0 &&
            !dtype_is_float(n->out[0]->type.dtype) &&
            dtype_is_float(node_operand(n, 0)->type.dtype))
            return true;
    return false;
}

static void compare_integers(C *c, Program *p, int call, int k, const Value *v, const Array *want,
                             const Array *raw) {
    const Array *got = v->grid ? dequantize_array(c, raw, v->grid) : raw;
    double worst = 0, step = v->grid ? v->grid->part[0].scale : 0;
    for (int64_t i = 0; i < array_count(want); i++)
        worst = fmax(worst, fabs(array_get(want, i) - array_get(got, i)));
    if (worst > 1.5 * step * (1 + 1e-6) && !(sqnr_db(want, got) >= 30))
        snprintf(p->why, sizeof p->why, "call %d output %d in integers: %.1f steps, %.1f dB", call,
                 k, worst / step, sqnr_db(want, got));
}

static void program_run_integers(C *c, void *user) {
    Program *p = user;
    Graph *g = import_pt2(c, c_format(c, "programs/%s.pt2", p->name));
    Array **in[CALLS], **want[CALLS], **got = NEW_ARRAY(c, Array *, g->output_count + 1);
    p->jumps = has_jumps(g);
    if (p->jumps)
        return;
    for (int call = 0; call < CALLS; call++) {
        in[call] = NEW_ARRAY(c, Array *, g->input_count + 1);
        want[call] = NEW_ARRAY(c, Array *, g->output_count + 1);
        for (int i = 0; i < g->input_count; i++)
            in[call][i] = next_array(c, p);
        for (int k = 0; k < g->output_count; k++)
            want[call][k] = next_array(c, p);
    }
    const Cpu *cpu = cpu_find("cortex-m55");
    Options options = {.cpu = cpu,
                       .isa = cpu->isa,
                       .observer = OBSERVER_MINMAX,
                       .sample_count = CALLS,
                       .sample = in};
    PipelineControl control = {0};
    pipeline_run(c, g, &options, &control);
    diag_stop_if_errors(c);
    Simulator *s = simulator_new(c, g);
    for (int call = 0; call < CALLS; call++) {
        simulator_run(c, s, in[call], got);
        for (int k = 0; k < g->output_count && !p->why[0]; k++)
            compare_integers(c, p, call, k, g->output[k].u.value, want[call][k], got[k]);
    }
    simulator_free(s);
}

/* ---- all --------------------------------------------------------------------------------------
 */

static bool program_check(const char *name, const Array *record, bool integers, int *jumps) {
    Program p = {.name = name, .record = record};
    C *c = c_new();
    if (c_try(c, integers ? program_run_integers : program_run, &p) != 0 && !p.why[0]) {
        const Diag *d = c->first_diag;
        snprintf(p.why, sizeof p.why, "%s", d ? d->message : "unwound without a diagnostic");
    }
    c_free(c);
    *jumps += p.jumps;
    if (p.why[0])
        print_message("%s: %s\n", name, p.why);
    return !p.why[0];
}

typedef struct {
    bool integers;
    int failed, jumps;
} Check;

static void check_all(C *c, void *user) {
    Check *k = user;
    ArrayList records = npz_read(c, "programs/all.npz");
    assert_true(records.count >= FEWEST_PROGRAMS);
    for (int i = 0; i < records.count; i++)
        k->failed +=
            !program_check(records.item[i].name, records.item[i].array, k->integers, &k->jumps);
    print_message("%d of %d programs agree, %d were not compared\n",
                  records.count - k->failed - k->jumps, records.count, k->jumps);
    assert_true(k->jumps < records.count / 2);
}

static void check(bool integers) {
    Check k = {.integers = integers};
    C *c = c_new();
    assert_int_equal(c_try(c, check_all, &k), 0);
    c_free(c);
    assert_int_equal(k.failed, 0);
}

static void programs_of_views_and_writes_agree_with_torch(void **state) {
    (void)state;
    check(false);
}

static void programs_in_integers_agree_with_torch(void **state) {
    (void)state;
    check(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_views_and_writes_agree_with_torch),
        cmocka_unit_test(programs_in_integers_agree_with_torch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
