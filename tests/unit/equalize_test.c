/* Equalization moves small channels nearer to the large ones and leaves what is computed as it is.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "passes/passes.h"
#include "run/run.h"

/* Channel 1 of %h is 100 times channel 0; relu lies between, and %follow reads both. */
static const char dense[] = "corten 1\n"
                            "graph t core {\n"
                            "  value %x float32[1, 2] input\n"
                            "  value %w float32[2, 2] constant data {1, 0.5, 100, -20}\n"
                            "  value %b float32[2] constant data {0.25, 10}\n"
                            "  value %v float32[2, 2] constant data {3, 0.02, -2, 0.01}\n"
                            "  input x %x\n"
                            "  node l %h float32[1, 2] = corten::linear(%x, %w, %b)\n"
                            "  node r %r float32[1, 2] = aten::relu(%h)\n"
                            "  node m %y float32[1, 2] = corten::linear(%r, %v, none)\n"
                            "  output y %y\n"
                            "}\n";

/* The same channels, but silu does not scale with its operand. */
static const char curved[] = "corten 1\n"
                             "graph t core {\n"
                             "  value %x float32[1, 2] input\n"
                             "  value %w float32[2, 2] constant data {1, 0.5, 100, -20}\n"
                             "  value %v float32[2, 2] constant data {3, 0.02, -2, 0.01}\n"
                             "  input x %x\n"
                             "  node l %h float32[1, 2] = corten::linear(%x, %w, none)\n"
                             "  node r %r float32[1, 2] = aten::silu(%h)\n"
                             "  node m %y float32[1, 2] = corten::linear(%r, %v, none)\n"
                             "  output y %y\n"
                             "}\n";

typedef struct {
    C *c;
    Graph *g;
    Array *x;
    Options o;
    Array **sample[1];
    Array *input[1];
} Setup;

static void setup(Setup *s, const char *text) {
    s->c = c_new();
    s->g = graph_parse(s->c, "test", text, NULL);
    const int64_t dim[] = {1, 2};
    s->x = array_new(s->c, DT_F32, 2, dim);
    array_set(s->x, 0, 0.75);
    array_set(s->x, 1, 0.5);
    s->input[0] = s->x;
    s->sample[0] = s->input;
    s->o = (Options){.sample_count = 1, .sample = s->sample, .threads = 1};
}

static double weight(const Graph *g, int node, int element) {
    const Node *n = g->first;
    while (node-- > 0)
        n = n->next;
    return array_get(node_in(n, "weight")->constant, element);
}

static void small_channels_are_raised_and_results_stay(void **state) {
    (void)state;
    Setup s;
    setup(&s, dense);
    Array *before, *after;
    run_float(s.c, s.g, s.input, &before);
    pass_equalize(s.c, s.g, &s.o);
    run_float(s.c, s.g, s.input, &after);
    for (int i = 0; i < 2; i++) {
        double want = array_get(before, i);
        assert_true(fabs(array_get(after, i) - want) <= 1e-5 * fabs(want));
    }
    /* channel 0 reaches 1.25, channel 1 reaches 75: half of the way, in logarithms, to a quarter */
    double factor = sqrt(0.25 * 75 / 1.25);
    assert_true(fabs(weight(s.g, 0, 0) - factor) < 1e-5);
    assert_true(fabs(weight(s.g, 0, 2) - 100) < 1e-5);
    assert_true(fabs(weight(s.g, 2, 0) - 3 / factor) < 1e-5);
    assert_true(fabs(weight(s.g, 2, 1) - 0.02) < 1e-7);
    c_free(s.c);
}

static void a_function_that_does_not_scale_stops_it(void **state) {
    (void)state;
    Setup s;
    setup(&s, curved);
    pass_equalize(s.c, s.g, &s.o);
    assert_true(weight(s.g, 0, 0) == 1);
    assert_true(weight(s.g, 2, 0) == 3);
    c_free(s.c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_channels_are_raised_and_results_stay),
        cmocka_unit_test(a_function_that_does_not_scale_stops_it),
    };
    return cmocka_run_group_tests_name("equalize", tests, NULL, NULL);
}
