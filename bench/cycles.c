/* A QEMU plugin that counts the cycles of a region in two models of the Cortex-M55, both with
 * memory that never waits and without stalls between dependent instructions: for comparing kernels,
 * not for promising times.
 *
 *   A, no overlap: a scalar instruction takes 1, one on a vector of 128 bits 2, a gather or scatter
 *      half its elements; predicates and moves of a lane 1.
 *   B, overlap: in order, one instruction is issued per cycle. The units for loads and stores, for
 *      vectors of integers and for their products stay busy as long as A says, but the next
 *      instruction may go to another unit one cycle later; a taken branch takes 1 more.
 *
 * The end of a low-overhead loop (LE, LETP) is free in both. This is what Arm describes for the
 * dual-beat pipeline; which unit does what is as in public models of it, which are approximate.
 *
 * Arguments: listing=FILE, as `objdump -m armv8.1-m.main -d --no-show-raw-insn` writes it;
 * out=FILE, which gets two uint64 for each region (A, B). A region is what runs between `mov r9,
 * r9` and `mov r10, r10`. QEMU's declarations that are used stand here, for its header comes with
 * few distributions. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t PluginId;
typedef void TranslationBlock(PluginId id, void *block);
typedef void Executed(unsigned int cpu, void *user);

extern void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, TranslationBlock *call);
extern size_t qemu_plugin_tb_n_insns(const void *block);
extern void *qemu_plugin_tb_get_insn(const void *block, size_t index);
extern uint64_t qemu_plugin_insn_vaddr(const void *instruction);
extern void qemu_plugin_register_vcpu_insn_exec_cb(void *instruction, Executed *call, int flags,
                                                   void *user);

EXPORT extern int qemu_plugin_version;
int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(PluginId id, const void *info, int argc, char **argv);

/* ---- instructions -------------------------------------------------------------------------- */

typedef enum { UNIT_SCALAR, UNIT_MEMORY, UNIT_INTEGER, UNIT_PRODUCT, UNITS } Unit;
typedef enum { KIND_PLAIN, KIND_LOOP_END, KIND_BEGIN, KIND_END } Kind;

typedef struct {
    Kind kind;
    Unit unit;
    int cycles;
    uint32_t next; /* address of the instruction behind it */
} Instruction;

enum { VECTOR = 2, CODE_BYTES = 1 << 20 };

static Instruction *code[CODE_BYTES / 2]; /* by address; kernels lie in the first megabyte */
static FILE *out;

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* First match wins. Any other that begins with V works on vectors of integers if an operand is one.
 */
static const struct {
    const char *name;
    Unit unit;
    int cycles;
} units[] = {
    {"vldm", UNIT_MEMORY, VECTOR},   {"vstm", UNIT_MEMORY, VECTOR},
    {"vld", UNIT_MEMORY, VECTOR},    {"vst", UNIT_MEMORY, VECTOR},
    {"vpush", UNIT_MEMORY, VECTOR},  {"vpop", UNIT_MEMORY, VECTOR},
    {"vpt", UNIT_SCALAR, 1},         {"vmla", UNIT_PRODUCT, VECTOR},
    {"vmul", UNIT_PRODUCT, VECTOR},  {"vrmul", UNIT_PRODUCT, VECTOR},
    {"vrmla", UNIT_PRODUCT, VECTOR}, {"vqrdm", UNIT_PRODUCT, VECTOR},
    {"vqdm", UNIT_PRODUCT, VECTOR},  {"ldr", UNIT_MEMORY, 1},
    {"str", UNIT_MEMORY, 1},         {"ldm", UNIT_MEMORY, 1},
    {"stm", UNIT_MEMORY, 1},         {"push", UNIT_MEMORY, 1},
    {"pop", UNIT_MEMORY, 1},
};

/* A gather or scatter: the offsets are a vector, `[r0, q1...`; its elements are as wide as the name
 * says last. A vector of addresses alone is `[q1...`. */
static int gathered(const char *name, const char *operands) {
    const char *bracket = strchr(operands, '[');
    const char *width = strpbrk(name, "0123456789");
    if (!bracket || !(bracket[1] == 'q' || strstr(bracket, ", q")) || !width)
        return 0;
    int elements = 128 / atoi(width);
    return elements / 2 > VECTOR ? elements / 2 : VECTOR;
}

/* No vector, or a move between a lane, or two, and the general registers. */
static bool is_scalar(const char *name, const char *operands) {
    return name[0] != 'v' || !strchr(operands, 'q') ||
           (starts(name, "vmov") && strchr(operands, '[') && strchr(operands, 'r'));
}

static Instruction classify(const char *name, const char *operands) {
    Instruction i = {KIND_PLAIN, UNIT_SCALAR, 1, 0};
    if (strcmp(name, "le") == 0 || strcmp(name, "letp") == 0)
        i.kind = KIND_LOOP_END;
    if (strcmp(name, "mov") == 0 && strcmp(operands, "r9, r9") == 0)
        i.kind = KIND_BEGIN;
    if (strcmp(name, "mov") == 0 && strcmp(operands, "sl, sl") == 0)
        i.kind = KIND_END;
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (starts(name, units[k].name)) {
            i.unit = units[k].unit;
            i.cycles = units[k].cycles;
            if (name[0] == 'v' && i.unit == UNIT_MEMORY && gathered(name, operands))
                i.cycles = gathered(name, operands);
            return i;
        }
    if (!is_scalar(name, operands)) {
        i.unit = UNIT_INTEGER;
        i.cycles = VECTOR;
    }
    return i;
}

/* Lines of instructions: "    1234:<tab>name<tab>operands". */
static void read_listing(FILE *listing) {
    char line[512];
    Instruction *last = NULL;
    while (fgets(line, sizeof line, listing)) {
        char *end, *name, *operands;
        unsigned long address = strtoul(line, &end, 16);
        if (end == line || strncmp(end, ":\t", 2) != 0)
            continue;
        name = end + 2;
        name[strcspn(name, "\n")] = 0;
        operands = name + strcspn(name, "\t");
        if (*operands)
            *operands++ = 0;
        operands[strcspn(operands, "\t;")] = 0; /* objdump's remarks */
        name[strcspn(name, " ")] = 0;
        if (last)
            last->next = (uint32_t)address;
        last = NULL;
        if (address >= CODE_BYTES)
            continue;
        last = malloc(sizeof *last);
        *last = classify(name, operands);
        code[address / 2] = last;
    }
}

/* ---- the models ---------------------------------------------------------------------------- */

static struct {
    bool counts;
    uint64_t a, now, ready[UNITS];
    const Instruction *before;
} run;

static void begin(void) {
    memset(&run, 0, sizeof run);
    run.counts = true;
}

static void end(void) {
    uint64_t cycles[2] = {run.a, run.now};
    fwrite(cycles, sizeof cycles, 1, out);
    fflush(out);
    run.counts = false;
}

static void branched(uint32_t address) {
    if (run.before && run.before->kind != KIND_LOOP_END && run.before->next != address)
        run.now++;
}

static void executed(unsigned int cpu, void *user) {
    const uint32_t address = (uint32_t)(uintptr_t)user;
    const Instruction *i = code[address / 2];
    (void)cpu;
    if (i->kind == KIND_BEGIN) {
        begin();
        return;
    }
    if (!run.counts)
        return;
    if (i->kind == KIND_END) {
        end();
        return;
    }
    branched(address);
    run.before = i;
    if (i->kind == KIND_LOOP_END)
        return;
    run.a += (uint64_t)i->cycles;
    if (i->unit != UNIT_SCALAR) {
        run.now = run.now > run.ready[i->unit] ? run.now : run.ready[i->unit];
        run.ready[i->unit] = run.now + (uint64_t)i->cycles;
    }
    run.now++;
}

static void translated(PluginId id, void *block) {
    (void)id;
    for (size_t k = 0; k < qemu_plugin_tb_n_insns(block); k++) {
        void *instruction = qemu_plugin_tb_get_insn(block, k);
        uint64_t address = qemu_plugin_insn_vaddr(instruction);
        if (address < CODE_BYTES && code[address / 2])
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed, 0,
                                                   (void *)(uintptr_t)address);
    }
}

int qemu_plugin_install(PluginId id, const void *info, int argc, char **argv) {
    FILE *listing = NULL;
    (void)info;
    for (int k = 0; k < argc; k++) {
        if (starts(argv[k], "listing="))
            listing = fopen(argv[k] + strlen("listing="), "r");
        if (starts(argv[k], "out="))
            out = fopen(argv[k] + strlen("out="), "wb");
    }
    if (!listing || !out) {
        fprintf(stderr, "cycles: listing= and out= must name files\n");
        return 1;
    }
    read_listing(listing);
    fclose(listing);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
