/* What is measured decides between the variants that accept a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lower/measured.h"
#include "lower/packing.h"

enum { CHANNELS = 16, SIDE = 16, TAPS = 9 };

/* A convolution of 3x3 whose weights are all 1. */
static Call *conv2d(C *c, Graph *g) {
    Call *call = call_new(c, g, NULL, CTN_KERNEL_conv2d_s8);
    CtnConv2dS8Args *a = call->args;
    int8_t weights[CHANNELS * TAPS * CHANNELS], shift[CHANNELS];
    int32_t multiplier[CHANNELS];
    memset(weights, 1, sizeof weights);
    memset(shift, -8, sizeof shift);
    for (int i = 0; i < CHANNELS; i++)
        multiplier[i] = 1 << 30;
    a->batches = a->groups = a->stride_h = a->stride_w = a->dilation_h = a->dilation_w = 1;
    a->in_h = a->in_w = a->out_h = a->out_w = SIDE;
    a->in_c = a->out_c = CHANNELS;
    a->kernel_h = a->kernel_w = 3;
    a->pad_top = a->pad_left = 1;
    a->clamp_min = -128;
    a->clamp_max = 127;
    call_const(call, &a->weights, "weight", DT_I8, weights, sizeof weights, 4);
    call_const(call, &a->multiplier, "multiplier", DT_I32, multiplier, sizeof multiplier, 4);
    call_const(call, &a->shift, "shift", DT_I8, shift, sizeof shift, 1);
    return call;
}

static const char *runs_in(const char *name, const char *isa, bool optimize_size) {
    C *c = c_new();
    Graph *g = graph_new(c, "layer");
    const Options o = {.cpu = cpu_find(name), .isa = isa, .optimize_size = optimize_size};
    Call *call = conv2d(c, g);
    variant_settle(call, isa);
    variants_weigh(c, g, &o);
    const char *symbol = call->variant->symbol;
    c_free(c);
    return symbol;
}

static const char *runs_on(const char *name, bool optimize_size) {
    return runs_in(name, cpu_find(name)->isa, optimize_size);
}

static void for_speed_the_fewest_instructions_win(void **state) {
    (void)state;
    assert_string_equal(runs_on("cortex-m0plus", false), "ctn_conv2d_s8_v6m");
    assert_string_equal(runs_on("cortex-m3", false), "ctn_conv2d_s8_v7m");
    assert_string_equal(runs_on("cortex-m4", false), "ctn_conv2d_s8_dsp");
    assert_string_equal(runs_on("cortex-m55", false), "ctn_conv2d_s8_mve");
}

/* Plain C would be smaller still, but takes several times as long. */
static void for_size_the_least_code_wins_that_is_not_too_slow(void **state) {
    (void)state;
    assert_string_equal(runs_on("cortex-m4", true), "ctn_conv2d_s8_dsp_small");
}

static void plain_c_alone_stays_plain_c(void **state) {
    (void)state;
    assert_string_equal(runs_in("cortex-m4", "c", true), "ctn_conv2d_s8");
    assert_string_equal(runs_in("cortex-m4", "c", false), "ctn_conv2d_s8");
}

/* NPU programs are no kernel's work. */
static void every_variant_was_counted_on_every_cpu(void **state) {
    (void)state;
    for (int i = 0; i < cpu_table_count; i++)
        for (int v = 0; v < variant_table_count; v++) {
            const Variant *variant = &variant_table[v];
            bool runs = variant_runs_on(variant, cpu_table[i].isa), counted = false;
            for (int k = 0; k < cost_table_count; k++)
                counted |= strcmp(cost_table[k].cpu, cpu_table[i].counted) == 0 &&
                           strcmp(cost_table[k].symbol, variant->symbol) == 0;
            if (runs && !counted && variant->kernel != CTN_KERNEL_npu)
                fail_msg("%s was not counted on %s", variant->symbol, cpu_table[i].counted);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_was_counted_on_every_cpu),
        cmocka_unit_test(for_speed_the_fewest_instructions_win),
        cmocka_unit_test(for_size_the_least_code_wins_that_is_not_too_slow),
        cmocka_unit_test(plain_c_alone_stays_plain_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
