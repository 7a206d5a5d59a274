/* A model on a bare chip: bind it to its memory once, then write the input, run, read the output.
 * The memory is the emitted file's own; printing is the board's. */
#include "board.h"
#include "digits.h"

static digits_silu_t model;

static void print_digit(int digit, int expected) {
    char text[] = "digit 0, should be 0\n";
    text[6] = (char)('0' + digit);
    text[19] = (char)('0' + expected);
    console_print(text);
}

int main(void) {
    if (DIGITS_SILU_SETUP(&model) != 0)
        return 1;
    for (int i = 0; i < DIGIT_COUNT; i++) {
        digit_quantize(digit_pixels[i], digits_silu_input0(&model));
        digits_silu_run(&model);
        print_digit(digit_best(digits_silu_output0(&model)), digit_labels[i]);
    }
    return 0;
}
