/* What the fuzz targets share: an input is tried in a fresh C, as bytes or as the file that users
 * give, and whatever it is, the end must be a result or a diagnostic of the kinds that input can
 * cause, never a bug's. */
#ifndef CORTEN_FUZZ_H
#define CORTEN_FUZZ_H

#include "base/base.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    const uint8_t *data;
    size_t size;
} Input;

static inline void fuzz_run(void (*body)(C *c, void *input), void *input) {
    C *c = c_new();
    int code = c_try(c, body, input);
    if (code != 0 && code != DIAG_MODEL && code != DIAG_INPUT) {
        diag_print(c, stderr, false, false);
        abort();
    }
    c_free(c);
}

static inline void fuzz_try(const uint8_t *data, size_t size, void (*body)(C *c, void *input)) {
    Input input = {data, size};
    fuzz_run(body, &input);
}

/* The file is there while `use` runs. */
static inline void fuzz_file(const uint8_t *data, size_t size, void (*use)(const char *path)) {
    char path[64];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    use(path);
    close(fd);
}

#endif
