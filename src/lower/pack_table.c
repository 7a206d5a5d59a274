/* Look-up variants: they know one-byte entries only. */
#include "lower/packing.h"

bool table_of_bytes(const Call *call) {
    return ((const CtnTableS8Args *)call->args)->entry_size == 1;
}
