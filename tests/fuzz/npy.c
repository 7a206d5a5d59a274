/* A .npy. */
#include "fuzz.h"

static void body(C *c, void *user) {
    const Input *input = user;
    Array *a = npy_parse(c, "fuzz.npy", input->data, input->size);
    for (int64_t i = 0, count = array_count(a); i < count && i < 1000; i++)
        array_get(a, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_try(data, size, body);
    return 0;
}
