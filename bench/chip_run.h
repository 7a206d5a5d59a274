/* Calls run on a QEMU board, one after the other, each counted. */
#ifndef CORTEN_BENCH_CHIP_RUN_H
#define CORTEN_BENCH_CHIP_RUN_H

#include "lower/lower.h"
#include "run/process.h"

typedef struct { /* a call placed in two images, as plan would place it in arena and weights */
    const Call *call;
    const uint8_t *arena, *weights;
    int64_t arena_bytes, weights_bytes;
} BoardCall;

typedef struct { /* in the models of cycles.c */
    uint64_t a, b;
} Cycles;

typedef struct {
    uint32_t *instructions; /* of each call */
    const Cycles *cycles;   /* likewise; NULL unless asked for */
    const uint8_t *arenas;  /* after each call, one behind the other */
    size_t arena_bytes;
} BoardResult;

/* Writes cases.bin in the folder, which bench/chip.c reads. */
void board_write_calls(C *c, const char *work, int count, const BoardCall *calls);
/* The compiler's words for bench/chip.c with the whole runtime on the CPU's board. */
Words board_compiler(C *c, const Cpu *cpu, const char *elf);
/* plugin: the file of cycles.c's, or NULL. */
BoardResult board_run(C *c, const Cpu *cpu, int count, const BoardCall *calls, const char *plugin);

#endif
