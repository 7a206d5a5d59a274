/* Deterministic calls of every kernel, for its tests on the host and on QEMU: edge shapes first,
 * then random ones. A case is a lowered call whose buffers are placed apart, so that a stray write
 * hits bytes that must not change. */
#ifndef CORTEN_KERNEL_CASES_H
#define CORTEN_KERNEL_CASES_H

#include "lower/lower.h"

typedef struct {
    Graph *graph;
    Call *call;
    const Variant *variant;
    uint8_t *arena, *weights; /* 64-byte aligned images: the arena before the run */
    int64_t arena_bytes, weights_bytes;
    int64_t output, output_bytes;   /* where the call may write ... */
    int64_t scratch, scratch_bytes; /* ... and need not leave the same bytes */
} KernelCase;

int case_count(int kernel);
/* Case `index` of a kernel as `variant` wants it packed; from case_count on with larger dims, where
 * it has dims. NULL if the variant does not accept it. */
KernelCase *case_make(C *c, const Variant *variant, int index);
/* Runs the variant's host function on a copy of the arena; returns that copy. */
uint8_t *case_run(C *c, const KernelCase *k);
/* The first byte outside of output and scratch that differs from `before`, or -1. */
int64_t case_stray_write(const KernelCase *k, const uint8_t *after);

#endif
