/* A PNG or JPEG, as a sample of a small input. */
#include "fuzz.h"

static void body(C *c, void *path) {
    image_read(c, path, 3, 5, 7);
}

static void use(const char *path) {
    fuzz_run(body, (void *)path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_file(data, size, use);
    return 0;
}
