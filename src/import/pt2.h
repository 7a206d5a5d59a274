/* What the files of this folder share while one archive is read. JSON trees belong to the Pt2 and
 * die with it; every string that reaches the graph is copied into the arena first. */
#ifndef CORTEN_PT2_H
#define CORTEN_PT2_H

#include <jansson.h>

#include "graph/graph.h"

typedef struct { /* a tensor as the archive describes it */
    Type type;   /* floats of every width are float32 here */
    DType stored;
    int64_t stride[MAX_RANK], offset; /* elements */
    const char *symbol;               /* of a size known only at run time, or NULL */
    int symbol_dim;
    bool made_up; /* after a diagnostic */
} Meta;

typedef struct {            /* names visible in one graph of the archive (graphs can be nested) */
    json_t *values;         /* archive name -> id of the Value */
    const json_t *tensors;  /* the graph's tensor_values */
    const Origins *origins; /* nested graphs: what all their nodes stand for; NULL at the top */
    int depth;
} Scope;

typedef struct { /* a member of the archive that holds tensor data, read once */
    const char *member;
    void *data;
    size_t bytes;
} Storage;

typedef struct {
    C *c;
    Graph *g;
    const char *path;
    const void *data; /* NULL: the file at path; else its bytes, and path only names them */
    size_t bytes;
    Zip *zip;
    const char *root; /* "name/" */
    json_t *model, *weights, *constants;
    json_t *used;       /* names that any node or output reads */
    json_t *node_names; /* taken so far */
    json_t *makers;     /* name -> archive index of the node it comes from last; -1 - k: input k */
    json_t *unknown;    /* targets without a row -> number of nodes */
    int storage_count, storage_capacity;
    Storage *storage;
    const char *member; /* where reading is now: for messages about malformed JSON */
    const char *what;
    DType other_float; /* a float of another width than float32 that was met; DT_F32: none */
    bool made_up; /* a value has a made-up type, after a diagnostic: types are no longer compared */
    int dynamic_inputs;    /* inputs with a size known only at run time */
    bool dynamic_reported; /* one message about such numbers inside of the graph is enough */
} Pt2;

/* archive.c: the zip and its JSON. The getters are fatal (DIAG_INPUT) when the key is missing or of
 * another type, and name the place. */
void archive_open(Pt2 *p);
void archive_close(Pt2 *p);
json_t *archive_json(Pt2 *p, const char *name, bool needed);
Loc archive_place(const Pt2 *p);
_Noreturn void archive_malformed(Pt2 *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
json_t *get_object(Pt2 *p, const json_t *parent, const char *key);
json_t *get_array(Pt2 *p, const json_t *parent, const char *key);
const char *get_string(Pt2 *p, const json_t *parent, const char *key);
int64_t get_int(Pt2 *p, const json_t *parent, const char *key);
/* The single key of a union such as {"as_int": 3}, and its content. */
const char *get_union(Pt2 *p, const json_t *u, json_t **content);
const char *json_kind(const json_t *j); /* "a list" */

/* meta.c: descriptions of tensors. `loc` and `what` are for messages; false: one was recorded. */
bool meta_read(Pt2 *p, const json_t *json, const Loc *loc, const char *what, Meta *out);
bool dtype_is_foreign(int64_t code); /* torch's, and of no use here */
bool dtype_read(Pt2 *p, int64_t code, const Loc *loc, const char *what, DType *stored);
DType dtype_meant(DType stored); /* float32 for every float */

/* weights.c: the data of a parameter, buffer or constant, in logical order; NULL: recorded. */
Array *weight_load(Pt2 *p, const char *fqn, Role role, const Meta *meta);

/* loc.c */
Loc loc_read(Pt2 *p, const json_t *metadata, const char *node);

/* args.c: what the arguments of a node are, as far as that can be said without its row. */
OpGiven *args_given(Pt2 *p, const json_t *inputs);

typedef struct {
    Arg *arg; /* in the order of the row's schema, defaults filled in */
    int out_count, out_capacity;
    Value **out; /* what an out= twin writes, by output */
} CallArgs;

/* All arguments of a node; false: a diagnostic was recorded. */
bool args_read(Pt2 *p, const Scope *scope, const json_t *inputs, const OpMatch *match,
               const Loc *loc, const char *op, CallArgs *out);
Value *scope_value(Pt2 *p, const Scope *scope, const char *name, const Loc *loc);
/* A size or number that is known only when the model runs: one message for the whole archive. */
void report_run_time_number(Pt2 *p, const Loc *loc, const char *what, const char *symbol);
double number_read(Pt2 *p, const json_t *j); /* an integer, a real, or "Infinity", "NaN" ... */

/* The outputs of a node, tensors of lists in order. Numbers among them make the node symbolic. */
typedef struct {
    int count, capacity;
    const char **name; /* NULL: None */
    bool symbolic;
} Names;

typedef struct {
    const json_t *inputs;
    const char *target, *op, *name; /* op: for messages; name: the archive's */
    Loc loc;
    Origins origins;
    Names outputs;
    int archive; /* index of its record, -1 in nested graphs */
    bool refused;
} Source;

/* nodes.c */
void nodes_read(Pt2 *p, Scope *scope, const json_t *nodes);
void names_used(Pt2 *p, const json_t *graph); /* fills p->used */
/* n NULL: only the names, after a diagnostic. */
void define_outputs(Pt2 *p, Scope *scope, Source *s, Node *n);
void record_removed(Pt2 *p, const Source *s, const char *reason);
/* No names yet; they are released with the arena, whatever happens in between. */
void scope_open(Pt2 *p, Scope *scope);
Value *scope_define(Pt2 *p, Scope *scope, const char *name, const Loc *loc, const Meta *meta);
const char *name_clean(C *c, const char *name); /* letters, digits, '_' and '.' only */

/* regions.c: a node that has graphs among its arguments; false: s is none. */
bool region_read(Pt2 *p, Scope *scope, Source *s);

#endif
