/* Pointwise programs with exponentials, natural logarithms and the error function. */
#define CTN_LAST_OP CTN_FLOAT_ERFC
#include "program.h"

CTN_PROGRAM_KERNEL(program_erf_f32, ProgramErfF32)
