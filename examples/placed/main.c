/* A model over several memories: memory.json says which the chip has, the hottest buffers and
 * weights are in the fastest, link.ld puts the sections there. What start-up has to do is to copy
 * the weights of the DTCM from flash. */
#include "board.h"
#include "digits.h"

/* digits_silu.ld defines them: where the weights belong, and where their image is. */
extern uint32_t digits_silu_dtcm_weights_start[], digits_silu_dtcm_weights_end[];
extern const uint32_t digits_silu_dtcm_weights_load[];

static digits_silu_t model;

static void load_weights(void) {
    const uint32_t *from = digits_silu_dtcm_weights_load;
    for (uint32_t *to = digits_silu_dtcm_weights_start; to < digits_silu_dtcm_weights_end; to++)
        *to = *from++;
}

static void print_address(const char *what, const void *address) {
    char text[] = " at 00000000\n";
    uintptr_t a = (uintptr_t)address;
    for (int i = 11; i >= 4; i--, a >>= 4)
        text[i] = "0123456789abcdef"[a & 15];
    console_print(what);
    console_print(text);
}

int main(void) {
    load_weights();
    if (DIGITS_SILU_SETUP(&model) != 0)
        return 1;
    print_address("input", digits_silu_input0(&model));
    print_address("hot buffers", digits_silu_dtcm);
    print_address("hot weights", digits_silu_dtcm_weights_start);
    print_address("other weights", model.frame.base[DIGITS_SILU_FLASH_WEIGHTS]);
    for (int i = 0; i < DIGIT_COUNT; i++) {
        char text[] = "digit 0, should be 0\n";
        digit_quantize(digit_pixels[i], digits_silu_input0(&model));
        digits_silu_run(&model);
        text[6] = (char)('0' + digit_best(digits_silu_output0(&model)));
        text[19] = (char)('0' + digit_labels[i]);
        console_print(text);
    }
    return 0;
}
