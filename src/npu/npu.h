/* Models with an Ethos-U beside the CPU: which nodes run there, and what Arm's compiler makes of
 * them. The passes are rows of the pipeline; without an NPU they do nothing. */
#ifndef CORTEN_NPU_H
#define CORTEN_NPU_H

#include "emit/emit.h"

/* Compiles the program's TOSA file and fills in what Vela made of it. */
void vela_compile(C *c, const Options *o, NpuProgram *p);

#endif
