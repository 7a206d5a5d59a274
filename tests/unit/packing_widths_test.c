/* What the variants for 4-bit weights and int16 activations do not take, and what takes it then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lower/packing.h"

/* Constants of `channels` outputs of `count` weights together, all 1, with one shift. */
static void constants(C *c, Call *call, uint32_t *weights, uint32_t *multiplier, uint32_t *shift,
                      int64_t bytes, int channels, int8_t by) {
    int8_t *w = c_alloc(c, (size_t)bytes), *s = NEW_ARRAY(c, int8_t, channels);
    int32_t *m = NEW_ARRAY(c, int32_t, channels);
    memset(w, 0x11, (size_t)bytes);
    memset(s, by, (size_t)channels);
    for (int i = 0; i < channels; i++)
        m[i] = 1 << 30;
    call_const(call, weights, "weight", DT_U8, w, bytes, 4);
    call_const(call, multiplier, "multiplier", DT_I32, m, 4 * channels, 4);
    call_const(call, shift, "shift", DT_I8, s, channels, 1);
}

static Call *linear_int4(C *c, int32_t depth, int8_t shift) {
    Call *call = call_new(c, graph_new(c, "layer"), NULL, CTN_KERNEL_linear_s8w4);
    CtnLinearS8W4Args *a = call->args;
    a->rows = 1;
    a->depth = depth;
    a->columns = 4;
    a->clamp_min = -128;
    a->clamp_max = 127;
    constants(c, call, &a->weights, &a->multiplier, &a->shift, 2 * (int64_t)depth, 4, shift);
    return call;
}

static const char *linear_runs_in(int32_t depth, int8_t shift, const char *isa) {
    C *c = c_new();
    const char *symbol = variant_choose(linear_int4(c, depth, shift), isa)->symbol;
    c_free(c);
    return symbol;
}

static void what_a_level_cannot_scale_goes_to_the_level_below(void **state) {
    (void)state;
    assert_string_equal(linear_runs_in(64, -8, "mve"), "ctn_linear_s8w4_mve");
    assert_string_equal(linear_runs_in(64, -8, "dsp"), "ctn_linear_s8w4_dsp");
    assert_string_equal(linear_runs_in(64, 1, "mve"), "ctn_linear_s8w4_v7m");
    assert_string_equal(linear_runs_in(64, 1, "dsp"), "ctn_linear_s8w4_v7m");
    assert_string_equal(linear_runs_in(64, 1, "v6m"), "ctn_linear_s8w4_v6m");
}

static void sums_of_pairs_of_columns_that_could_overflow_are_refused(void **state) {
    (void)state;
    assert_string_equal(linear_runs_in((1 << 17) - 17, -20, "mve"), "ctn_linear_s8w4_mve");
    assert_string_equal(linear_runs_in((1 << 17) - 16, -20, "mve"), "ctn_linear_s8w4_v7m");
    assert_string_equal(linear_runs_in((1 << 15) - 4, -20, "dsp"), "ctn_linear_s8w4_dsp");
    assert_string_equal(linear_runs_in((1 << 15) - 3, -20, "dsp"), "ctn_linear_s8w4_v7m");
}

static void depthwise_layers_go_as_bytes(void **state) {
    (void)state;
    C *c = c_new();
    Call *call = call_new(c, graph_new(c, "layer"), NULL, CTN_KERNEL_depthwise_conv2d_s8w4);
    CtnDepthwiseConv2dS8W4Args *a = call->args;
    a->batches = a->in_h = a->in_w = a->out_h = a->out_w = a->kernel_h = a->kernel_w = 1;
    a->stride_h = a->stride_w = a->dilation_h = a->dilation_w = 1;
    a->in_c = a->out_c = 8;
    a->clamp_min = -128;
    a->clamp_max = 127;
    constants(c, call, &a->weights, &a->multiplier, &a->shift, 4, 8, -4);
    variant_settle(call, "mve");
    assert_int_equal(call->kernel, CTN_KERNEL_depthwise_conv2d_s8);
    assert_string_equal(call->variant->symbol, "ctn_depthwise_conv2d_s8_mve");
    const int8_t *w = call_data(call, &a->weights);
    for (int i = 0; i < 8; i++)
        assert_int_equal(w[i], 16); /* kernels count 4-bit weights sixteenfold */
    c_free(c);
}

static bool add_is_taken(int32_t shift, int32_t stride) {
    C *c = c_new();
    Call *call = call_new(c, graph_new(c, "layer"), NULL, CTN_KERNEL_add_s16);
    CtnAddS16Args *a = call->args;
    a->left_shift = 15;
    a->a_shift = a->b_shift = -1;
    a->output_shift = shift;
    a->a_stride[5] = a->b_stride[5] = stride;
    bool taken = variant_choose(call, "mve")->isa != NULL;
    c_free(c);
    return taken;
}

static void sums_of_int16_that_shift_left_or_jump_stay_in_plain_c(void **state) {
    (void)state;
    assert_true(add_is_taken(-14, 1));
    assert_true(add_is_taken(0, 0));
    assert_false(add_is_taken(1, 1));
    assert_false(add_is_taken(-14, 2));
}

static bool taps_are_taken(int32_t kernel) {
    C *c = c_new();
    Call *call = call_new(c, graph_new(c, "layer"), NULL, CTN_KERNEL_conv2d_s16);
    CtnConv2dS16Args *a = call->args;
    a->in_c = a->groups = 4;
    a->kernel_h = 1;
    a->kernel_w = kernel;
    bool taken = variant_choose(call, "v6m")->isa != NULL;
    c_free(c);
    return taken;
}

static void depthwise_sums_that_could_leave_int32_stay_in_plain_c(void **state) {
    (void)state;
    assert_true(taps_are_taken(500));
    assert_false(taps_are_taken(501));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_level_cannot_scale_goes_to_the_level_below),
        cmocka_unit_test(sums_of_pairs_of_columns_that_could_overflow_are_refused),
        cmocka_unit_test(depthwise_layers_go_as_bytes),
        cmocka_unit_test(sums_of_int16_that_shift_left_or_jump_stay_in_plain_c),
        cmocka_unit_test(depthwise_sums_that_could_leave_int32_stay_in_plain_c),
    };
    return cmocka_run_group_tests_name("packing_widths", tests, NULL, NULL);
}
