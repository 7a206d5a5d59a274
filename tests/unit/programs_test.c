/* Functionalize against torch: random programs of views and in-place writes (tests/programs, made
 * by tools/make_programs.py), run in float for two successive calls, all outputs equal. */
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
#include "passes/passes.h"

enum { CALLS = 2, FEWEST_PROGRAMS = 300 };

typedef struct {
    const char *name;
    const Array *record; /* tensors as rank, sizes, elements */
    int64_t at;
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

static bool program_check(const char *name, const Array *record) {
    Program p = {.name = name, .record = record};
    C *c = c_new();
    if (c_try(c, program_run, &p) != 0 && !p.why[0]) {
        const Diag *d = c->first_diag;
        snprintf(p.why, sizeof p.why, "%s", d ? d->message : "unwound without a diagnostic");
    }
    c_free(c);
    if (p.why[0])
        print_message("%s: %s\n", name, p.why);
    return !p.why[0];
}

static void check_all(C *c, void *user) {
    int *failed = user;
    ArrayList records = npz_read(c, "programs/all.npz");
    assert_true(records.count >= FEWEST_PROGRAMS);
    for (int i = 0; i < records.count; i++)
        *failed += !program_check(records.item[i].name, records.item[i].array);
    print_message("%d of %d programs agree\n", records.count - *failed, records.count);
}

static void programs_of_views_and_writes_agree_with_torch(void **state) {
    (void)state;
    int failed = 0;
    C *c = c_new();
    assert_int_equal(c_try(c, check_all, &failed), 0);
    c_free(c);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_views_and_writes_agree_with_torch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
