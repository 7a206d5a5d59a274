/* A precision file, through the public entry point; the model is none, so that ends with exit 3. */
#include "corten/corten.h"
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere;
    char path[64];
    int fd = memfd_create("fuzz.txt", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    int code = corten_compile(&(CortenOptions){.model = "/dev/null",
                                               .target = "cortex-m4",
                                               .precision_file = path,
                                               .stop_after = "functionalize",
                                               .results = nowhere,
                                               .messages = nowhere});
    close(fd);
    if (code != DIAG_INPUT && code != DIAG_USAGE)
        abort();
    return 0;
}
