/* The chip's side of the bench and of the kernels' tests: runs each call of cases.bin once, counts
 * its instructions (boards/counter.c) and writes them to counts.bin, and the arenas to arenas.bin.
 * It knows nothing of shapes or expected results. */
#include "board.h"
#include "ctn.h"
#include "npu_hook.h"

/* No call here is of an NPU. */
void ctn_npu_run(CtnNpuJob *job) {
    (void)job;
    program_exit(96);
}

typedef void Run(const void *args, const CtnFrame *frame);

/* Rows as in the host's variant table: plain C, then variants; CHIP_LEVEL is the ISA level's
 * number. */
enum { LEVEL_v6m, LEVEL_v7m, LEVEL_dsp, LEVEL_mve, LEVEL_dsp_small = LEVEL_dsp };
enum {
    LEVEL_v6m_map = LEVEL_v6m,
    LEVEL_v7m_map = LEVEL_v7m,
    LEVEL_dsp_map = LEVEL_dsp,
    LEVEL_mve_map = LEVEL_mve
};

#define PLAIN(name, Struct, FIELDS)                                                                \
    static void run_##name(const void *args, const CtnFrame *frame) {                              \
        ctn_##name(args, frame);                                                                   \
    }
#define VARIANT(name, Struct, isa, accepts, pack)                                                  \
    static void run_##name##_##isa(const void *args, const CtnFrame *frame) {                      \
        if (LEVEL_##isa <= CHIP_LEVEL)                                                             \
            ctn_##name##_##isa(args, frame);                                                       \
    }
#define PLAIN_ROW(name, Struct, FIELDS) run_##name,
#define VARIANT_ROW(name, Struct, isa, accepts, pack) run_##name##_##isa,

CTN_KERNELS(PLAIN)
CTN_VARIANTS(VARIANT)
static Run *const table[] = {CTN_KERNELS(PLAIN_ROW) CTN_VARIANTS(VARIANT_ROW)};

enum { REGION_BYTES = 1 << 20, ARGS_WORDS = 256, MARKS = 2 };

static uint32_t args[ARGS_WORDS];
__attribute__((section(".big"), aligned(64))) static uint8_t arena[REGION_BYTES];
__attribute__((section(".big"), aligned(64))) static uint8_t weights[REGION_BYTES];

static void check(int ok, const char *what) {
    if (!ok) {
        console_print(what);
        program_exit(97);
    }
}

int main(void) {
    int in = file_open_read("cases.bin"), counts = file_open_write("counts.bin");
    int arenas = file_open_write("arenas.bin");
    uint32_t count;
    check(in >= 0 && counts >= 0 && arenas >= 0, "cannot open the files\n");
    check(file_read(in, &count, 4) == 0, "no count\n");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t head[4]; /* variant, bytes of args, arena, weights */
        check(file_read(in, head, sizeof head) == 0, "no head\n");
        check(head[0] < sizeof table / sizeof *table && head[1] <= sizeof args &&
                  head[2] <= REGION_BYTES && head[3] <= REGION_BYTES,
              "a case is too large\n");
        check(file_read(in, args, head[1]) == 0 && file_read(in, arena, head[2]) == 0 &&
                  file_read(in, weights, head[3]) == 0,
              "a case ends early\n");
        const CtnFrame frame = {{arena, 0, weights}};
        counter_start();
        uint64_t before = counter_now();
        __asm__ volatile("mov r9, r9"); /* marks for cycles.c, which do nothing */
        table[head[0]](args, &frame);
        __asm__ volatile("mov r10, r10");
        uint64_t after = counter_now();
        uint32_t instructions = (uint32_t)counter_between(before, after);
        instructions -= instructions > MARKS ? MARKS : 0;
        check(file_write(counts, &instructions, 4) == 0 && file_write(arenas, arena, head[2]) == 0,
              "cannot write\n");
    }
    file_close(counts);
    file_close(arenas);
    return 0;
}
