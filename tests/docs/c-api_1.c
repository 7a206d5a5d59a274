/* A compile through the library. */
#include <corten/corten.h>

int user(void);

int user(void) {
#include "block.c"
    return code;
}
