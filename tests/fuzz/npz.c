/* A zip of arrays, read from a file as users give it. */
#include "fuzz.h"

static void body(C *c, void *path) {
    npz_read(c, path);
}

static void use(const char *path) {
    fuzz_run(body, (void *)path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_file(data, size, use);
    return 0;
}
