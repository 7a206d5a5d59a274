/* How much flash kernels take, built as `corten verify --on qemu` builds them. */
#include "flow/flow.h"
#include "lower/lower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Bytes of code and tables of one file of runtime/. */
static long bytes_of(const char *cpu, const char *name) {
    const char *object = flow_path("kernel.o");
    Said said = flow_shell("arm-none-eabi-gcc %s -std=gnu11 -O2 -ffreestanding -I" CORTEN_RUNTIME
                           " -c " CORTEN_RUNTIME "/%s.c -o %s && arm-none-eabi-size %s",
                           cpu_find(cpu)->gcc_flags, name, object, object);
    assert_code(said, 0);
    return strtol(strchr(said.results, '\n'), NULL, 10);
}

static void kernel_of_a_single_addition_is_below_1_kb(void **state) {
    (void)state;
    static const char *const level[][2] = {{"cortex-m0plus", "add_s8_v6m"},
                                           {"cortex-m3", "add_s8_v7m"},
                                           {"cortex-m4", "add_s8_dsp"},
                                           {"cortex-m55", "add_s8_mve"}};
    if (!flow_has("arm-none-eabi-gcc"))
        skip();
    for (size_t i = 0; i < COUNT_OF(level); i++) {
        long bytes = bytes_of(level[i][0], level[i][1]);
        if (bytes <= 0 || bytes >= 1024)
            fail_msg("%s takes %ld bytes on %s", level[i][1], bytes, level[i][0]);
    }
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_of_a_single_addition_is_below_1_kb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
