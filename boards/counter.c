/* Instructions by SysTick under `-icount shift=5`: an instruction is 32 ns of virtual time, SysTick
 * counts down at BOARD_MHZ, so a tick is 1000 / (32 * BOARD_MHZ) instructions. It wraps every 2^24
 * ticks; the handler counts these, and the instructions it takes itself are taken off again. */
#include "board.h"
#include "machine.h"

#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)

enum { WRAP_INSTRUCTIONS = 6 }; /* of counter_wrapped below */

static volatile uint32_t wraps;
static uint64_t overhead; /* ticks between two readings */

void counter_wrapped(void);
void counter_wrapped(void) {
    wraps++;
}

void counter_start(void) {
    SYST_CSR = 0;
    SYST_RVR = 0xffffff;
    SYST_CVR = 0;
    wraps = 0;
    SYST_CSR = 7; /* processor clock, interrupt, on */
    while (SYST_CVR == 0)
        ;
    uint64_t before = counter_now();
    uint64_t after = counter_now();
    overhead = after - before;
}

/* Ticks; the number of wraps is in the upper bits. */
uint64_t counter_now(void) {
    uint32_t count, value;
    do {
        count = wraps;
        value = SYST_CVR;
    } while (count != wraps);
    return ((uint64_t)count << 24) + (0xffffffu - value);
}

uint64_t counter_between(uint64_t before, uint64_t after) {
    uint64_t ticks = after - before;
    uint64_t handled = ((after >> 24) - (before >> 24)) * WRAP_INSTRUCTIONS;
    uint64_t instructions = (ticks - overhead) * 1000 / (32 * BOARD_MHZ);
    return ticks > overhead && instructions > handled ? instructions - handled : 0;
}
