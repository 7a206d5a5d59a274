/* What the files of the memory planner share: slots of the arena, and strips (row-wise execution).
 */
#ifndef CORTEN_MEMORY_H
#define CORTEN_MEMORY_H

#include "lower/lower.h"

typedef struct { /* a buffer of the arena while its address is sought */
    Buffer *buffer;
    int64_t bytes, offset;
    int align, first, last; /* moments */
    int turn;               /* of scratch: its call; those of a strip take turns. -1: no scratch */
    int over;               /* slot whose memory it may overwrite (Buffer.over), -1: none */
} Slot;

typedef struct {
    C *c;
    Graph *g;
    const Options *options;
    int end;      /* the moment after the last call */
    int *slot_of; /* by buffer id; -1: not in the arena */
    Slot *slot;
    int slot_count;
    Slot **near;     /* room for the neighbours of a slot */
    bool *touched;   /* by slot: all false but within strip_peak */
    int64_t bound;   /* largest sum of live bytes, taken-over memory counted once */
    int peak;        /* the moment of the bound */
    int64_t least;   /* what the strips achieve together: each may use as much */
    int64_t bytes;   /* top of the arena after arena_place */
    int64_t enough;  /* the most that the arena may take by --ram, or is tried with; 0: any */
    int lowest_step; /* rows that strips make at once at least */
} Plan;

/* The emitted constants are few objects, each aligned to this and a multiple of it: GCC raises to 8
 * what it may put into vectors. */
enum { CONSTANTS_ALIGN = 8 };
/* What an arena, a state and what is bound are aligned to, on the chip too. */
enum { REGION_ALIGN = 16 };

int64_t align_up(int64_t n, int align);
/* What a reference's constant is, by the name of its field. */
typedef enum {
    CONSTANT_NONE, /* not a constant */
    CONSTANT_WEIGHTS,
    CONSTANT_BIASES,
    CONSTANT_FACTORS,
    CONSTANT_TABLES,
    CONSTANT_NUMBERS
} ConstantRole;
ConstantRole constant_role(const Call *call, const CallRef *ref);
/* What a state holds before the first run; NULL if that is all zeros. */
const Array *state_initial(const State *s);
/* A kernel's field, a call's reference and its numbers by name; NULL if there is none. */
const KernelField *kernel_field(int kernel, const char *name);
const CallRef *call_ref_named(const Call *call, const char *name);
const int32_t *call_ints(const Call *call, const char *name);
/* Do the strides walk the dims in the order of memory, without gaps? */
bool call_walks_densely(const Call *call, const char *dims, const char *strides);

/* May the call's output overwrite this operand, from where that begins or from so far below? */
bool call_may_overwrite(const Call *call, const CallRef *operand);
int64_t call_overwrite_distance(const Call *call);
/* Has the call, when it makes that many rows, read what they need of a byte's channel before it
 * writes there? */
bool call_reads_first(const Call *call, int rows);
/* How far an output that overwrites an operand lies from it must be a multiple of this. */
int call_overwrite_step(const Call *call);

/* May the output overwrite b, through whatever operands it is read? */
bool call_overwrites(const Call *call, const Buffer *b);
/* Instructions of a call in a run; of kernels without a row in the tables, what grows with their
 * work. */
double plan_call_cost(const Plan *p, const Call *call);
typedef struct {
    int64_t bytes; /* of the arena */
    double instructions;
} PlanFigures;
PlanFigures plan_figures(Plan *p);
/* Of plans that fit, the cheaper one is better; else the smaller one. */
bool plan_is_better(PlanFigures a, PlanFigures b, int64_t enough);
/* Does it copy an operand of a cat to its place, which nothing else writes? */
bool call_joins(const Call *call);
/* Chooses the order of the calls, the cat inputs that are produced in place, and strips. */
void arrange_calls(Plan *p);
/* The best order of the calls that is found, without regard to strips; NULL: that which is. */
Call **order_sought(Plan *p);

/* Lifetimes, overlaps and slots of the graph under its present strips. */
void plan_slots(Plan *p);
/* Bytes that an output takes less when it overwrites an operand of so many at a distance. */
int64_t bytes_shared(int64_t out, int64_t in, int64_t distance);
/* Bytes that live at a moment, memory that is taken over counted once. */
int64_t arena_live(const Plan *p, int moment);
/* The bound and its moment. */
void arena_bound(Plan *p);
/* Offsets: the best of several orders against the bound. */
void arena_place(Plan *p);

/* ---- regions ------------------------------------------------------------------------------ */

/* How many of CTN_REGIONS the memories of these options need. */
int regions_needed(const Options *o);
/* The graph's memories and regions, nothing in them yet. */
void regions_begin(C *c, Graph *g, const Options *o);
/* Offsets and sizes of states, and of inputs and outputs outside of the arena. */
void regions_lay_boundary(Graph *g);
/* What a memory can hold. */
bool memory_takes_arena(const Memory *m);
bool memory_takes_constants(const Memory *m);
/* The region of a kind in a memory; -1 if it takes none of that kind. */
int region_in(const Graph *g, int memory, RegionKind kind);
/* Is it a constant that some call reads? */
bool buffer_is_stored(const Buffer *b);
/* The first of the constants that are equal to it to the byte, which all lie where that does; NULL:
 * it is the first. */
Buffer *same_constant(const Graph *g, const Buffer *b);
/* Offsets of constants, whose regions are known; `same`, by buffer: same_constant. */
void regions_lay_constants(Graph *g, Buffer *const *same);
/* Region and offset of every buffer. */
void regions_place(Plan *p);
/* What the arenas of all memories take under the plan, whose slots have their offsets. */
int64_t regions_arena_bytes(Plan *p);
typedef struct {
    int64_t arena, state, constants;
    int64_t images; /* of constants that start-up code copies from here to other memories */
    int64_t all;
} MemoryUse;
MemoryUse memory_use(const Graph *g, int memory);
/* Fills Buffer.accesses. */
void count_accesses(Graph *g);

/* ---- strips ------------------------------------------------------------------------------- */

enum { STRIP_CALLS = 16, STRIP_PATCHES = 6 };
enum { STRIP_COLUMNS = 2 * STRIP_CALLS * (1 + STRIP_PATCHES) };

typedef struct { /* where the emitted steps have a number: base + what the column says */
    int column;  /* -1: it is always the base */
    int32_t base;
} StripField;

/* One thing that a step does: move rows of a ring to its front, or run a call on some rows. */
typedef struct {
    Call *call; /* NULL: a move */
    int patch_count;
    int patch[STRIP_PATCHES];  /* byte offsets in the call's args of the fields that a step sets */
    bool walks[STRIP_PATCHES]; /* a reference that goes on through a whole value */
    int32_t start[STRIP_PATCHES];        /* ... from here */
    StripField field[1 + STRIP_PATCHES]; /* rows, then patches; a walk's is by how much it goes on
                                            after the item */
} StripItem;

typedef enum { ROWS_WINDOW, ROWS_FLAT, ROWS_DIMS, ROWS_COUNT, ROWS_LINES } RowKind;

/* How a call makes rows. Rows of operand 0 are its window's; other operands go row by row. */
typedef struct {
    RowKind kind;
    int in_h, out_h, window, stride, pad;
    int64_t out_row; /* bytes of an output row */
    int operand_count;
    const CallRef *operand[2], *output;
    int64_t operand_row[2]; /* bytes from row to row */
    int dim;                /* index of the rows in `dim` */
    int least;              /* rows that the kernel must be given at once */
    int pixels, block;      /* ROWS_FLAT: of a row; that the kernel takes at once */
} Rows;

/* A chain of calls that run a few rows at a time: each writes rows into a ring that the next one
 * reads, and only the first input and the last output exist as a whole. `value` holds, for each
 * step and item, how many rows the item makes (0: it rests) and then its patches; a move has its
 * bytes, target and source. References are absolute once the plan is made. */
typedef struct Strip {
    Call *first, *last;
    int call_count, rows; /* rows of the last call's output per step */
    bool upward;          /* from the last row to the first; then `row` counts from the end */
    Call *call[STRIP_CALLS];
    Rows row[STRIP_CALLS];
    int link[STRIP_CALLS];     /* operand of call k that reads call k - 1 */
    int64_t ring[STRIP_CALLS]; /* bytes of the ring behind call k */
    int item_count, step_count, width;
    StripItem item[2 * STRIP_CALLS];
    int32_t *value; /* [step_count][width] */
    /* The same as it is emitted (StripField): distinct rows of the columns, and each step's row. */
    int column_count, row_count; /* no columns: all steps are alike, and there is no table */
    int32_t *row_table;          /* [row_count][column_count] */
    int32_t *order;              /* [step_count] */
    int number_bytes, order_bytes;
} Strip;

/* A chain of `count` calls from `first` on, downward, without its rows a step; false: it is none.
 */
bool strip_begin(const Graph *g, Call *first, int count, Strip *chain);
/* The other way round: rows, their pixels and bytes then count from the last one on. */
void strip_turn(Strip *chain);
/* Has each step as many rows of each call as its kernel must be given? */
bool strip_has_rows(const Strip *chain);
/* Fills in the rings' bytes, and the items. */
void strip_measure(Strip *chain);
void strip_make_items(Strip *chain);
/* Chooses strips and places the arena: the least memory, or by --ram the fewest instructions in
 * what is allowed. Changes the sizes of the buffers that become rings. */
void strips_choose(Plan *p);
/* Turns strips whose outputs take over their inputs' memory one after the other: down and up in
 * turn they need one distance together. */
void strips_alternate(Plan *p);
/* What the calls cost in strips and as a whole, where at most `enough` bytes may live at once and
 * no fewer than `close` need to. */
typedef struct Cheapest Cheapest;
Cheapest *cheapest_new(Plan *p, int64_t enough, int64_t close);
/* The cheapest strips, then turned or not, under which the arena takes `enough` at most; false:
 * none found, and none taken. */
bool cheapest_take_fitting(Cheapest *s, bool turned);
/* Those under which the least lives of all that cost the budget of instructions at most. */
bool cheapest_take_within(Cheapest *s, double budget, bool turned);
enum { MOST_STRIPS = 256, STRIP_HEIGHTS = 12 };
extern const int strip_heights[STRIP_HEIGHTS]; /* of a step, in rows of the last output: falling */
/* Is the chain tall enough for steps of so many rows? */
bool strip_worth_cutting(const Plan *p, const Strip *chain, int height);
/* The most that would live at once while the chain ran, beside the strips that the slots are of. */
int64_t strip_peak(const Plan *p, Strip *chain);
void strip_push(Plan *p, const Strip *chain);
/* The graph's strips, with buffers as they have them, or not; on: and the bound under them. */
void strips_set(Plan *p, const Strip *strip, int count, bool on);
void strips_drop(Plan *p);
Call *call_at(const Graph *g, int index);
/* Fills in the references of all steps, when buffers have their offsets. */
void strips_settle(Graph *g);
/* How many numbers that takes, and one strip's. */
int64_t strip_number_count(const Strip *s);
void strip_fill_steps(Strip *s, int32_t *value);
/* The table of a settled strip, and its bytes. */
void strip_find_table(C *c, Strip *s);
int64_t strip_table_bytes(const Strip *s);
/* Is field f of an item (StripItem.field) a reference? */
bool strip_field_refers(const StripItem *item, int f);
/* How far the last output of the strip must lie below its input `in`, or, if the strip goes upward,
 * above it, end and end, to overwrite it safely; -1: never. */
int64_t strip_distance(const Strip *s, const Buffer *in);
/* The largest buffer that dies in the strip and that its output can follow closely. */
Buffer *strip_overlap(const Strip *s, int64_t *distance);
const Strip *strip_of(const Graph *g, const Call *call);

#endif
