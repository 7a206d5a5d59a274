/* An arena that is another model's too. */
#include "shared/digits_silu.h"

#define WAKE_WORD_ARENA_BYTES 100

#include "block.c"

_Static_assert(sizeof app_arena >= DIGITS_SILU_ARENA_BYTES, "room for both");
