/* What -t names: CPUs, each with its ISA level, compiler flags and the QEMU board that stands in
 * for it, and NPUs, each with the CPU beside it. */
#include "lower/lower.h"

#include <string.h>

const char *const isa_levels[] = {"v6m", "v7m", "dsp", "mve"};
const int isa_level_count = COUNT_OF(isa_levels);

/* An M3 runs ARMv6-M code; boards/ traps unaligned access there as a real M0 does. GCC 12 has no
 * name for the M85 yet: its instructions are the M55's. The compiler schedules and chooses by the
 * CPU, so that those of one level take up to a sixth more or fewer instructions than each other. */
const Cpu cpu_table[] = {
    {"cortex-m0", "v6m", "-mcpu=cortex-m0 -mthumb", "mps2-an385", "mps2-an385", "cortex-m0plus"},
    {"cortex-m0plus", "v6m", "-mcpu=cortex-m0plus -mthumb", "mps2-an385", "mps2-an385",
     "cortex-m0plus"},
    {"cortex-m23", "v6m", "-mcpu=cortex-m23 -mthumb", "mps2-an505", "mps2-an505", "cortex-m23"},
    {"cortex-m3", "v7m", "-mcpu=cortex-m3 -mthumb", "mps2-an385", "mps2-an385", "cortex-m3"},
    {"cortex-m4", "dsp", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "mps2-an386",
     "mps2-an386", "cortex-m4"},
    {"cortex-m7", "dsp", "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16", "mps2-an500",
     "mps2-an500", "cortex-m7"},
    {"cortex-m33", "dsp", "-mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
     "mps2-an505", "mps2-an505", "cortex-m33"},
    {"cortex-m35p", "dsp", "-mcpu=cortex-m35p -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16",
     "mps2-an505", "mps2-an505", "cortex-m33"},
    {"cortex-m55", "mve", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3-an547",
     "cortex-m55"},
    {"cortex-m85", "mve", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", "mps3-an547", "mps3-an547",
     "cortex-m55"},
};
const int cpu_table_count = COUNT_OF(cpu_table);

#define U55 NPU_U55, "cortex-m55", "Ethos_U55_High_End_Embedded", "Shared_Sram"
#define U65 NPU_U65, "cortex-m55", "Ethos_U65_High_End", "Shared_Sram"
#define U85 NPU_U85, "cortex-m85", "Ethos_U85_SYS_Flash_High", "Shared_Sram"

const Npu npu_table[] = {
    {"ethos-u55-32", U55},   {"ethos-u55-64", U55},   {"ethos-u55-128", U55},
    {"ethos-u55-256", U55},  {"ethos-u65-256", U65},  {"ethos-u65-512", U65},
    {"ethos-u85-128", U85},  {"ethos-u85-256", U85},  {"ethos-u85-512", U85},
    {"ethos-u85-1024", U85}, {"ethos-u85-2048", U85},
};
const int npu_table_count = COUNT_OF(npu_table);

const Cpu *cpu_find(const char *name) {
    for (int i = 0; i < cpu_table_count; i++)
        if (strcmp(cpu_table[i].name, name) == 0)
            return &cpu_table[i];
    return NULL;
}
