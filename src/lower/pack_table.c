/* Look-up variants: they know one-byte entries only, in the order of the activations' bytes. */
#include "lower/packing.h"

#include <string.h>

bool table_of_bytes(const Call *call) {
    const CtnTableS8Args *a = call->args;
    return a->entry_size == 1 && call_data(call, &a->table);
}

void pack_table_of_bytes(C *c, Graph *g, Call *call) {
    (void)c, (void)g;
    enum { HALF = 128 };
    CtnTableS8Args *a = call->args;
    const int8_t *from = call_data(call, &a->table);
    int8_t entry[2 * HALF];
    memcpy(entry, from + HALF, HALF);
    memcpy(entry + HALF, from, HALF);
    call_const(call, &a->table, "table", DT_I8, entry, sizeof entry, 1);
}
