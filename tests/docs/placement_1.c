/* An arena for each memory of the page's compile, the library's or one's own. */
#include "out/digits_silu.h"

int user(uint8_t *my_dtcm, uint8_t *my_sram);

int user(uint8_t *my_dtcm, uint8_t *my_sram) {
    digits_silu_t model;
#include "block.c"
    return digits_silu_step(&model);
}
