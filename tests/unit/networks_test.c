/* Small networks of the kinds that people bring (tools/make_networks.py), with default options: all
 * in integers, and as good as a simulation that rounds weights and stored activations and computes
 * all else in float. One network's figure on 64 pictures swings by a decibel or two, their mean
 * less. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const networks[] = {"mobilenet_v3", "efficientnet", "regnet",
                                       "unet",         "detector",     "transformer"};

#define SWING 3.0
#define SWING_OF_MEAN 1.0

static json_t *compiled(const char *name) {
    json_t *report = flow_compiled(flow_text("networks/%s.pt2", name), "networks/calibration.npz",
                                   "cortex-m55", flow_path("%s", name));
    assert_non_null(report);
    return report;
}

/* One picture goes in, one tensor comes out. */
static void transposes_stand_at_inputs_and_outputs_only(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (strcmp(networks[i], "transformer") != 0)
            assert_in_range(flow_transposes(compiled(networks[i])), 0, 2);
}

static void networks_lose_no_more_than_rounding_alone(void **state) {
    (void)state;
    const int count = (int)(sizeof networks / sizeof *networks);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const char *data = flow_text("networks/%s.npz", networks[i]);
        const json_t *report = compiled(networks[i]);
        assert_int_equal(json_integer_value(json_object_get(report, "float_nodes")), 0);
        ArrayList torch = flow_arrays(data),
                  got = flow_outputs(flow_path("%s", networks[i]), "networks/tests.npz", NULL);
        double simulated = array_get(flow_array(&torch, "simulated"), 0);
        double db = flow_sqnr(flow_array(&torch, "out0"), got.item[0].array);
        print_message("%s: %.1f dB, simulated %.1f\n", networks[i], db, simulated);
        if (!(db >= simulated - SWING))
            fail_msg("%s: %.1f dB, but %.1f simulated", networks[i], db, simulated);
        sum += db - simulated;
    }
    assert_true(sum / count >= -SWING_OF_MEAN);
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposes_stand_at_inputs_and_outputs_only),
        cmocka_unit_test(networks_lose_no_more_than_rounding_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
