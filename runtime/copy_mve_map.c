/* Affine copy of bytes through a table by MVE: looked up sixteen at a time by gathering loads. The
 * host has put last a dim along which both sides are dense, and exchanged the halves of the table,
 * so that a byte is its own index. */
#if defined(__ARM_FEATURE_MVE) || defined(CTN_EMULATE)
#include "ctn.h"
#include "loop.h"
#include "run_mve.h"

#ifdef CTN_EMULATE
static void map_rows(uint8_t *to, const uint8_t *from, const uint8_t *table,
                     const CtnByteRows *rows) {
    for (int32_t row = 0; row < rows->count; row++)
        for (int32_t i = 0; i < rows->bytes; i++)
            to[row * rows->out_stride + i] = table[from[row * rows->in_stride + i]];
}
#else
static void map_rows(uint8_t *to, const uint8_t *from, const uint8_t *table,
                     const CtnByteRows *rows) {
    int32_t count = rows->count;
    __asm__ volatile("0: wlstp.8 lr, %[bytes], 2f\n"
                     "1: vldrb.u8 q0, [%[from]], #16\n"
                     "vldrb.u8 q1, [%[table], q0]\n"
                     "vstrb.8 q1, [%[to]], #16\n"
                     "letp lr, 1b\n"
                     "2: add %[from], %[from], %[in_gap]\n"
                     "add %[to], %[to], %[out_gap]\n"
                     "subs %[count], %[count], #1\n"
                     "bne 0b\n"
                     : [to] "+&r"(to), [from] "+&r"(from), [count] "+&r"(count)
                     : [bytes] "r"(rows->bytes), [table] "r"(table),
                       [in_gap] "r"(ctn_row_gap(rows->in_stride, rows->bytes)),
                       [out_gap] "r"(ctn_row_gap(rows->out_stride, rows->bytes))
                     : "lr", "q0", "q1", "memory", "cc");
}
#endif

void ctn_copy_mve_map(const CtnCopyArgs *a, const CtnFrame *frame) {
    const uint8_t *input = ctn_at(frame, a->input);
    const uint8_t *table = ctn_at(frame, a->table);
    uint8_t *output = ctn_at(frame, a->output);
    int32_t index[6] = {0}, in = 0, out = 0;
    if (ctn_is_empty(8, a->dim))
        return;
    const CtnByteRows rows = {a->dim[6], a->dim[7], a->in_stride[6], a->out_stride[6]};
    do
        map_rows(output + out, input + in, table, &rows);
    while (ctn_step(6, a->dim, index, a->in_stride, &in, a->out_stride, &out));
}
#endif
