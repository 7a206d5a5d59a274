/* The pipeline: one table of passes, each a file of this folder (or of quant/ and lower/), and the
 * options that steer them. */
#ifndef CORTEN_PASSES_H
#define CORTEN_PASSES_H

#include "graph/graph.h"

typedef struct Cpu Cpu; /* rows of lower/cpus.c */
typedef struct Npu Npu;

typedef enum { OBSERVER_MINMAX, OBSERVER_PERCENTILE, OBSERVER_MSE } ObserverKind;
typedef enum { IO_AS_QUANTIZED, IO_INT8, IO_INT16, IO_FLOAT, IO_UINT8 } IoType;

struct PrecisionRule {
    const char *pattern;   /* node name or module path glob */
    const char *precision; /* int8, int16, w4, float */
    const char *file;      /* that it stands in, and where */
    int line;
};

typedef struct {
    const char *value; /* by name, in the calibrated graph */
} Raised;

typedef struct {
    const char *pattern; /* of names of buffers: an input, an output, a node's result or weights */
    int memory;          /* row of Options.memory */
} Placement;

/* What an output can express, and so what quantization may use (design section 2). */
typedef struct {
    const char *name;   /* --emit, unless the target asks for it */
    bool fine_tables;   /* 10 bits before a table in a store */
    bool small_wide;    /* small values get 16 bits unasked */
    bool same_pools;    /* average pools keep the grid of what they read */
    bool unlike_means;  /* those of windows of unlike sizes can have one of their own */
    bool plain_softmax; /* 256 steps from 0 to 1, of long rows too */
    bool float_io;      /* inputs and outputs are floats unless --io says otherwise */
    bool short_norms;   /* norms compute in 32 bits */
    bool of_npu;        /* of C with parts for an NPU */
    bool row_major;     /* convolutions read pixels row by row, those of one tap too */
} Profile;

/* The first: all that Corten's own C has. Rows of_npu come last. */
extern const Profile profile_table[];
extern const int profile_table_count;

typedef struct {
    const Profile *profile; /* NULL: the first */
    const char *target;     /* as it was asked for */
    const Cpu *cpu;
    const Npu *npu;   /* beside it; NULL: none */
    const char *vela; /* Arm's compiler for it: a name in PATH or a path */
    int vela_argument_count;
    const char *const *vela_argument; /* what it gets besides Corten's own */
    const char *isa;                  /* "mve" ...: the CPU's own unless overridden */
    IoType io;
    bool io_nhwc; /* --io-layout nhwc */
    ObserverKind observer;
    bool allow_float;
    int float_node_count; /* nodes that an earlier run of the passes found to need float */
    const FloatNode *float_node;
    bool keep_inputs;
    bool bind_inputs, bind_outputs; /* inputs, outputs outside of the arena */
    int memory_count;               /* of the chip; 0: one that runs write and one of constants */
    const Memory *memory;
    int placement_count; /* the first that a buffer's name matches is where it goes */
    const Placement *placement;
    const char
        *memory_text; /* the file that these came from, and limits beside it, for the report */
    int limit_count;
    const char *const *limit;
    const char *arena; /* the program's array that is the arena; NULL: the model's own */
    bool optimize_size;
    int64_t ram_limit, flash_limit; /* 0: none */
    double accuracy_budget_db;      /* 0: none */
    int raised_count;               /* values that get 16 bits for the budget */
    const Raised *raised;
    int precision_count;
    const PrecisionRule *precision;
    int state_count; /* "INPUT=OUTPUT", for the report */
    const char *const *state;
    int input_scale_count;
    const char *const *input_scale; /* "NAME=SCALE,ZP", "NAME=pixels" */
    const char *mean, *std;         /* of images, for the report */
    int export_count;
    const int *export_kind; /* rows of export_table */
    const char *resume;     /* the pass from which DIR's <name>.corten goes on: "layout" mostly */
    bool holds_archive;     /* DIR has the archive too, for it came from no file */
    int threads;
    /* calibration samples: sample[s][k] is the array of user input k; converted and checked */
    int sample_count;
    Array ***sample;
} Options;

typedef struct {
    const char *name;
    const char *purpose; /* one line, shown by `corten compile --help-passes` and docs */
    Stage from, to;      /* stage that the graph must have, and has afterwards */
    const char *timer;   /* which of report.json's seconds it counts for */
    void (*run)(C *c, Graph *g, const Options *options);
} Pass;

extern const Pass pass_table[];
extern const int pass_table_count;

enum { TIMERS = 8 };

typedef struct {
    const char *dump;       /* the pass after which the graph is wanted as text; NULL */
    const char *dumped;     /* out: that text, whole */
    const char *stop_after; /* NULL: run all */
    const char *from;       /* start with this pass; NULL: the first */
    double seconds[TIMERS]; /* out: by the order of timer_names */
} PipelineControl;

extern const char *const timer_names[TIMERS + 1]; /* import calibrate ... emit; NULL-ended */

/* Runs the passes; verifies after each. Errors unwind after the pass that recorded them. A pass
 * that finds nodes that must be float (Graph.float_wanted) is the last one: the caller then starts
 * again, from the archive, with these among the options. */
void pipeline_run(C *c, Graph *g, const Options *options, PipelineControl *control);

const Profile *profile_of(const Options *o);

/* The passes. */
void pass_functionalize(C *c, Graph *g, const Options *o);
void pass_absorb(C *c, Graph *g, const Options *o);
void pass_fold(C *c, Graph *g, const Options *o);
void pass_decompose(C *c, Graph *g, const Options *o);
void pass_masks(C *c, Graph *g, const Options *o);
void pass_fills(C *c, Graph *g, const Options *o);
void pass_seen_masks(C *c, Graph *g, const Options *o);
void pass_equalize(C *c, Graph *g, const Options *o);  /* quant/ */
void pass_apart(C *c, Graph *g, const Options *o);     /* quant/ */
void pass_calibrate(C *c, Graph *g, const Options *o); /* quant/ */
void pass_precision(C *c, Graph *g, const Options *o); /* quant/ */
void pass_tables(C *c, Graph *g, const Options *o);
void pass_fuse(C *c, Graph *g, const Options *o);
void pass_quantize(C *c, Graph *g, const Options *o);  /* quant/ */
void pass_layout(C *c, Graph *g, const Options *o);    /* lower/ */
void pass_partition(C *c, Graph *g, const Options *o); /* npu/ */
void pass_vela(C *c, Graph *g, const Options *o);      /* npu/ */
void pass_lower(C *c, Graph *g, const Options *o);     /* lower/ */
void pass_plan(C *c, Graph *g, const Options *o);      /* lower/ */

/* Makes states of inputs and outputs, "INPUT=OUTPUT" each, of an imported graph. */
void states_pair(C *c, Graph *g, int count, const char *const *pairs);

/* A bool that is true where v, computed from a bool or constant, is far below zero; NULL: v is
 * anything else than that and zeros. Nodes before n. (masks.c) */
Value *mask_of_numbers(C *c, Graph *g, Node *n, Value *v);
/* After calibration: what was hidden is filled in, with the number that was seen. (fills.c) */
void fills_return(C *c, Graph *g);

/* Parts of pass fold. The Tensor operands of the pointwise n as numbers, with slot *x_slot left for
 * the value x: constants give their element, or their only one; false if another varies. Then, is
 * n scale * x + shift? */
#define MAP_OPERANDS 6
bool pointwise_numbers(const Graph *g, const Node *n, const Value *x, int64_t element, double *in,
                       int *x_slot);
bool pointwise_is_affine(const Node *n, double *in, int slot, double *scale, double *shift);
/* n as a map of the one operand that varies: x * scale[k] + shift[k], k the index along an axis. */
typedef struct {
    Value *x;
    int64_t channels;
    double *scale, *shift;
    bool varies; /* scale or shift, with k */
} ChannelMap;
Value *map_operand(const Graph *g, const Node *n); /* NULL: n is no map of floats */
bool channel_map_of(C *c, const Graph *g, const Node *n, int axis, ChannelMap *m);
/* Takes such a map in front of the weights of n into them; false if there is none that may go. */
bool fold_map_ahead(C *c, Graph *g, Node *n);
/* Makes n, such a map with numbers that vary, a convolution of size one. */
bool map_to_convolution(C *c, Graph *g, Node *n);
/* The weights of n become these numbers, and its bias unless that is NULL. */
void node_set_weights(C *c, Graph *g, Node *n, Array *weight, Array *bias);
/* Takes n into the weights before or behind it; false if it does not go there. */
bool fold_into_weights(C *c, Graph *g, Node *n);
/* Makes x, if weights compute it for one reader only, scale * x + shift instead (scale > 0). */
bool weights_take_affine(C *c, Graph *g, Value *x, double scale, double shift);
/* Makes `body` a graph of one input and one output: the body of a table node. */
void graph_set_single(Graph *body, Value *in, Value *out);
/* A constant that no run writes: the initial value of a state is none. */
bool value_is_fixed(const Graph *g, const Value *v);

#endif
