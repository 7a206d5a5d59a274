/* Two models on one arena, or with SEPARATE each on its own: what they print must be the same. They
 * take turns, so that each finds in the arena what the other has left there. */
#include "digits_silu.h"
#include "image.h"

#ifdef __ARM_ARCH
#include "board.h"
#else
#include <stdio.h>
static void console_print(const char *text) {
    fputs(text, stdout);
}
#endif

#ifndef SEPARATE
CTN_ALIGN(16) uint8_t shared_arena[CTN_LARGER(DIGITS_SILU_ARENA_BYTES, IMAGE_ARENA_BYTES)];
#endif

static digits_silu_t digits;
static image_t image;

static void fill(void *input, uint32_t bytes, uint32_t seed) {
    for (uint32_t i = 0; i < bytes; i++)
        ((uint8_t *)input)[i] = (uint8_t)(i * 37 + seed);
}

static void print_bytes(const char *name, const void *output, uint32_t bytes) {
    console_print(name);
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t b = ((const uint8_t *)output)[i];
        char text[] = {' ', "0123456789abcdef"[b >> 4], "0123456789abcdef"[b & 15], 0};
        console_print(text);
    }
    console_print("\n");
}

int main(void) {
    if (DIGITS_SILU_SETUP(&digits) != 0 || IMAGE_SETUP(&image) != 0)
        return 1;
    for (uint32_t turn = 0; turn < 3; turn++) {
        fill(digits_silu_input0(&digits), DIGITS_SILU_INPUT0_BYTES, turn);
        digits_silu_run(&digits);
        print_bytes("digits", digits_silu_output0(&digits), DIGITS_SILU_OUTPUT0_BYTES);
        fill(image_input0(&image), IMAGE_INPUT0_BYTES, turn);
        image_run(&image);
        print_bytes("image", image_output0(&image), IMAGE_OUTPUT0_BYTES);
    }
    return 0;
}
