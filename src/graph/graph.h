/* The graph: nodes that call operators on values, the operator table's row, and the kernel calls
 * that a lowered graph holds. One representation from the archive to the memory plan; what may
 * stand in it at each stage is said by the verifier's rules (verify.c). */
#ifndef CORTEN_GRAPH_H
#define CORTEN_GRAPH_H

#include "base/base.h"

typedef struct Op Op;
typedef struct Node Node;
typedef struct PrecisionRule PrecisionRule; /* passes/passes.h */
typedef struct Value Value;
typedef struct Graph Graph;
typedef struct Call Call;
typedef struct Buffer Buffer;
typedef struct NameSet NameSet; /* the names taken (graph.c) */

/* ---- schema: PyTorch's own text, parsed --------------------------------------------------- */

typedef enum {
    T_TENSOR,
    T_INT,
    T_FLOAT,
    T_BOOL,
    T_STRING,
    T_SCALAR,
    T_DTYPE,
    T_LAYOUT,
    T_DEVICE,
    T_MEMORY_FORMAT,
    T_GENERATOR,
    T_DIMNAME,
    T_GRAPH
} SchemaType;

typedef enum {
    ARG_NONE,
    ARG_VALUE,
    ARG_INT,
    ARG_FLOAT,
    ARG_BOOL,
    ARG_STRING,
    ARG_DTYPE,
    ARG_LIST,
    ARG_GRAPH
} ArgKind;

typedef struct Arg Arg;
struct Arg {
    ArgKind kind;
    union {
        Value *value;
        int64_t i;
        double f;
        bool b;
        const char *s;
        DType dtype;
        Graph *graph;
        struct {
            int count;
            Arg *item;
        } list;
    } u;
};

typedef struct {
    const char *name;
    SchemaType type;
    bool optional, list, kwarg_only, write;
    bool item_optional; /* "Tensor?[]": items may be None */
    int list_size;      /* "int[2]": a single int stands for so many; 0: none */
    const char *alias;  /* alias set: "a" of Tensor(a), "*" ; NULL */
    bool has_default;
    Arg default_value;
} SchemaArg;

typedef struct {
    const char *name;     /* "aten::conv2d" */
    const char *overload; /* "" or "Tensor" */
    int arg_count, return_count;
    SchemaArg *arg;
    SchemaArg *ret; /* name, type, alias, write, list */
} Schema;

/* Parses "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". A malformed
 * text is a bug of the row (DIAG_BUG). */
Schema *schema_parse(C *c, const char *text);

/* ---- types -------------------------------------------------------------------------------- */

/* real = scale * (q - zero_point) for indices start <= i < stop along `axis`. A value with one
 * grid has one part with axis -1. Per-channel weights have a part per channel. */
typedef struct {
    int axis;
    int64_t start, stop;
    double scale;
    int32_t zero_point;
} Part;

typedef struct {
    DType dtype; /* DT_I8, DT_I16, DT_I32 (biases); DT_U8 never inside */
    int bits;    /* 8, 16, 32; 4 for packed weights (dtype DT_I8) */
    bool pinned; /* given by a PT2E archive: no pass may move, drop or refine it */
    int part_count;
    Part *part;
} Grid;

/* What a unit of the kernels' numbers is worth in part k: that of the grid's, but kernels multiply
 * by 16 times weights of 4 bits. */
double grid_unit(const Grid *grid, int k);

typedef struct {
    DType dtype; /* of the numbers meant, as in PyTorch: a quantized value stays DT_F32 here */
    int rank;
    int64_t dim[MAX_RANK];
} Type;

/* `name` if no one has it yet, else name_1, name_2 ...; taken from now on. */
const char *name_take(C *c, NameSet *set, const char *name);
NameSet *names_copy(C *c, const NameSet *set);

bool type_equal(const Type *a, const Type *b);
Type type_make(DType dtype, int rank, const int64_t *dim);
int64_t type_count(const Type *t);

/* ---- values and nodes --------------------------------------------------------------------- */

typedef enum { ROLE_NONE, ROLE_INPUT, ROLE_PARAMETER, ROLE_BUFFER, ROLE_CONSTANT } Role;

/* What calibration saw of a value over all samples (quant/observe.c): range and histogram. */
typedef struct {
    double min, max; /* of the finite numbers and 0 */
    int64_t count, not_finite;
    int bin_count;             /* 0: none; bins cover [bin_low, bin_low + bin_count * bin_width) */
    double bin_low, bin_width; /* a power of two; half of the bins lie below zero */
    int64_t *bin;
} Observed;

enum { HISTOGRAM_BINS = 2048 };

struct Value {
    int id; /* dense, unique in the graph: index of graph->value */
    const char *name;
    Type type;
    int64_t stride[MAX_RANK]; /* elements, as archived; used by functionalize only, as is: */
    int64_t storage_offset;   /* elements of its memory before the first, which archives lack */
    Role role;
    const char *fqn;    /* parameter's or buffer's name in the module */
    Node *def;          /* NULL: input, parameter, buffer or constant */
    int def_index;      /* which output of def */
    Array *constant;    /* data: of type.dtype, or of grid->dtype when grid is set */
    Array *initial;     /* of a state's value before a run: what it holds before the first one
                           (NULL: zeros); it is no constant */
    Grid *grid;         /* quantization; NULL: not (yet) quantized */
    Observed *observed; /* NULL before calibrate, and behind quantize, which leaves it as */
    Observed *seen;     /* what the report shows; it is no part of the text form */
    int bits;           /* 8 or 16 if asked for by --precision; 0: quantize decides */
    const PrecisionRule *glob; /* that asked for them together with others: no fault where they
                                  cannot be had; NULL: none */
    const char *wide_reason;   /* why it has 16 bits, if it has */
    bool widenable;            /* quantize could give it 16 bits if asked to */
    int factor_axis;           /* pass equalize made the channels along this axis larger than the */
    int factor_count;          /* model's own, each by its factor; 0: it did not */
    double *factor;
    bool unstored;          /* lives only inside a fused kernel (fuse.c) */
    int8_t order[MAX_RANK]; /* physical order: order[k] is the logical dim at position k, outermost
                              first (layout.c); identity until then */
    Node **user;            /* filled by graph_index(): each node that reads it, once */
    int user_count;
    int output_count; /* how often it is an output of the graph or the next value of a state */
    Buffer *buffer;   /* after lower: where it lives, and the offset of its first byte there */
    int64_t buffer_offset;
};

typedef enum { FATE_LIVE, FATE_KERNEL, FATE_FUSED, FATE_FOLDED, FATE_MOVED, FATE_REMOVED } Fate;
typedef enum { NODE_CPU, NODE_NPU } NodeTarget;

/* What calibration saw a node's weights multiplied with: [rows][groups][depth] (quant/patches.c).
 */
typedef struct Patches {
    int64_t groups, depth; /* depth in the order of one output's weights */
    int64_t rows, capacity;
    int64_t share; /* rows that one sample gives at most */
    float *data;
    bool outside; /* data is in no arena, for it is large and not needed to the end */
} Patches;

typedef struct Origins { /* sorted archive node indices */
    int count;
    int *id;
} Origins;

struct Node {
    Graph *graph;
    int index; /* position, filled by graph_index() */
    const Op *op;
    bool writes;     /* an in-place or out= twin of op: writes the operand written_arg */
    int written_arg; /* index into op's args; meaningful if writes. An out= twin writes `out_arg`,
                        one for each output, since the row has no such arguments */
    int out_arg_count;
    Value **out_arg;
    bool copies;      /* a *_copy twin of a view row: never aliases */
    const char *name; /* unique */
    Loc loc;
    Arg *arg; /* op->schema's arguments, in order, defaults filled in */
    int arg_count;
    int out_count;
    Value **out; /* NULL entries never occur; unused outputs have no users */
    Graph *body; /* of table and recurrent nodes; NULL otherwise */
    Origins origins;
    NodeTarget target;
    const char *npu_reason; /* why the NPU that there is does not run it; NULL: it does */
    bool summed;            /* the store of what makes an operand does it (residual.c) */
    bool joined;            /* its reader, a cat, moves its operand straight into place (lower.c) */
    bool fused;      /* computed in the store of the node that defines its operand (fuse.c) */
    bool float_kept; /* --allow-float: stays float on the chip */
    int weight_bits; /* 4 if asked for by --precision; 0: 8 */
    const char *float_reason;
    Patches *patches;
    double sqnr_db; /* verify's result; NAN unknown */
    int64_t npu_macs;
    Node *prev, *next;
};

/* A node of the archive, for the report: each exactly once. */
typedef struct {
    const char *name, *op, *module;
    Loc loc;
    Fate fate;           /* FATE_LIVE until decided; set by the pass that removes it */
    const char *reason;  /* why removed or folded, for people */
    int into;            /* archive index of the node it was folded into, -1 */
    Origins reads;       /* whose results it reads, for people: archive indices; -1 - k: input k */
    const char *numeric; /* filled by the report; and its constant weights: int4, int8 or NULL */
    const char *weights;
    const char *numeric_reason; /* why not int8, or NULL */
} ArchiveNode;

/* A node that must be float, found while its integer form was made. */
typedef struct {
    const char *name, *reason;
    Origins origins;
} FloatNode;

/* A diagnostic that waits until all of its kind are found. */
typedef struct Refusal {
    Loc loc;
    const char *message, *detail;
    struct Refusal *next;
} Refusal;

typedef struct { /* a buffer that the model writes: its value before and after a run */
    Value *before, *after;
    const char *fqn;
    int slot; /* of the input that --state made it of; -1 */
} State;

/* A memory of the chip (--memory). It takes what runs write, unless it is read-only, and constants
 * if it is, or has a section for them. */
typedef struct {
    const char *name;      /* part of C names: "dtcm" */
    const char *section;   /* the linker's, of its arena, or of constants if read-only; NULL: the
                              compiler's own */
    const char *constants; /* of constants that start-up code copies there; NULL: it takes none */
    const char *symbol;    /* the program's array that is its arena; NULL: the model defines one */
    const char *load;      /* of what start-up code copies: the memory that it comes from */
    int64_t bytes;         /* limit; 0: none */
    int wait_states;       /* the fewer the faster */
    bool read_only;
} Memory;

typedef enum { REGION_ARENA, REGION_STATE, REGION_CONSTANTS, REGION_BOUND } RegionKind;

/* What a CtnRegion is in a model. */
typedef struct {
    const char *name; /* part of C names: "arena", "dtcm", "weights"; NULL: there is none */
    RegionKind kind;
    const char *section, *symbol; /* as of its memory */
    int memory;                   /* that it lies in; -1: in memory of the caller's */
    int64_t bytes;                /* after plan */
    int align;                    /* of constants, after plan */
} MemoryRegion;

typedef struct { /* a number of Vela's summary, by its name there */
    const char *name;
    double value;
} NpuFigure;

/* What an NPU runs in one go: the nodes from first to last, as Vela compiled them (npu/vela.c). Its
 * memory is three regions: weights, scratch, and, where Vela asks for it, fast scratch. */
typedef struct {
    const char *name; /* "model_npu0" */
    Node *first, *last;
    int input_count, output_count;
    Value **input, **output;
    int64_t *input_offset, *output_offset; /* in scratch */
    const void *tosa, *commands, *weights;
    int64_t tosa_bytes, command_bytes, weight_bytes, scratch_bytes, fast_bytes;
    int figure_count;
    NpuFigure *figure;
} NpuProgram;

typedef enum {
    STAGE_IMPORTED,
    STAGE_FUNCTIONAL,
    STAGE_CORE,
    STAGE_QUANTIZED,
    STAGE_LOWERED,
    STAGE_PLANNED
} Stage;

struct Graph {
    C *c;
    NameSet *value_names, *node_names, *call_names, *buffer_names;
    const char *name; /* C identifier made from the archive's stem */
    Stage stage;
    Node *first, *last;
    int node_count;
    int value_count, value_capacity;
    Value **value;
    int input_count;
    Arg *input; /* user inputs in call order: ARG_VALUE, or the constant of a constant input */
    const char **input_name; /* the archive's name of each */
    int output_count;
    Arg *output; /* ARG_VALUE, ARG_NONE or ARG_INT */
    const char **output_name;
    int state_count;
    State *state;
    int archive_count;
    ArchiveNode *archive;
    const char *archive_path, *archive_sha256;
    const char *source_sha256; /* of the emitted <name>.c; NULL: none */
    Refusal *refusal; /* nodes that can be had neither as integers nor, as allowed, in float */
    bool is_copy;     /* of a graph that lives on: what is in no arena is that one's to release */
    int float_wanted_count, float_wanted_capacity; /* with --allow-float: see FloatNode */
    FloatNode *float_wanted;
    int npu_count;
    NpuProgram *npu;              /* in the order in which they run */
    Call *first_call, *last_call; /* LOWERED */
    int call_count;
    int strip_count;
    struct Strip *strip; /* calls that run a few rows at a time (lower/memory.h) */
    int buffer_count, buffer_capacity;
    Buffer **buffer;
    int64_t arena_bytes, arena_lower_bound, state_bytes, weights_bytes, scratch_bytes;
    int64_t input_bytes, output_bytes; /* of inputs and outputs outside of the arena */
    int memory_count;                  /* PLANNED: of the chip, and what lies there */
    const Memory *memory;
    MemoryRegion *region; /* by CtnRegion */
    const char *peak_node;
    double *output_sqnr_db; /* by output, of the calibration samples; NULL: not measured */
    int moment_count; /* PLANNED: bytes of the arena that live at 0 (inputs are written), k + 1 */
    int64_t *live;    /* (call k) and moment_count - 1 (outputs are read) */
};

Graph *graph_new(C *c, const char *name);
/* A copy in c of a graph that is not lowered, for passes to run on; it must not outlive g. */
Graph *graph_copy(C *c, const Graph *g);
Value *value_new(Graph *g, const char *name, Type type);     /* name made unique */
Value *value_constant(Graph *g, const char *name, Array *a); /* ROLE_CONSTANT */

/* A node as it stands, for import and the text form: no shape function is run. `arg` has all of
 * the schema's arguments; the outputs get these types, and names made from the node's. */
Node *node_insert(Graph *g, Node *before, const Op *op, const char *name, const Arg *arg,
                  int out_count, const Type *type);
/* For shape functions of rows that return Tensor[]: the node gets so many outputs. */
void node_set_out_count(Node *n, int count);

/* Node building. A pass that rewrites node n sets c->origins/c->loc by rewrite_begin(c, n); new
 * nodes inherit both. `schema_name` is "aten::mul.Tensor" or an internal "corten::table".
 * Arguments are given by the variadic argument list, in schema order, in the form of Arg; missing
 * trailing ones take their defaults. Output types come from op->shape. The new node stands before
 * `before` (NULL: at the end). */
void rewrite_begin(C *c, const Node *n);
void rewrite_end(C *c);
Node *node_new(Graph *g, Node *before, const char *schema_name, int arg_count, const Arg *arg);
Value *node_value(Graph *g, Node *before, const char *schema_name, int arg_count,
                  const Arg *arg); /* its first output */
/* x * scale[k] + offset[k] for each channel k of x, which is of rank 3 or 4: a depthwise
 * convolution of size one. scale is [channels, 1, ...] of that rank. */
Value *channels_scaled(Graph *g, Node *before, Value *x, Array *scale, Array *offset);
/* v in another dtype, or v itself if that is its own. */
Value *value_converted(Graph *g, Node *before, Value *v, DType dtype);
#define ARGS(...)                                                                                  \
    (int)(sizeof((Arg[]){__VA_ARGS__}) / sizeof(Arg)), (Arg[]) {                                   \
        __VA_ARGS__                                                                                \
    }
Arg arg_none(void);
Arg arg_value(Value *v); /* NULL: none */
Arg arg_int(int64_t i);
Arg arg_float(double f);
Arg arg_bool(bool b);
Arg arg_string(const char *s);
Arg arg_dtype(DType t);
Arg arg_ints(C *c, int count, const int64_t *v);
Arg arg_values(C *c, int count, Value *const *v);

/* Taking apart. node_remove: the archive nodes it stands for get this fate unless another live
 * node stands for them too. `into` may be NULL. */
void node_remove(Graph *g, Node *n, Fate fate, const char *reason, const Node *into);
void node_move_before(Graph *g, Node *n, Node *before);
void value_replace(Graph *g, Value *old_value, Value *new_value); /* in all readers and outputs */
bool graph_has_input(const Graph *g, const Value *v);
Origins origins_union(C *c, const Origins *a, const Origins *b);
bool origins_have(const Origins *o, int id); /* archive node id */
/* dst from now on stands for src's archive nodes too; their fate becomes `fate` into dst. */
void origins_merge(Graph *g, Node *dst, const Node *src, Fate fate);
void graph_index(Graph *g); /* numbers nodes, fills users and output counts */
int graph_sweep(Graph *g);  /* removes nodes whose outputs nobody reads (FATE_REMOVED); count */
/* Nodes in the order of dependence, given or broken order; false if there is a cycle. */
bool graph_sort(Graph *g);

/* Reading a node's arguments by schema name. Asking for a name the schema lacks is a bug (70);
 * the value's kind is checked against the schema at import, so these cannot fail on user data. */
int node_arg_index(const Node *n, const char *name);
const Arg *node_arg(const Node *n, const char *name);
bool node_takes(const Node *n, const char *name); /* the schema has such an argument */
bool node_has(const Node *n, const char *name);   /* given and not None */
Value *node_in(const Node *n, const char *name);  /* NULL when None or a number */
int64_t node_int(const Node *n, const char *name);
double node_double(const Node *n, const char *name); /* int, float or bool */
/* Until it is called again, with NULL at last, the arguments of a node do not change on this
 * thread: node_double need not look the same ones up for each of many elements. */
void node_keeps(const Node *n);
bool node_bool(const Node *n, const char *name);
const char *node_string(const Node *n, const char *name);
int node_ints(const Node *n, const char *name, int64_t *out, int capacity); /* count */
/* A list of one or `want` ints, spread to exactly `want`: stride, padding, dilation. */
void node_ints_spread(const Node *n, const char *name, int64_t *out, int want);
int node_values(const Node *n, const char *name, Value **out, int capacity); /* Tensor[] */
/* Every value a node reads, in argument order, lists flattened. */
int node_operands(const Node *n, Value **out, int capacity);
int node_operand_count(const Node *n);
Value *node_operand(const Node *n, int k);
/* dim argument wrapped to 0..rank-1; out of range is a diagnostic and gives 0. */
int dim_wrap(C *c, const Node *n, int64_t dim, int rank);
bool value_is_scalar_constant(const Value *v, double *out); /* constant with one element */

/* ---- the operator table ------------------------------------------------------------------- */

enum {
    OP_MAY_RETURN_INPUT = 1 << 0, /* eval dropout, contiguous, reshape, to: input, view or copy */
    OP_VIEW_INPLACE = 1 << 1,     /* unsqueeze_, t_: the in-place twin changes only metadata */
    OP_MOVES_DATA = 1 << 2,       /* output elements are input elements at other places */
    OP_FUSES_CLAMP = 1 << 3,      /* the kernel's store can clamp */
    OP_FUSES_TABLE = 1 << 4,      /* the kernel's store can look up a table */
    OP_CHANNELS_LAST = 1 << 5,    /* the kernel wants operand 0 and output 0 as N,spatial...,C */
    OP_RANDOM = 1 << 6,           /* never folded */
    OP_ASSERTS = 1 << 7,          /* checks only: vanishes */
    OP_CREATES = 1 << 8,          /* reads no numbers of operands: always folded */
    OP_EFFECT_FREE_IDENTITY = 1 << 9, /* output equals operand 0: clone, detach, dropout */
    OP_ANY_ORDER = 1 << 10,  /* lower takes operands in any physical order, through strides; without
                                it (and without map, OP_MOVES_DATA, OP_CHANNELS_LAST) they come in
                                logical order */
    OP_WIDE_IN = 1 << 12,    /* reads int8 or int16 activations, whatever it writes */
    OP_WIDE_OUT = 1 << 13,   /* writes int8 or int16, whatever it reads */
    OP_WIDE_ALIKE = 1 << 14, /* int16 where all it reads and writes is int16 */
    OP_INT4_WEIGHTS = 1 << 15, /* its constant weights may have 4 bits, its activations then 8 */
    OP_PICKS = 1 << 16,        /* output elements are the greatest or least of input elements */
    OP_RECURS = 1 << 17,       /* reads what it writes again, step by step */
    OP_FUSES_MAP = 1 << 18,    /* its store can apply a function of int16 */
    OP_CLAMPS = 1 << 19, /* map keeps its one operand between what it makes of the infinities */
    OP_LOGICAL_OUTPUT = 1 << 11 /* with OP_ANY_ORDER: the outputs are written in logical order,
                                   whatever order the operands have */
};

typedef enum {
    Q_DEFAULT = 0, /* float: Q_ACT; integer and bool: Q_RAW */
    Q_ACT,         /* a calibrated grid of its own */
    Q_SAME,        /* outputs: the grid of operand 0 (union-find); operands: that of operand 0 */
    Q_FIXED,       /* outputs: QRule.scale / zero_point (int8); int16 scales follow by 1/128 */
    Q_STATE,       /* outputs: int16 whose step is a power of two, at least QRule.scale; operands:
                      the grid of the output of that rule */
    Q_WEIGHT,      /* constants: symmetric, one part per index of QRule.weight_axis */
    Q_BIAS,        /* int32 at scale(operand 0) * scale(weight) */
    Q_RAW          /* numbers as they are: indices, masks, shapes */
} QKind;

typedef struct {
    QKind in[6];  /* by operand argument index of the schema */
    QKind out[4]; /* by output */
    int weight_axis;
    double scale; /* of Q_FIXED and Q_STATE */
    int zero_point;
    const char *const *inner; /* composites: names of inner values observed and typed; NULL-ended */
} QRule;

/* One row, beside the functions that implement it (src/ops/<family>.c). NULL: not so. */
struct Op {
    const char *schema;
    unsigned traits;
    /* Pointwise: out = map(node, in), in[k] = k-th Tensor argument of the schema (absent optional
     * ones are NAN; numbers in Tensor slots are given as such). The whole definition: shape, eval,
     * folding and tables follow from it. Results are in the output's dtype meaning. */
    double (*map)(const Node *n, const double *in);
    void (*shape)(C *c, Node *n); /* sets out[k]->type; NULL with map: broadcast and promote */
    void (*eval)(C *c, Node *n);  /* float reference through eval_in / eval_out below */
    void (*decompose)(C *c, Graph *g, Node *n); /* builds what it stands for before n, replaces
                                                   n's outputs; the pass then removes n */
    QRule quant;
    void (*lower)(C *c, Graph *g, Node *n); /* adds kernel calls; NULL: no integer form */
    const char *no_integer_form;            /* why, when lower is NULL: shown in the diagnostic */
    void (*lower_float)(C *c, Graph *g, Node *n); /* kernel calls in float32, for nodes that stay
                                                     float. Not of data movement, whose lower takes
                                                     any elements, nor of pointwise rows, which have
                                                     programs (lower/program.c) */
};

/* An argument of a call as an archive gives it: of a list, the kind of its items (ARG_NONE: empty).
 */
typedef struct {
    const char *name;
    ArgKind kind, item;
    bool keyword;
} OpGiven;

/* How a call in an archive maps on the table: the row itself, or a derived twin of it. */
typedef struct {
    const Op *op;
    const Schema *schema; /* the row's */
    bool inplace;         /* name_ : writes argument 0 */
    bool out;             /* writes keyword arguments that the row does not have */
    bool copy;            /* *_copy of a view row */
} OpMatch;

int op_count(void);
const Op *op_at(int i);
const Schema *op_schema(const Op *op);
const char *op_key(const Op *op);           /* "aten::add.Tensor" */
const Op *op_find(const char *schema_name); /* "aten::add.Tensor" or "aten::relu"; NULL */
/* Which argument an in-place twin of the row writes, and has as its first: the first Tensor; -1: it
 * has no such twin. */
int schema_written_in_place(const Schema *s);
/* `target` as in an archive: "torch.ops.aten.add_.Tensor". False: no row. */
bool op_match(C *c, const char *target, int count, const OpGiven *given, OpMatch *out);
/* For a target without a row. The rows of the same name, as text: "aten.max, aten.max.dim"; NULL:
 * none. */
const char *op_namesakes(C *c, const char *target);
/* Why no row has the operator; NULL: it is not known at all. */
const char *op_excluded(C *c, const char *target);
bool op_is_pointwise(const Op *op);
void node_infer(C *c, Node *n); /* types of the outputs: op->shape, or broadcast for a map */
bool node_is(const Node *n, const char *schema_name); /* name with or without overload */
/* An archive's "aten.add_.Tensor" as messages have it: "add_". */
const char *operator_bare(C *c, const char *op);
/* So the archive's operator that n is for, which the user knows; without one the row's. */
const char *node_operator(const Node *n);

/* ---- float evaluation --------------------------------------------------------------------- */

/* Values of one run. Each thread has its own C and Env. Constants are not copied. Arrays that were
 * computed belong to the Env and go with it; whoever keeps one copies it. */
typedef struct Env Env;
Env *env_new(C *c, Graph *g);
void env_free(Env *e);
void env_set(Env *e, const Value *v, Array *a); /* taken by reference */
const Array *env_get(Env *e, const Value *v);   /* NULL if not computed; constants dequantized */
/* Runs all nodes in order in c->env; frees values after their last use unless `keep`.
 * `seen` (may be NULL) is called with every node output as soon as it is computed. */
void graph_eval(C *c, Graph *g, Env *e, bool keep,
                void (*seen)(void *user, const Value *v, const Array *a), void *user);
void node_eval(C *c, Node *n); /* in c->env */
/* For eval functions. eval_in: the k-th schema argument as an array (numbers become rank 0, NULL
 * when None), float data as float32. eval_out: storage for output k (allocate on first call). */
const Array *eval_in(C *c, const Node *n, const char *name);
const Array *eval_value(C *c, const Value *v);
Array *eval_out(C *c, Node *n, int k);
/* The shape and eval of rows that have nothing but a decomposition. Such a `decompose` must not
 * read the types of the outputs of n. */
void composite_shape(C *c, Node *n);
void composite_eval(C *c, Node *n);

/* ---- kernel calls (LOWERED) --------------------------------------------------------------- */

typedef enum { BUFFER_VALUE, BUFFER_CONSTANT, BUFFER_SCRATCH } BufferKind;

struct Buffer {
    int id;
    BufferKind kind;
    const char *name; /* readable C identifier: conv1_weight */
    DType element;    /* how a constant prints: DT_I8, DT_I32 ... */
    int64_t bytes;
    int align;
    const void *data;        /* constants */
    int64_t biases, factors; /* packed weights: bytes that are biases, multipliers and shifts */
    int region;              /* CtnRegion, after plan */
    int64_t offset;
    int first_call, last_call; /* lifetime, filled by plan */
    Buffer *over;          /* a buffer that this one may overwrite while it is still read: then */
    int64_t over_distance; /* buffer_follows */
    bool over_upward;
    int over_step;   /* both then begin a multiple of this apart; 0 or 1: anything */
    bool is_ring;    /* holds a few rows of its value at a time (strips) */
    double accesses; /* bytes that a run reads and writes of it, estimated by plan */
};

/* May `out` lie at out_at while out->over, which it overwrites, lies at in_at and is still read?
 * Yes if it begins so far below it or, upward, ends so far above it, in whole steps. */
bool buffer_follows(const Buffer *out, int64_t out_at, int64_t in_at);

typedef struct {      /* a CtnRef field of the args that points into a buffer */
    int field_offset; /* byte offset in args */
    Buffer *buffer;
    int64_t offset;
    bool writes;
    bool overwritable; /* filled by plan: may the output overwrite it? */
} CallRef;

struct Call {
    Graph *graph;
    int index;
    const char *name; /* unique: the name of the node it is for, with a suffix if need be */
    int kernel;       /* CtnKernelId */
    const struct Variant *variant; /* chosen by lower/variants.c */
    void *args;                    /* the kernel's Ctn...Args; refs are filled in by plan */
    int args_bytes;
    int ref_count, ref_capacity;
    CallRef *ref;
    Origins origins;
    Node *node;
    Node *producer; /* whose result is an operand of the sum `node`, in one call; else NULL */
    int64_t macs;
    int block; /* pixels of its one row that the kernel takes at once; 0: rows as they are */
    Call *next;
};

/* For lower functions: `a->input` etc. are set through these, never directly. */
Call *call_new(C *c, Graph *g, Node *n, int kernel);
Call *call_new_behind(C *c, Graph *g, Call *before, int kernel); /* for the same node */
void call_remove(Graph *g, const Call *gone);
void call_in(Call *call, uint32_t *field, Value *v);
void call_in_at(Call *call, uint32_t *field, Value *v, int64_t byte_offset);
void call_out(Call *call, uint32_t *field, Value *v);
void call_out_at(Call *call, uint32_t *field, Value *v, int64_t byte_offset);
Buffer *call_const(Call *call, uint32_t *field, const char *what, DType element, const void *data,
                   int64_t bytes, int align);
Buffer *call_scratch(Call *call, uint32_t *field, int64_t bytes, int align);
/* What another call refers to; NULL: nothing. */
void call_take(Call *call, uint32_t *field, const CallRef *other);
void call_absent(Call *call, uint32_t *field); /* CTN_NONE */
/* out is the memory of in, from byte_offset on: views and slices at no cost. */
void value_alias(Graph *g, Value *out, Value *in, int64_t byte_offset);
Buffer *value_buffer(Graph *g, Value *v); /* made on first use */
DType value_storage(const Value *v);      /* grid ? grid->dtype : type.dtype */
int64_t value_bytes(const Value *v);
/* Physical strides in elements of each logical dim under v->order. */
void value_strides(const Value *v, int64_t *stride);
bool value_order_is_identity(const Value *v); /* up to dims of size 1 */
/* Goes through the elements of a type in logical order; `at` is where each lies in memory. */
typedef struct {
    const Type *type;
    int64_t stride[MAX_RANK], index[MAX_RANK], at;
} Elements;
Elements elements_in_order(const Type *type, const int8_t *order); /* dims in an order of memory */
void elements_next(Elements *w);

/* The table or clamp that is fused behind n (its sole reader, marked fused), or NULL; and the
 * value that the call must therefore write. */
Node *node_epilogue(const Node *n);
Value *node_result(const Node *n);

/* ---- text form ---------------------------------------------------------------------------- */

/* The whole graph as text; large constants go into the .npz beside it (graph_save). */
const char *graph_print(Graph *g);
/* The same with those constants behind it, in lines array "NAME" DTYPE[DIMS] HEX. */
const char *graph_print_whole(Graph *g);
Graph *graph_parse(C *c, const char *file, const char *text, const ArrayList *constants);
void graph_save(Graph *g, const char *path); /* one zip: graph.txt and members of constants */
Graph *graph_load(C *c, const char *path);   /* what graph_save wrote, or text, plain with an .npz
                                                beside it, or whole */

/* Checks every rule of the graph's stage; a broken one is DIAG_BUG with the pass's name. */
void graph_verify(Graph *g, const char *after_pass);

#endif
