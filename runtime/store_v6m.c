/* The store of store_v6m.h: in C, and its routines in assembly. */
#if defined(CTN_EMULATE) || defined(__ARM_ARCH)
#include "store_v6m.h"
#include "short_store.h"

CtnStoreV6m ctn_store_begin_v6m(uint32_t narrow, int32_t output_zero_point, int32_t clamp_max,
                                const int8_t *table) {
    uint32_t kind = ctn_tail_of(clamp_max, table);
    if (kind == CTN_TAIL_S8 && output_zero_point == -128)
        kind = CTN_STORE_RELU;
    CtnStoreV6m store = {.constant = ctn_tail_of(clamp_max, table),
                         .table = table ? table + clamp_max + 1 : table,
                         .zero = 2 * output_zero_point + 1,
                         .round = narrow << 10,
                         .code = ctn_store_code_v6m(kind + narrow * CTN_STORE_NARROW)};
    return store;
}

/* The factors' pieces put together again. */
int8_t ctn_store_v6m(const CtnStoreV6m *store, uint32_t sum, const uint8_t *factor) {
    const uint16_t *piece = (const uint16_t *)(const void *)factor;
    int32_t multiplier = (int32_t)((uint32_t)piece[1] << 16 | piece[0]), n = factor[5];
    if (store->round != 0) {
        multiplier = piece[1] << 20 | piece[0] << 8 | factor[4];
        n -= 11;
    }
    return ctn_short_store((int32_t)(sum << 1), multiplier, n - 1, store->zero, store->constant,
                           store->table);
}

#ifdef CTN_EMULATE
uintptr_t ctn_store_code_v6m(uint32_t kind) {
    return kind;
}
#else
/* A store: r2 sum, r1 factors, r7 shift; gives r2, the byte; uses r3 - r6. */
#define WIDE(sign)                                                                                 \
    "sxth r3, r2\n" /* l */                                                                        \
    "subs r6, r2, r3\n"                                                                            \
    "asrs r6, r6, #16\n" /* h */                                                                   \
    "ldrh r4, [r1]\n"                                                                              \
    "movs r5, r3\n"                                                                                \
    "muls r5, r4, r5\n"                                                                            \
    "asrs r5, r5, #16\n"                                                                           \
    "muls r4, r6, r4\n"                                                                            \
    "adds r4, r4, r5\n"                                                                            \
    "ldrh r5, [r1, #2]\n"                                                                          \
    "muls r3, r5, r3\n"                                                                            \
    "adds r3, r3, r4\n"                                                                            \
    "muls r6, r5, r6\n"                                                                            \
    "movs r4, #1\n"                                                                                \
    "lsls r4, r4, #14\n"                                                                           \
    "adds r3, r3, r4\n"                                                                            \
    "asrs r3, r3, #15\n"                                                                           \
    "lsls r6, r6, #1\n"                                                                            \
    "adds r3, r3, r6\n" sign "ldr r4, [sp]\n"                                                      \
    "adds r3, r3, r4\n"                                                                            \
    "asrs r3, r7\n"
#define WIDE_SIGN                                                                                  \
    "asrs r2, r2, #31\n"                                                                           \
    "adds r3, r3, r2\n"
#define NARROW(sign)                                                                               \
    "ldrb r3, [r1, #4]\n"                                                                          \
    "muls r3, r2, r3\n"                                                                            \
    "asrs r3, r3, #8\n"                                                                            \
    "ldrh r4, [r1]\n"                                                                              \
    "muls r4, r2, r4\n"                                                                            \
    "adds r3, r3, r4\n"                                                                            \
    "asrs r3, r3, #12\n"                                                                           \
    "ldrh r4, [r1, #2]\n"                                                                          \
    "muls r4, r2, r4\n"                                                                            \
    "adds r3, r3, r4\n" sign "ldr r4, [sp]\n"                                                      \
    "adds r3, r3, r4\n"                                                                            \
    "asrs r3, r7\n"
#define NARROW_SIGN                                                                                \
    "asrs r2, r2, #31\n"                                                                           \
    "lsls r2, r2, #11\n"                                                                           \
    "adds r3, r3, r2\n"
#define SATURATE                                                                                   \
    "sxtb r2, r3\n"                                                                                \
    "cmp r2, r3\n"                                                                                 \
    "beq 90f\n"                                                                                    \
    "asrs r3, r3, #31\n"                                                                           \
    "movs r2, #127\n"                                                                              \
    "eors r2, r3\n"                                                                                \
    "90:\n"
#define LOOK_UP                                                                                    \
    SATURATE "ldr r4, [sp, #4]\n"                                                                  \
             "ldrb r2, [r4, r2]\n"
#define LOOK_UP_10                                                                                 \
    "asrs r4, r3, #9\n"                                                                            \
    "asrs r5, r3, #31\n"                                                                           \
    "cmp r4, r5\n"                                                                                 \
    "beq 90f\n"                                                                                    \
    "movs r3, #1\n"                                                                                \
    "lsls r3, r3, #9\n"                                                                            \
    "subs r3, #1\n"                                                                                \
    "eors r3, r5\n"                                                                                \
    "90: ldr r4, [sp, #4]\n"                                                                       \
    "ldrb r2, [r4, r3]\n"

#define ROUTINE(name, body)                                                                        \
    __attribute__((naked)) static void name(void) {                                                \
        __asm__(".syntax unified\n" body "bx lr\n");                                               \
    }
ROUTINE(wide, WIDE(WIDE_SIGN) SATURATE)
ROUTINE(wide_table, WIDE(WIDE_SIGN) LOOK_UP)
ROUTINE(wide_table_10, WIDE(WIDE_SIGN) LOOK_UP_10)
ROUTINE(wide_relu, WIDE("") SATURATE)
ROUTINE(narrow, NARROW(NARROW_SIGN) SATURATE)
ROUTINE(narrow_table, NARROW(NARROW_SIGN) LOOK_UP)
ROUTINE(narrow_table_10, NARROW(NARROW_SIGN) LOOK_UP_10)
ROUTINE(narrow_relu, NARROW("") SATURATE)

uintptr_t ctn_store_code_v6m(uint32_t kind) {
    static void (*const routine[CTN_STORE_KINDS])(void) = {
        wide,   wide_table,   wide_table_10,   wide_relu,
        narrow, narrow_table, narrow_table_10, narrow_relu};
    return (uintptr_t)routine[kind];
}
#endif
#endif
