/* A zip of arrays, read from a file as users give it. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static void body(C *c, void *path) {
    npz_read(c, path);
}

static void try_path(C *c, void *user) {
    const Input *input = user;
    int fd = memfd_create("fuzz.npz", 0);
    if (fd < 0 || write(fd, input->data, input->size) != (ssize_t)input->size)
        abort();
    int code = c_try(c, body, c_format(c, "/proc/self/fd/%d", fd));
    close(fd);
    if (code != 0 && code != DIAG_INPUT)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_try(data, size, try_path);
    return 0;
}
