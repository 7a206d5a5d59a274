/* Tables of look-up variants: of one-byte entries only, in the order of the activations' bytes. */
#include "lower/packing.h"

#include <string.h>

bool table_of_bytes(const Call *call) {
    const CtnTableS8Args *a = call->args;
    return a->entry_size == 1 && call_data(call, &a->table);
}

static void order_by_bytes(Call *call, uint32_t *table) {
    enum { HALF = 128 };
    const int8_t *from = call_data(call, table);
    int8_t entry[2 * HALF];
    memcpy(entry, from + HALF, HALF);
    memcpy(entry + HALF, from, HALF);
    call_const(call, table, "table", DT_I8, entry, sizeof entry, 1);
}

void pack_table_of_bytes(C *c, Graph *g, Call *call) {
    (void)c, (void)g;
    CtnTableS8Args *a = call->args;
    order_by_bytes(call, &a->table);
}

void pack_mapped_copy(C *c, Graph *g, Call *call) {
    CtnCopyArgs *a = call->args;
    pack_copy_of_bytes(c, g, call);
    order_by_bytes(call, &a->table);
}
