/* Pointwise programs of arithmetic, comparisons, choices and roots. */
#define CTN_LAST_OP CTN_FLOAT_SQRT
#include "program.h"

CTN_PROGRAM_KERNEL(program_basic_f32, ProgramBasicF32)
