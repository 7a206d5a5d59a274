/* One inference with a model as it is emitted. */
#include "digits_silu.h"

#include <string.h>

const int8_t *user(const int8_t *image);

const int8_t *user(const int8_t *image) {
#include "block.c"
    return scores;
}
