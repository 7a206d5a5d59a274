/* What is said of accuracy: each node's and output's SQNR in the report, what verify finds beyond
 * the ranges that calibration has seen, and the accuracy budget. */
#include "flow/flow.h"

#include "graph/graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MODEL "pains/residual_relu_inplace.pt2"
#define DATA "pains/residual_relu_inplace.npz"

static double db_of(const json_t *object) {
    const json_t *db = json_object_get(object, "sqnr_db");
    return json_is_real(db) ? json_real_value(db) : NAN;
}

static void the_report_has_the_sqnr_of_nodes_and_outputs(void **state) {
    (void)state;
    json_t *report = flow_compiled(MODEL, DATA, "cortex-m4", flow_path("reported"));
    size_t i, measured = 0;
    json_t *node;
    json_array_foreach(json_object_get(report, "nodes"), i, node) {
        measured += !isnan(db_of(node));
        if (!isnan(db_of(node)))
            assert_true(db_of(node) > 20);
    }
    assert_true(measured > 0);
    CortenOptions o = {.model = flow_path("reported"), .input = DATA, .json = true};
    Said said = flow_run(corten_verify, o);
    assert_code(said, 0);
    json_t *verified = json_loads(said.results, 0, NULL);
    double want = json_real_value(json_array_get(json_object_get(verified, "output_sqnr_db"), 0));
    double got = db_of(json_array_get(json_object_get(report, "outputs"), 0));
    assert_true(fabs(want - got) < 1e-6);
}

static void verify_names_what_lies_beyond_the_calibrated_ranges(void **state) {
    (void)state;
    json_t *report = flow_compiled(MODEL, DATA, "cortex-m4", flow_path("clipped"));
    assert_non_null(report);
    ArrayList list = flow_arrays(DATA);
    Array *x = list.item[0].array;
    CortenOptions o = {.model = flow_path("clipped"), .input = DATA};
    assert_silent_on(flow_run(corten_verify, o).results, "clipped:");
    for (int64_t i = 0; i < array_count(x); i++)
        array_set(x, i, 10 * array_get(x, i));
    o.input = flow_path("far.npy");
    npy_write(flow_c(), o.input, x);
    Said said = flow_run(corten_verify, o);
    assert_code(said, 0);
    assert_says(said.results, "% of inputs_0 is beyond what calibration has seen");
    assert_says(said.results, "worst calls: ");
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_has_the_sqnr_of_nodes_and_outputs),
        cmocka_unit_test(verify_names_what_lies_beyond_the_calibrated_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
