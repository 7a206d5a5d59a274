/* Input in two buffers: while the model runs on one, an interrupt fills the other, and nothing is
 * copied. Compiled with --bind-inputs, the model's inputs lie where `digits_silu_bind_inputs` says
 * last. SysTick stands in for the camera's DMA: one pixel an interrupt. */
#include "board.h"
#include "digits.h"

#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)

enum { BUFFERS = 2, TICKS_PER_PIXEL = 40000 };

static CTN_ALIGN(16) int8_t buffer[BUFFERS][DIGITS_SILU_INPUTS_BYTES];
static volatile uint32_t pixels_taken; /* since the start: 64 to a frame */
static digits_silu_t model;

/* The camera: frame n is digit n % DIGIT_COUNT and goes to buffer n % BUFFERS. */
void counter_wrapped(void);
void counter_wrapped(void) {
    uint32_t frame = pixels_taken / DIGIT_PIXELS, pixel = pixels_taken % DIGIT_PIXELS;
    buffer[frame % BUFFERS][pixel] = pixel_quantize(digit_pixels[frame % DIGIT_COUNT][pixel]);
    pixels_taken++;
}

static void camera_start(void) {
    SYST_RVR = TICKS_PER_PIXEL;
    SYST_CVR = 0;
    SYST_CSR = 7; /* processor clock, interrupt, on */
}

static void report(uint32_t frame, uint32_t behind) {
    char text[] = "frame 0: digit 0, should be 0, 00 pixels of the next meanwhile\n";
    text[6] = (char)('0' + frame);
    text[15] = (char)('0' + digit_best(digits_silu_output0(&model)));
    text[28] = (char)('0' + digit_labels[frame % DIGIT_COUNT]);
    text[31] = (char)('0' + behind / 10);
    text[32] = (char)('0' + behind % 10);
    console_print(text);
}

int main(void) {
    if (DIGITS_SILU_SETUP(&model) != 0)
        return 1;
    camera_start();
    for (uint32_t frame = 0; frame < 2 * DIGIT_COUNT; frame++) {
        while (pixels_taken < (frame + 1) * DIGIT_PIXELS)
            ; /* or sleep */
        digits_silu_bind_inputs(&model, buffer[frame % BUFFERS]);
        digits_silu_run(&model);
        uint32_t behind = pixels_taken - (frame + 1) * DIGIT_PIXELS;
        if (behind >= DIGIT_PIXELS)
            return 2; /* the run takes longer than a frame: it read what was being overwritten */
        report(frame, behind);
    }
    return 0;
}
