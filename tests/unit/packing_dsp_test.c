/* What the DSP kernels' short store cannot do exactly is left to plain C, and what looks so but is
 * as good as constant is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lower/packing.h"

typedef struct {
    int32_t depth;
    int8_t weight;
    int32_t bias, multiplier;
    int8_t shift;
} Layer;

/* One output of a fully connected layer on `depth` inputs, all with the same weight. */
static Call *linear(C *c, const Layer *l) {
    Graph *g = graph_new(c, "layer");
    Call *call = call_new(c, g, NULL, CTN_KERNEL_linear_s8);
    CtnLinearS8Args *a = call->args;
    int8_t *weights = c_alloc(c, (size_t)l->depth);
    memset(weights, l->weight, (size_t)l->depth);
    a->rows = a->columns = 1;
    a->depth = l->depth;
    a->input_zero_point = a->output_zero_point = a->clamp_min = -128;
    a->clamp_max = 127;
    call_const(call, &a->weights, "weight", DT_I8, weights, l->depth, 4);
    call_const(call, &a->bias, "bias", DT_I32, &l->bias, 4, 4);
    call_const(call, &a->multiplier, "multiplier", DT_I32, &l->multiplier, 4, 4);
    call_const(call, &a->shift, "shift", DT_I8, &l->shift, 1, 1);
    return call;
}

static bool runs_on_dsp(Layer l) {
    C *c = c_new();
    const Variant *v = variant_choose(linear(c, &l), "dsp");
    bool dsp = v->isa && strcmp(v->isa, "dsp") == 0;
    c_free(c);
    return dsp;
}

static void usual_factors_run_on_dsp(void **state) {
    (void)state;
    assert_true(runs_on_dsp((Layer){64, 127, 1000, 0x50000000, -1}));
    assert_true(runs_on_dsp((Layer){64, -127, -1000, 0x7fffffff, -12}));
}

static void factors_of_a_half_and_more_fall_back(void **state) {
    (void)state;
    assert_false(runs_on_dsp((Layer){8, 3, 0, 0x50000000, 0}));
    assert_false(runs_on_dsp((Layer){8, 3, 0, 0x50000000, 3}));
}

/* Sums of 2^30 and more, over four steps of the output. */
static void sums_too_large_for_the_store_fall_back(void **state) {
    (void)state;
    assert_false(runs_on_dsp((Layer){4000, 127, 1 << 30, 1 << 30, -24}));
}

static void outputs_as_good_as_constant_run_on_dsp(void **state) {
    (void)state;
    assert_true(runs_on_dsp((Layer){64, 0, 1073740709, 1100773036, -26}));
    assert_true(runs_on_dsp((Layer){64, 1, -1073740709, 1767133893, -28}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_factors_run_on_dsp),
        cmocka_unit_test(factors_of_a_half_and_more_fall_back),
        cmocka_unit_test(sums_too_large_for_the_store_fall_back),
        cmocka_unit_test(outputs_as_good_as_constant_run_on_dsp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
