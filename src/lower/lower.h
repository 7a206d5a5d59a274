/* From a quantized graph to placed kernel calls: CPUs, kernel variants, lowering helpers, layout
 * and memory plan. */
#ifndef CORTEN_LOWER_H
#define CORTEN_LOWER_H

#include "ctn.h"
#include "graph/graph.h"
#include "passes/passes.h"

/* ---- CPUs --------------------------------------------------------------------------------- */

struct Cpu {
    const char *name;      /* "cortex-m55" */
    const char *isa;       /* "mve" */
    const char *gcc_flags; /* -mcpu=... -mthumb -mfloat-abi=... */
    const char *machine;   /* QEMU machine */
    const char *board;     /* folder under boards/ */
    const char *counted;   /* the CPU whose counts of instructions are its own too (measured.h) */
};

typedef enum { NPU_U55 = 1, NPU_U65 = 2, NPU_U85 = 4 } NpuFamily;

struct Npu {
    const char *name; /* "ethos-u55-128": what Vela calls it too */
    NpuFamily family;
    const char *cpu;         /* beside it, unless "CPU+NPU" says another */
    const char *system;      /* Vela's names of what is around it: weights in flash, */
    const char *memory_mode; /* everything else in the SRAM that the CPU has too */
};

extern const Npu npu_table[];
extern const int npu_table_count;
extern const Cpu cpu_table[];
extern const int cpu_table_count;
const Cpu *cpu_find(const char *name); /* NULL */
extern const char *const isa_levels[]; /* "v6m", "v7m", "dsp", "mve"; each includes those before */
extern const int isa_level_count;
int isa_rank(const char *isa); /* its place there; -1 for NULL, plain C: below every level */

/* ---- kernels and variants ----------------------------------------------------------------- */

typedef enum { FIELD_REF, FIELD_INT, FIELD_INTS } FieldKind;

typedef struct {
    FieldKind kind;
    const char *name;
    int offset, count; /* count of INTS, else 1 */
} KernelField;

typedef struct {
    const char *name;      /* "conv2d_s8" */
    const char *args_type; /* "CtnConv2dS8Args" */
    int args_bytes;
    int field_count;
    const KernelField *field;
} Kernel;

const Kernel *kernel_at(int id); /* CtnKernelId */

typedef struct Variant {
    int kernel;
    const char *isa;    /* NULL: plain C, runs anywhere */
    bool small;         /* only for models that are compiled for size */
    const char *symbol; /* "ctn_table_s8_mve" */
    const char *source; /* "table_s8_mve.c" */
    void (*host)(const void *args, const CtnFrame *frame);
    /* May it run this call? Bounds are proven here from the constants of the call. */
    bool (*accepts)(const Call *call);
    /* Rewrites constants into load order, asks for scratch. */
    void (*pack)(C *c, Graph *g, Call *call);
} Variant;

extern const Variant variant_table[];
extern const int variant_table_count;
/* The last row that fits the ISA level and accepts the call, but for small ones. */
const Variant *variant_choose(const Call *call, const char *isa);
/* Is it of this ISA level or one below? */
bool variant_runs_on(const Variant *v, const char *isa);
/* Lowering has given the call a variant that no CPU has. */
bool variant_is_given(const Call *call);
/* Gives a call its variant. One for weights of 4 bits for which the level has none, but has one for
 * 8, becomes a call with 8. */
void variant_settle(Call *call, const char *isa);
/* Gives calls that have a variant another one where that is cheaper by what was measured: fewer
 * instructions or, compiled for size, fewer bytes of code. */
void variants_weigh(C *c, Graph *g, const Options *o);
/* Gives channels that keep a call from a fast kernel a call of their own, where that takes fewer
 * instructions (channels.c). Before variants are weighed. */
void channels_split(C *c, Graph *g, Call *call, const Options *o);
/* Puts additions into the store of what makes one of their operands where that takes fewer
 * instructions (residual.c). Before calls are packed. */
void residuals_fuse(C *c, Graph *g, const Options *o);
/* The kernel that one with a sum in its store is without it; -1: it has none. */
int residual_producer(int kernel);

/* ---- orders of memory (Value.order) --------------------------------------------------------- */

void order_identity(int8_t order[MAX_RANK]);
/* N, spatial..., C for N, C, spatial... */
void order_channels_last(int rank, int8_t order[MAX_RANK]);
/* Two orders put the elements of a shape in the same places if they list its dims above 1 alike. */
bool order_same(const Type *t, const int8_t *a, const int8_t *b);
/* The position of a dim, which the order lists. */
int order_place(const int8_t *order, int dim);

/* ---- helpers for lower functions ----------------------------------------------------------- */

/* fixed-point factor of a positive real (design section 7) */
void multiplier_from(double real, int32_t *multiplier, int32_t *shift);
double value_scale(const Value *v); /* of the first part; bug if it has none */
int32_t value_zero_point(const Value *v);
/* Does it read or write an int16 activation? */
bool node_is_wide(const Node *n);
/* The clamp that the store of node n applies, on the grid of the value it writes first: the
 * grid's range, narrowed by a fused clamp. */
void store_clamp(const Node *n, int32_t *min, int32_t *max);
/* Adds the fused table's entries, or marks the field absent. */
void store_table(C *c, Call *call, uint32_t *field, const Node *n);
/* Evaluates a table node's body at a real number. */
double table_body_eval(const Node *table, double x);
/* The entries for each q of the grid `in` (256, or 1024 for 10 bits) on the grid `out`, rounded
 * half away and saturated; returns how many. */
enum { TABLE_ENTRIES = 1024 };
int table_fill(C *c, const Node *table, const Grid *in, const Grid *out,
               int8_t entry[TABLE_ENTRIES]);
/* A function of int16 in quadratic pieces: start[count], piece[count][4] (ctn_piece_s16). want: the
 * function at -32768 ... 32767 in steps of the result, within low ... high, as results are; they
 * are `tolerance` from it at most (0.5 is the rounding). */
typedef struct {
    int count;
    int16_t *start;
    int32_t *piece;
} Pieces;
typedef struct {
    const double *want;
    double low, high, tolerance;
} PiecesWanted;
Pieces pieces_fit(C *c, const PiecesWanted *w);
/* 256 entries that move q from one grid to another (requantizing copies). */
void table_requantize(const Grid *in, const Grid *out, int8_t entry[256]);
/* Broadcast strides of operand v for a loop over out's physical dims, padded in front to `want`. */
void broadcast_strides(const Value *v, const Value *out, int want, int32_t *dim, int32_t *stride);
/* Lowers any OP_MOVES_DATA node from its eval on element numbers: alias, copy or gather. */
void lower_movement(C *c, Graph *g, Node *n);
/* An affine copy from in (elements at in_offset, strides by out's logical dims) into out's memory,
 * changing the grid if the two differ. */
void lower_copy(C *c, Graph *g, Node *n, Value *in, int64_t in_offset, const int64_t *in_stride,
                Value *out, int64_t out_offset, const int64_t *out_stride, int rank,
                const int64_t *dim);

/* All of in into out's memory at the strides given by in's logical dims: a part of cat. */
void lower_copy_whole(C *c, Graph *g, Node *n, Value *in, Value *out, int64_t out_offset,
                      const int64_t *out_stride);

/* Bytes as they lie, on whatever grid. */
void lower_copy_bytes(C *c, Graph *g, Node *n, Value *from, int64_t from_offset, Value *to,
                      int64_t to_offset, int64_t bytes);

/* Is n a node of the program? Do no others read v? Of an indexed graph. */
bool npu_holds(const NpuProgram *p, const Node *n);
bool npu_alone_reads(const NpuProgram *p, const Value *v);
/* The program's call, and copies to and from its memory (npu.c). */
void lower_npu(C *c, Graph *g, const Options *o, const NpuProgram *p);

/* ---- plan --------------------------------------------------------------------------------- */

/* Fills lifetimes, offsets, sizes of regions, the lower bound and the refs of all calls. */
void plan_memory(C *c, Graph *g, const Options *o);

/* ---- what a planned graph will need -------------------------------------------------------- */

/* Bytes of a model's image. `rodata` is the sum of what stands between `weights` and `initial`:
 * the constants of <name>.o to the byte, those in sections of other memories included. */
typedef struct {
    int64_t arena, state;
    int64_t inputs, outputs;          /* those outside of the arena */
    int64_t scratch;                  /* of the arena: the largest that one call needs */
    int64_t weights;                  /* with the zeros that packing adds */
    int64_t biases, factors;          /* factors: multipliers and shifts */
    int64_t tables, numbers, padding; /* numbers: indices, programs, other constants */
    int64_t calls;                    /* argument structs */
    int64_t steps;                    /* tables of strips */
    int64_t initial;                  /* states before the first run, unless zero */
    int64_t rodata;
    int64_t kernel_code,
        model_code; /* see plan_code; what the model's own file takes is rounded up */
    int64_t stack;  /* a bound, from <name>_run down */
} Totals;

Totals plan_totals(const Graph *g);
/* Fills in code and stack from a table that was measured with the compiler of code_origin; false,
 * and zeros, where a kernel is missing there. */
bool plan_code(C *c, const Graph *g, const Options *o, Totals *t);
const char *code_origin(void);

/* Instructions of a call in one run of the model, estimated from its sizes by its kernel's row in
 * the table of measured ones; NAN if there is none. For a call of a strip: of all of its parts. */
double call_instructions(const Graph *g, const Call *call, const Options *o);
double call_instructions_whole(const Call *call, const Options *o); /* run at once */
const char *instructions_origin(void); /* on what, when and with which compiler they were counted */

#endif
