/* Vectors, reset and faults of all boards; where memory lies is said by <machine>/link.ld. Code
 * built for ARMv6-M runs on an M3 here, so unaligned access is made to fault as a real M0+ does. */
#include "board.h"

extern uint32_t link_stack_limit[], link_stack_top[];
extern uint32_t link_data_start[], link_data_end[], link_data_load[];
extern uint32_t link_bss_start[], link_bss_end[];

#define SCB_CCR (*(volatile uint32_t *)0xe000ed14u)
#define SCB_CPACR (*(volatile uint32_t *)0xe000ed88u)
#define SCB_CFSR (*(volatile uint32_t *)0xe000ed28u)

enum { CCR_UNALIGN_TRP = 1 << 3, STACK_PAINT = 0x5a5a5a5a };

void counter_wrapped(void);

static void print_hex(const char *label, uint32_t v) {
    char text[11] = "00000000\n";
    for (int i = 7; i >= 0; i--, v >>= 4)
        text[i] = "0123456789abcdef"[v & 15];
    console_print(label);
    console_print(text);
}

__attribute__((used)) static void fault_report(const uint32_t *frame) {
    console_print("fault on the chip\n");
    print_hex("  pc   ", frame[6]);
    print_hex("  lr   ", frame[5]);
    print_hex("  cfsr ", SCB_CFSR);
    program_exit(99);
}

__attribute__((naked)) static void fault(void) {
    __asm__ volatile("mov r0, sp\n ldr r1, =fault_report\n bx r1\n .ltorg");
}

void reset(void);
void reset(void) {
#if __ARM_ARCH_ISA_THUMB == 1 || defined(__ARM_ARCH_8M_BASE__)
    SCB_CCR |= CCR_UNALIGN_TRP;
#else
    SCB_CPACR |= 0xfu << 20; /* FPU and MVE, where there are any */
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
    uint32_t *load = link_data_load;
    for (uint32_t *p = link_data_start; p < link_data_end; p++)
        *p = *load++;
    for (uint32_t *p = link_bss_start; p < link_bss_end; p++)
        *p = 0;
    program_exit(main());
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))link_stack_top,
    reset,
    fault,
    fault,
    fault,
    fault,
    fault,
    fault,
    0,
    0,
    0,
    fault,
    fault,
    0,
    fault,
    counter_wrapped,
};

uint32_t *stack_painted_top;

/* in assembly, for it must not have a frame itself */
__attribute__((naked, noinline)) void stack_paint(void) {
    __asm__ volatile(".syntax unified\n"
                     "ldr r0, =link_stack_limit\n"
                     "ldr r1, =%c0\n"
                     "ldr r2, =stack_painted_top\n"
                     "mov r3, sp\n"
                     "str r3, [r2]\n"
                     "b 2f\n"
                     "1: str r1, [r0]\n"
                     "adds r0, #4\n"
                     "2: cmp r0, r3\n"
                     "blo 1b\n"
                     "bx lr\n"
                     ".ltorg" ::"i"(STACK_PAINT));
}

uint32_t stack_used(void) {
    const uint32_t *p = link_stack_limit;
    while (p < stack_painted_top && *p == STACK_PAINT)
        p++;
    return (uint32_t)((const uint8_t *)stack_painted_top - (const uint8_t *)p);
}
