/* Row-wise execution changes memory and nothing else: a model whose rows are no whole number of any
 * kernel's blocks gives the same bytes with strips and without. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MODEL "flow/narrow.pt2"
#define DATA "flow/narrow.npz"

static const char *const cpus[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};

/* Where it was compiled to. `ram`: 0, or what permits as few strips as that much memory. */
static const char *compiled(const char *cpu, int64_t ram) {
    static const char *const data[] = {DATA};
    const char *out = flow_path("%s_%d", cpu, ram > 0);
    CortenOptions o = {.model = MODEL,
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = cpu,
                       .out = out,
                       .ram = ram,
                       .quiet = true};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static int64_t arena_of(const char *out) {
    return json_integer_value(json_object_get(flow_report(out), "arena_bytes"));
}

static void strips_give_the_bytes_of_whole_images(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *strips = compiled(cpus[i], 0), *whole = compiled(cpus[i], 1000000);
        assert_says(file_text(flow_text("%s/narrow.c", strips)), "static void strip");
        assert_silent_on(file_text(flow_text("%s/narrow.c", whole)), "static void strip");
        assert_true(arena_of(strips) < arena_of(whole));
        ArrayList a = flow_outputs(strips, DATA, NULL), b = flow_outputs(whole, DATA, NULL);
        if (flow_sqnr(a.item[0].array, b.item[0].array) < 300)
            fail_msg("%s: strips give other results", cpus[i]);
    }
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {cmocka_unit_test(strips_give_the_bytes_of_whole_images)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
