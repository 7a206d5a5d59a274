/* The operator table's row as the page has it is the row of the code. */
#include "graph/graph.h"

#define Op OpOfThePage
#include "block.c"
#undef Op

#define IS_MEMBER(name)                                                                            \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((Op *)0)->name),                       \
                                                __typeof__(((OpOfThePage *)0)->name)) &&           \
                       offsetof(Op, name) == offsetof(OpOfThePage, name),                          \
                   #name)

IS_MEMBER(schema);
IS_MEMBER(traits);
IS_MEMBER(map);
IS_MEMBER(shape);
IS_MEMBER(eval);
IS_MEMBER(decompose);
IS_MEMBER(quant);
IS_MEMBER(lower);
IS_MEMBER(no_integer_form);
IS_MEMBER(lower_float);
_Static_assert(sizeof(Op) == sizeof(OpOfThePage), "all members");
