/* Runs a target on files and folders of them without a fuzzer: the corpus as a test. */
#include "fuzz.h"

#include <stdio.h>

static int run_file(C *c, const char *path) {
    size_t bytes;
    const char *data = file_read(c, path, &bytes);
    uint8_t *copy = malloc(bytes + 1); /* of its size, so that a reader beyond it is seen */
    if (!copy)
        abort();
    memcpy(copy, data, bytes);
    LLVMFuzzerTestOneInput(copy, bytes);
    free(copy);
    return 1;
}

int main(int argc, char **argv) {
    C *c = c_new();
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const char **name;
        int files = path_is_folder(argv[i]) ? folder_list(c, argv[i], &name) : 0;
        for (int k = 0; k < files; k++)
            count += run_file(c, path_join(c, argv[i], name[k]));
        if (!path_is_folder(argv[i]))
            count += run_file(c, argv[i]);
    }
    printf("%d inputs\n", count);
    c_free(c);
    return count == 0;
}
