/* Pointwise programs with exponentials and natural logarithms. */
#define CTN_LAST_OP CTN_FLOAT_SIGMOID
#include "program.h"

CTN_PROGRAM_KERNEL(program_exp_f32, ProgramExpF32)
