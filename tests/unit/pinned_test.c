/* Archives that are quantized already (tests/pinned, tools/make_pinned.py): what has a grid there
 * is rounded to it once, and what lies between is exact enough not to be seen. */
#include "flow/flow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Steps of the given grid that lie between torch's numbers and what the integers come to: the
 * largest, and how many numbers are not the same. */
typedef struct {
    int most, unlike, count;
} Steps;

static Steps steps_between(const Array *want, const Array *got, double step) {
    Steps s = {0, 0, (int)array_count(want)};
    assert_int_equal(array_count(want), array_count(got));
    for (int64_t i = 0; i < array_count(want); i++) {
        int off = (int)lround(fabs(array_get(want, i) - array_get(got, i)) / step);
        s.most = off > s.most ? off : s.most;
        s.unlike += off > 0;
    }
    return s;
}

static Steps steps_of(const char *name, double step) {
    const char *out = flow_path("%s", name), *data = flow_text("pinned/%s.npz", name);
    json_t *report = flow_compiled(flow_text("pinned/%s.pt2", name), data, "cortex-m55", out);
    assert_int_equal(json_integer_value(json_object_get(report, "float_nodes")), 0);
    ArrayList torch = flow_arrays(data), integer = flow_outputs(out, data, NULL);
    return steps_between(flow_array(&torch, "out0"), integer.item[0].array, step);
}

/* So many of a thousand numbers may be a step off, where the weights have 12 bits. */
static void expect_near(const char *name, double step, int thousandths) {
    Steps s = steps_of(name, step);
    if (s.most > 1 || s.unlike * 1000 > thousandths * s.count)
        fail_msg("%s: %d numbers off, by %d steps at most", name, s.unlike, s.most);
}

static void expect_equal(const char *name, double step) {
    expect_near(name, step, 0);
}

static void means_round_once(void **state) {
    (void)state;
    expect_equal("mean_of_few", 0.0127);
}

static void means_of_windows_are_rounded_to_the_given_grid_alone(void **state) {
    (void)state;
    expect_equal("pool_of_unlike_windows", 0.0131);
    expect_equal("pool_of_alike_windows", 0.0081);
}

static void resizing_between_two_grids_rounds_once(void **state) {
    (void)state;
    expect_near("resized_to_other_steps", 0.0293, 10);
}

static void steps_of_a_composite_are_not_seen(void **state) {
    (void)state;
    expect_equal("variance", 0.03);
}

/* What is float in the archive may reach beyond what the grid behind it holds. */
static void floats_are_not_cut_by_the_grid_behind_them(void **state) {
    (void)state;
    expect_near("resized_behind_floats", 0.0293, 10);
    expect_equal("pool_narrower_than_its_input", 0.011);
}

static void a_bias_that_int32_cannot_hold_stays_in_the_function(void **state) {
    (void)state;
    expect_equal("bias_far_beyond_products", 1.0 / 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_round_once),
        cmocka_unit_test(means_of_windows_are_rounded_to_the_given_grid_alone),
        cmocka_unit_test(resizing_between_two_grids_rounds_once),
        cmocka_unit_test(steps_of_a_composite_are_not_seen),
        cmocka_unit_test(floats_are_not_cut_by_the_grid_behind_them),
        cmocka_unit_test(a_bias_that_int32_cannot_hold_stays_in_the_function),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
