/* The CPUs that -t names: ISA level, compiler flags, and the QEMU board that stands in for it. */
#include "lower/lower.h"

#include <string.h>

const char *const isa_levels[] = {"v6m", "v7m", "dsp", "mve"};
const int isa_level_count = COUNT_OF(isa_levels);

/* An M3 runs ARMv6-M code; boards/ traps unaligned access there as a real M0 does. GCC 12 has no
 * name for the M85 yet: its instructions are the M55's. */
const Cpu cpu_table[] = {
    {"cortex-m0", "v6m", "-mcpu=cortex-m0 -mthumb", "mps2-an385", "mps2-an385"},
    {"cortex-m0plus", "v6m", "-mcpu=cortex-m0plus -mthumb", "mps2-an385", "mps2-an385"},
    {"cortex-m23", "v6m", "-mcpu=cortex-m23 -mthumb", "mps2-an505", "mps2-an505"},
    {"cortex-m3", "v7m", "-mcpu=cortex-m3 -mthumb", "mps2-an385", "mps2-an385"},
    {"cortex-m4", "dsp", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "mps2-an386",
     "mps2-an386"},
    {"cortex-m7", "dsp", "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16", "mps2-an500",
     "mps2-an500"},
    {"cortex-m33", "dsp", "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
     "mps2-an505", "mps2-an505"},
    {"cortex-m35p", "dsp", "-mcpu=cortex-m35p -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
     "mps2-an505", "mps2-an505"},
    {"cortex-m55", "mve", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3-an547"},
    {"cortex-m85", "mve", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3-an547"},
};
const int cpu_table_count = COUNT_OF(cpu_table);

const Cpu *cpu_find(const char *name) {
    for (int i = 0; i < cpu_table_count; i++)
        if (strcmp(cpu_table[i].name, name) == 0)
            return &cpu_table[i];
    return NULL;
}
