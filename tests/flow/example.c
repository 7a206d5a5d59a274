#include "flow/example.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

CortenOptions example_options(const char *out) {
    static const char *const data = EXAMPLE_DATA;
    return (CortenOptions){.model = EXAMPLE_MODEL,
                           .calibrate = &data,
                           .calibrate_count = 1,
                           .target = "cortex-m0plus",
                           .out = out};
}

const char *example_compiled(void) {
    const char *out = flow_path("compiled");
    if (!file_exists(out))
        assert_code(flow_run(corten_compile, example_options(out)), 0);
    return out;
}

void example_refused(CortenOptions o, int code, const char *says) {
    const char *out = flow_path("refused");
    o.out = out;
    Said said = flow_run(corten_compile, o);
    assert_code(said, code);
    assert_says(said.messages, says);
    assert_says(said.messages, "error: ");
    assert_string_equal(said.results, "");
    assert_false(file_exists(out));
}
