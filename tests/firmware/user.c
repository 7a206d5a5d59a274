/* A program that takes an exported model up. */
#include "digits_silu.h"

int main(void) {
    digits_silu_t model;
    if (DIGITS_SILU_SETUP(&model) != 0)
        return 1;
    digits_silu_run(&model);
    return digits_silu_output0(&model)[0];
}
