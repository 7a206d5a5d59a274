/* Channels whose factors shift to the left, beside others of the same layer: a fast kernel computes
 * the others, and the bytes are those of plain C. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const data = "flow/in_place/coarse.npz";

/* `isa` NULL: that of the target. */
static const char *compiled(const char *cpu, const char *isa, const char *optimize) {
    const char *calibrate[] = {data};
    const char *out = flow_path("%s_%s_%s", cpu, isa ? isa : "own", optimize);
    CortenOptions o = {.model = "flow/in_place/coarse.pt2",
                       .calibrate = calibrate,
                       .calibrate_count = 1,
                       .target = cpu,
                       .isa = isa,
                       .optimize = optimize,
                       .out = out,
                       .quiet = true};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static bool is_plain(const char *kernel) {
    static const char *const plain[] = {"ctn_conv2d_s8", "ctn_depthwise_conv2d_s8",
                                        "ctn_conv_transpose2d_s8", "ctn_linear_s8"};
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (strcmp(plain[i], kernel) == 0)
            return true;
    return false;
}

static void one_channel_does_not_keep_a_layer_from_the_fast_kernel(void **state) {
    static const char *const cpus[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cpus); k++) {
        const char *fast = compiled(cpus[k], NULL, "speed"),
                   *plain = compiled(cpus[k], "c", "speed");
        json_t *call, *list = json_object_get(flow_report(fast), "calls");
        size_t i;
        int channels = 0, all_plain = 0;
        json_array_foreach(list, i, call) {
            const char *kernel = json_string_value(json_object_get(call, "kernel"));
            channels += strncmp(kernel, "ctn_conv2d_channels_s8", 22) == 0;
            all_plain += is_plain(kernel);
        }
        if (channels != 3 || all_plain > 0)
            fail_msg("%s: %d calls of single channels, %d layers in plain C", cpus[k], channels,
                     all_plain);
        ArrayList a = flow_outputs(fast, data, NULL), b = flow_outputs(plain, data, NULL);
        const Array *x = a.item[0].array, *y = b.item[0].array;
        assert_int_equal(array_bytes(x), array_bytes(y));
        assert_memory_equal(x->data, y->data, (size_t)array_bytes(x));
    }
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_channel_does_not_keep_a_layer_from_the_fast_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
