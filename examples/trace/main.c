/* What each call costs and leaves behind. Built with DIGITS_SILU_TRACE, the model reports its calls
 * to `digits_silu_trace`; cycles come from DWT, which ARMv7-M and ARMv8-M Mainline have, or on
 * others, and with -DUSE_SYSTICK, from SysTick, which counts down and has 24 bits. */
#include "board.h"
#include "digits.h"

#define DEMCR (*(volatile uint32_t *)0xe000edfcu)
#define DWT_CTRL (*(volatile uint32_t *)0xe0001000u)
#define DWT_CYCCNT (*(volatile uint32_t *)0xe0001004u)
#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__) || defined(USE_SYSTICK)
static void cycles_start(void) {
    SYST_RVR = 0xffffff;
    SYST_CVR = 0;
    SYST_CSR = 5; /* processor clock, no interrupt */
}
static uint32_t cycles_now(void) {
    return 0xffffffu - SYST_CVR;
}
enum { CYCLES_MASK = 0xffffff };
#else
static void cycles_start(void) {
    DEMCR |= 1u << 24; /* TRCENA */
    DWT_CYCCNT = 0;
    DWT_CTRL |= 1u;
}
static uint32_t cycles_now(void) {
    return DWT_CYCCNT;
}
#define CYCLES_MASK 0xffffffffu
#endif

static void print_number(const char *before, int32_t number) {
    char text[14];
    int at = sizeof text - 1;
    uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    text[at] = 0;
    do
        text[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        text[--at] = '-';
    console_print(before);
    console_print(text + at);
}

typedef struct {
    uint32_t begun;
    uint32_t cycles[DIGITS_SILU_CALL_COUNT];
    int8_t layer[8]; /* the first numbers of the call that is looked at */
} Trace;

enum { LOOKED_AT = DIGITS_SILU_CALL_COUNT - 1 };

static Trace trace;

void digits_silu_trace(const digits_silu_t *self, int k, int done) {
    if (!done) {
        trace.begun = cycles_now();
        return;
    }
    trace.cycles[k] = (cycles_now() - trace.begun) & CYCLES_MASK;
    const CtnCallInfo *info = &digits_silu_call_info[k];
    const int8_t *output = ctn_at(&self->frame, info->output);
    for (uint32_t i = 0; k == LOOKED_AT && i < sizeof trace.layer && i < info->bytes; i++)
        trace.layer[i] = output[i]; /* now: later calls may take the memory */
}

int main(void) {
    static digits_silu_t model;
    if (DIGITS_SILU_SETUP(&model) != 0)
        return 1;
    digit_quantize(digit_pixels[0], digits_silu_input0(&model));
    cycles_start();
    digits_silu_run(&model);
    for (int k = 0; k < DIGITS_SILU_CALL_COUNT; k++) {
        if (trace.cycles[k] == 0)
            continue; /* a strip: its last call did the work */
        print_number("cycles ", (int32_t)trace.cycles[k]);
        console_print(" ");
        console_print(digits_silu_call_info[k].kernel);
        console_print(" ");
        console_print(digits_silu_call_info[k].name);
        console_print("\n");
    }
    console_print(digits_silu_call_info[LOOKED_AT].name);
    for (uint32_t i = 0; i < sizeof trace.layer; i++)
        print_number(" ", trace.layer[i]);
    console_print("\n");
    return 0;
}
