/* A precision file. */
#include "compile.h"

static void use(const char *path) {
    fuzz_compile((CortenOptions){.precision_file = path});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_file(data, size, use);
    return 0;
}
