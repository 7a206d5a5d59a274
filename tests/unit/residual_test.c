/* Additions in the store of what makes one of their operands: the bytes are those of two calls, the
 * report says where the addition went, and the memory of the other operand is taken over. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const cpus[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};

/* `precision` NULL: 8 bits everywhere. */
static const char *compiled_as(const char *model, const char *cpu, const char *optimize,
                               const char *precision) {
    const char *calibrate[] = {flow_text("flow/in_place/%s.npz", model)};
    const char *out = flow_path("%s_%s_%s%s", model, cpu, optimize, precision ? "_w4" : "");
    CortenOptions o = {.model = flow_text("flow/in_place/%s.pt2", model),
                       .calibrate = calibrate,
                       .calibrate_count = 1,
                       .target = cpu,
                       .optimize = optimize,
                       .precision_text = precision,
                       .out = out,
                       .quiet = true};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static const char *model_compiled(const char *model, const char *cpu, const char *optimize) {
    return compiled_as(model, cpu, optimize, NULL);
}

static const char *compiled(const char *cpu, const char *optimize) {
    return model_compiled("residual", cpu, optimize);
}

/* The quantized graph of a compiled folder lowered again, for size: sums are calls of their own. */
static const char *apart_of(const char *model, const char *fused, const char *cpu) {
    const char *out = flow_path("%s_%s_apart", model, cpu);
    CortenOptions o = {.model = flow_text("%s/%s.corten", fused, model),
                       .from = "layout",
                       .target = cpu,
                       .optimize = "size",
                       .out = out,
                       .quiet = true};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static int calls_of(const char *out, const char *kernel) {
    json_t *call, *list = json_object_get(flow_report(out), "calls");
    size_t i;
    int count = 0;
    json_array_foreach(list, i, call) count +=
        strncmp(json_string_value(json_object_get(call, "kernel")), kernel, strlen(kernel)) == 0;
    return count;
}

static int64_t number_of(const char *out, const char *name) {
    return json_integer_value(json_object_get(flow_report(out), name));
}

static void assert_same_bytes(const char *model, const char *fused, const char *apart) {
    const char *data = flow_text("flow/in_place/%s.npz", model);
    ArrayList a = flow_outputs(fused, data, NULL), b = flow_outputs(apart, data, NULL);
    const Array *x = a.item[0].array, *y = b.item[0].array;
    assert_int_equal(array_bytes(x), array_bytes(y));
    assert_memory_equal(x->data, y->data, (size_t)array_bytes(x));
}

/* Of model residual all three sums behind a convolution; of model sums those behind a convolution
 * and behind a linear layer of several rows. */
static void a_sum_in_a_store_gives_the_bytes_of_two_calls(void **state) {
    static const struct {
        const char *model;
        int sums;
    } cases[] = {{"residual", 3}, {"sums", 2}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++)
        for (size_t i = 0; i < COUNT_OF(cpus); i++) {
            const char *model = cases[k].model, *fused = model_compiled(model, cpus[i], "speed");
            const char *apart = apart_of(model, fused, cpus[i]);
            assert_int_equal(calls_of(fused, "ctn_conv2d_add_s8_"), cases[k].sums);
            assert_int_equal(calls_of(apart, "ctn_conv2d_add_s8"), 0);
            assert_int_equal(calls_of(apart, "ctn_add_s8") - calls_of(fused, "ctn_add_s8"),
                             cases[k].sums);
            assert_same_bytes(model, fused, apart);
        }
}

/* The last two levels have blocks for such weights that all their convolutions share. */
static void weights_of_4_bits_are_summed_in_the_store(void **state) {
    (void)state;
    for (size_t i = 2; i < COUNT_OF(cpus); i++) {
        const char *fused = compiled_as("sums", cpus[i], "speed", "* = w4\n");
        assert_true(calls_of(fused, "ctn_conv2d_add_s8w4_") >= 2);
        assert_same_bytes("sums", fused, apart_of("sums", fused, cpus[i]));
    }
}

static const char *node_text(json_t *node, const char *name) {
    return json_string_value(json_object_get(node, name));
}

/* The addition of the first block, with its activation, belongs to the convolution's call. */
static void the_report_says_which_call_sums(void **state) {
    (void)state;
    json_t *report = flow_report(compiled("cortex-m4", "speed")), *node;
    size_t i;
    int found = 0;
    json_array_foreach(json_object_get(report, "nodes"), i, node) {
        const char *name = node_text(node, "name");
        if (strcmp(name, "add") != 0 && strcmp(name, "relu_2") != 0)
            continue;
        assert_string_equal(node_text(node, "fate"), "fused");
        json_t *into = json_array_get(json_object_get(node, "into"), 0);
        assert_string_equal(json_string_value(into), "conv2d_2");
        found++;
    }
    assert_int_equal(found, 2);
}

static void the_sum_takes_over_the_operand_that_it_reads(void **state) {
    (void)state;
    json_t *report = flow_report(compiled("cortex-m4", "speed")), *buffer;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(report, "memory"), "buffers"), i, buffer) {
        if (strcmp(node_text(buffer, "name"), "relu_2") != 0)
            continue;
        assert_string_equal(node_text(buffer, "overwrites"), "relu");
        return;
    }
    fail_msg("no buffer relu_2");
}

/* For size the tables of addends are not worth it. */
static void models_for_size_add_apart(void **state) {
    (void)state;
    assert_int_equal(calls_of(compiled("cortex-m4", "size"), "ctn_conv2d_add_s8"), 0);
    assert_true(number_of(compiled("cortex-m4", "speed"), "arena_bytes") <=
                number_of(compiled("cortex-m4", "size"), "arena_bytes"));
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_in_a_store_gives_the_bytes_of_two_calls),
        cmocka_unit_test(weights_of_4_bits_are_summed_in_the_store),
        cmocka_unit_test(the_report_says_which_call_sums),
        cmocka_unit_test(the_sum_takes_over_the_operand_that_it_reads),
        cmocka_unit_test(models_for_size_add_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
