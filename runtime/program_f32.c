/* Pointwise programs with every operator there is. */
#define CTN_LAST_OP CTN_FLOAT_ATANH
#include "program.h"

CTN_PROGRAM_KERNEL(program_f32, ProgramF32)
