/* Every fixture under tests/op against torch's own outputs: the archive is imported, brought to
 * core operators (functionalize .. decompose) and evaluated in float. Floats agree within 1e-4 of
 * the largest reference magnitude plus 1e-5, integers and bools exactly, NaN with NaN. */
#include "flow/fixture.h"

#include <dirent.h>
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

typedef struct {
    const char *archive, *arrays;
    char why[400]; /* first difference; "" when equal */
} Fixture;

static double largest_magnitude(const Array *a) {
    double most = 0;
    for (int64_t i = 0; i < array_count(a); i++) {
        double v = fabs(array_get(a, i));
        if (isfinite(v) && v > most) {
            most = v;
        }
    }
    return most;
}

static bool element_equal(const Array *want, const Array *got, int64_t i, double tolerance) {
    if (!dtype_is_float(want->dtype)) {
        return array_get_int(want, i) == array_get_int(got, i);
    }
    double w = array_get(want, i), g = array_get(got, i);
    return w == g || (isnan(w) && isnan(g)) || fabs(w - g) <= tolerance;
}

/* Whatever is float in a model is float32 in the interpreter. */
static bool same_kind(DType want, DType got) {
    return want == got || (dtype_is_float(want) && dtype_is_float(got));
}

static void compare(C *c, Fixture *f, int k, const Array *want, const Array *got) {
    if (!got || !same_kind(want->dtype, got->dtype) || want->rank != got->rank ||
        memcmp(want->dim, got->dim, sizeof(int64_t) * (size_t)want->rank) != 0) {
        snprintf(f->why, sizeof f->why, "output %d: want %s%s, got %s%s", k,
                 dtype_name(want->dtype), shape_text(c, want->rank, want->dim),
                 got ? dtype_name(got->dtype) : "nothing",
                 got ? shape_text(c, got->rank, got->dim) : "");
        return;
    }
    /* The interpreter does not round to float16: half a step of its 11 bits is not a fault. */
    double relative = want->dtype == DT_F16 ? 0x1p-11 : 1e-4;
    double tolerance = relative * largest_magnitude(want) + 1e-5;
    for (int64_t i = 0; i < array_count(want); i++) {
        if (!element_equal(want, got, i, tolerance)) {
            snprintf(f->why, sizeof f->why, "output %d element %lld: want %.9g, got %.9g", k,
                     (long long)i, array_get(want, i), array_get(got, i));
            return;
        }
    }
}

static void inputs_set(C *c, Graph *g, Env *e, const ArrayList *arrays) {
    for (int i = 0; i < g->input_count; i++) {
        if (g->input[i].kind != ARG_VALUE) {
            continue;
        }
        Array *in = fixture_array(c, arrays, "in", i);
        if (!in) {
            fatal(c, DIAG_INPUT, NULL, "no array in%d", i);
        }
        env_set(e, g->input[i].u.value, in);
    }
}

static void outputs_compare(C *c, Fixture *f, Graph *g, Env *e, const ArrayList *arrays) {
    int found = 0;
    for (int k = 0; k < g->output_count && !f->why[0]; k++) {
        Array *want = fixture_array(c, arrays, "out", k);
        const Arg *out = &g->output[k];
        found += want != NULL;
        if (!want) {
            if (out->kind != ARG_NONE) {
                snprintf(f->why, sizeof f->why, "output %d: torch has None", k);
            }
        } else if (out->kind == ARG_VALUE) {
            compare(c, f, k, want, env_get(e, out->u.value));
        } else if (out->kind != ARG_INT || out->u.i != array_get_int(want, 0)) {
            snprintf(f->why, sizeof f->why, "output %d: wrong constant", k);
        }
    }
    if (!f->why[0] && found == 0) {
        snprintf(f->why, sizeof f->why, "torch gave no output");
    }
}

static bool is_quantized(const Graph *g) {
    bool yes = false;
    for (const Node *n = g->first; n; n = n->next)
        yes |= strncmp(n->op->schema, "quantized_decomposed::", 22) == 0;
    return yes;
}

static void fixture_run(C *c, void *user) {
    Fixture *f = user;
    ArrayList arrays = npz_read(c, f->arrays);
    Graph *g = import_pt2(c, f->archive);
    Options options = {0};
    /* what is quantized keeps its rounding only until it becomes a grid */
    PipelineControl control = {.stop_after = is_quantized(g) ? "functionalize" : "decompose"};
    pipeline_run(c, g, &options, &control);
    diag_stop_if_errors(c);
    Env *e = env_new(c, g);
    inputs_set(c, g, e, &arrays);
    graph_eval(c, g, e, false, NULL, NULL);
    outputs_compare(c, f, g, e, &arrays);
    env_free(e);
}

/* True if the fixture agrees; else says why not. */
static bool fixture_check(const char *op, const char *case_name) {
    char archive[512], arrays[512];
    snprintf(archive, sizeof archive, "op/%s/%s.pt2", op, case_name);
    snprintf(arrays, sizeof arrays, "op/%s/%s.npz", op, case_name);
    Fixture f = {.archive = archive, .arrays = arrays};
    C *c = c_new();
    if (c_try(c, fixture_run, &f) != 0 && !f.why[0]) {
        const Diag *d = c->first_diag;
        snprintf(f.why, sizeof f.why, "%s", d ? d->message : "unwound without a diagnostic");
    }
    c_free(c);
    if (f.why[0]) {
        print_message("%s/%s: %s\n", op, case_name, f.why);
    }
    return !f.why[0];
}

static int visible(const struct dirent *d) {
    return d->d_name[0] != '.';
}

static void folder_check(const char *op, int *total, int *failed) {
    char path[512];
    snprintf(path, sizeof path, "op/%s", op);
    struct dirent **entry;
    int count = scandir(path, &entry, visible, alphasort);
    for (int i = 0; i < count; i++) {
        char *dot = strrchr(entry[i]->d_name, '.');
        if (dot && strcmp(dot, ".pt2") == 0) {
            *dot = 0;
            ++*total;
            *failed += !fixture_check(op, entry[i]->d_name);
        }
        free(entry[i]);
    }
    if (count >= 0) {
        free(entry);
    }
}

/* CORTEN_FIXTURE=view checks one operator's folder only. */
static void every_fixture_agrees_with_torch(void **state) {
    (void)state;
    const char *only = getenv("CORTEN_FIXTURE");
    struct dirent **entry;
    int count = scandir("op", &entry, visible, alphasort), total = 0, failed = 0;
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        if (!only || strcmp(only, entry[i]->d_name) == 0) {
            folder_check(entry[i]->d_name, &total, &failed);
        }
        free(entry[i]);
    }
    free(entry);
    print_message("%d of %d fixtures agree\n", total - failed, total);
    assert_true(total > 0);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_fixture_agrees_with_torch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
