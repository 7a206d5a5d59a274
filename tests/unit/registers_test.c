/* Inline assembly as the compiler places it: no input may share a register with what the assembly
 * counts down or moves on, also where both start with the same number. */
#include "flow/flow.h"
#include "lower/lower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Five rows of five bytes: both numbers in one register would end the loop in the middle of a row,
 * or never. */
static const char five_rows[] =
    "#include \"run_mve.h\"\n"
    "static const CtnByteRows five = {5, 5, 5, 5};\n"
    "void copy(uint8_t *to, const uint8_t *from) { ctn_copy_rows_mve(to, from, &five); }\n"
    "void fill(uint8_t *to) { ctn_fill_rows_mve(to, vdupq_n_u8(0), &five); }\n";

/* The register behind a word in the assembly, from `at` on; moves `at` behind it. */
static const char *register_behind(const char **at, const char *word, char name[4]) {
    const char *found = strstr(*at, word);
    assert_non_null(found);
    *at = found += strlen(word);
    size_t length = strcspn(found, ",\n");
    assert_in_range(length, 1, 3);
    memcpy(name, found, length);
    name[length] = '\0';
    return name;
}

static void rows_are_counted_in_a_register_of_their_own(void **state) {
    (void)state;
    char rest[4], count[4];
    if (!flow_has("arm-none-eabi-gcc"))
        skip();
    Said said = flow_shell("arm-none-eabi-gcc %s -std=gnu11 -O2 -ffreestanding -I" CORTEN_RUNTIME
                           " -x c -S -o - - <<'END'\n%sEND",
                           cpu_find("cortex-m55")->gcc_flags, five_rows);
    assert_code(said, 0);
    const char *at = said.results;
    for (int i = 0; i < 2; i++) {
        register_behind(&at, "wlstp.8 lr, ", rest);
        register_behind(&at, "subs ", count);
        assert_string_not_equal(rest, count);
    }
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_counted_in_a_register_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
