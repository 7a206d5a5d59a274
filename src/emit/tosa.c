/* A quantized graph as a TOSA 1.0 program of integers. Tensors lie as the values do in Corten's own
 * memory, so that convolutions find channels last; every number is that of the simulator. */
#include "emit/tosa.h"
#include "quant/quant.h"

#include <stdlib.h>
#include <string.h>

/* ---- the program --------------------------------------------------------------------------- */

static int tensor_new(Tosa *t, const char *name, TosaType type, const TosaDims *dims) {
    TosaProgram *p = &t->p;
    p->tensor = c_grow(t->c, p->tensor, p->tensor_count, &p->tensor_capacity, p->tensor_count + 1,
                       sizeof *p->tensor);
    TosaTensor *x = &p->tensor[p->tensor_count];
    *x = (TosaTensor){.name = name ? name : c_format(t->c, "t%d", p->tensor_count), .type = type};
    x->rank = dims->rank;
    for (int d = 0; d < dims->rank; d++)
        x->dim[d] = (int32_t)dims->dim[d];
    return p->tensor_count++;
}

static void operator_new(Tosa *t, TosaKind kind, const TosaAttributes *a, int in_count,
                         const int *in, int out) {
    TosaProgram *p = &t->p;
    p->op = c_grow(t->c, p->op, p->operator_count, &p->operator_capacity, p->operator_count + 1,
                   sizeof *p->op);
    const Loc *loc = t->node ? &t->node->loc : NULL;
    p->op[p->operator_count++] = (TosaOperator){
        .kind = kind,
        .a = a ? *a : (TosaAttributes){.axis = 0},
        .in_count = in_count,
        .in = in_count ? c_memdup(t->c, in, (size_t)in_count * sizeof *in) : NULL,
        .out = out,
        .location =
            loc && loc->file && loc->line ? c_format(t->c, "%s:%d", loc->file, loc->line) : NULL};
}

int tosa_add(Tosa *t, TosaKind kind, const TosaAttributes *a, int in_count, const int *in,
             TosaType type, const TosaDims *dims) {
    int out = tensor_new(t, NULL, type, dims);
    operator_new(t, kind, a, in_count, in, out);
    return out;
}

static const int type_bytes[] = {
    [TOSA_INT8] = 1, [TOSA_INT16] = 2, [TOSA_INT32] = 4, [TOSA_INT48] = 6};

int tosa_const(Tosa *t, TosaType type, const TosaDims *dims, const void *data) {
    int out = tosa_add(t, TOSA_CONST, NULL, 0, NULL, type, dims);
    size_t bytes = (size_t)dims_count(dims->rank, dims->dim) * (size_t)type_bytes[type];
    t->p.tensor[out].data = c_memdup(t->c, data, bytes);
    t->p.tensor[out].bytes = bytes;
    return out;
}

int tosa_number(Tosa *t, TosaType type, int32_t value) {
    int64_t wide = value; /* its lowest bytes come first, as in the file */
    return tosa_const(t, type, &(TosaDims){1, {1}}, &wide);
}

int tosa_shape(Tosa *t, int count, const int64_t *value) {
    int out = tosa_add(t, TOSA_CONST_SHAPE, NULL, 0, NULL, TOSA_SHAPE, &(TosaDims){1, {count}});
    t->p.tensor[out].bytes = (size_t)count * sizeof *value;
    t->p.tensor[out].data = c_memdup(t->c, value, t->p.tensor[out].bytes);
    return out;
}

TosaDims tosa_dims(const Tosa *t, int tensor) {
    const TosaTensor *x = &t->p.tensor[tensor];
    TosaDims dims = {x->rank, {0}};
    for (int d = 0; d < x->rank; d++)
        dims.dim[d] = x->dim[d];
    return dims;
}

TosaDims tosa_dims_of(const Value *v) {
    TosaDims dims = {v->type.rank, {0}};
    for (int k = 0; k < v->type.rank; k++)
        dims.dim[k] = v->type.dim[v->order[k]];
    return dims;
}

int tosa_reshape(Tosa *t, int tensor, const TosaDims *dims) {
    TosaDims own = tosa_dims(t, tensor);
    if (own.rank == dims->rank &&
        memcmp(own.dim, dims->dim, sizeof *own.dim * (size_t)own.rank) == 0)
        return tensor;
    int in[] = {tensor, tosa_shape(t, dims->rank, dims->dim)};
    return tosa_add(t, TOSA_RESHAPE, NULL, 2, in, t->p.tensor[tensor].type, dims);
}

int tosa_transpose(Tosa *t, int tensor, const int32_t *perm) {
    TosaDims from = tosa_dims(t, tensor), to = {from.rank, {0}};
    TosaAttributes a = {0};
    bool still = true;
    for (int d = 0; d < from.rank; d++) {
        a.perm[d] = perm[d];
        to.dim[d] = from.dim[perm[d]];
        still = still && perm[d] == d;
    }
    return still ? tensor
                 : tosa_add(t, TOSA_TRANSPOSE, &a, 1, &tensor, t->p.tensor[tensor].type, &to);
}

/* ---- rescaling ----------------------------------------------------------------------------- */

/* TOSA shifts to the right only, by 2 to 62, where Corten has shift - 31. */
static int rescaled(Tosa *t, int tensor, TosaType type, int32_t in_zero, int32_t out_zero,
                    int count, const int32_t *multiplier, const int32_t *shift, bool twice) {
    int8_t *right = c_alloc(t->c, (size_t)count);
    for (int i = 0; i < count; i++)
        right[i] = (int8_t)(31 - shift[i]);
    TosaDims dims = tosa_dims(t, tensor), factors = {1, {count}};
    int in[] = {tensor, tosa_const(t, TOSA_INT32, &factors, multiplier),
                tosa_const(t, TOSA_INT8, &factors, right),
                tosa_number(t, t->p.tensor[tensor].type, in_zero), tosa_number(t, type, out_zero)};
    return tosa_add(t, TOSA_RESCALE, &(TosaAttributes){.per_channel = count > 1, .twice = twice}, 5,
                    in, type, &dims);
}

/* Its rounding in two steps is ctn_requantize's, and one step where that has but one. */
int tosa_rescale(Tosa *t, int tensor, TosaType type, int32_t in_zero, int32_t out_zero, int count,
                 const int32_t *multiplier, const int32_t *shift) {
    return rescaled(t, tensor, type, in_zero, out_zero, count, multiplier, shift, true);
}

int tosa_rescale_once(Tosa *t, int tensor, TosaType type, int32_t out_zero, int count,
                      const int32_t *multiplier, const int32_t *shift) {
    return rescaled(t, tensor, type, 0, out_zero, count, multiplier, shift, false);
}

int tosa_narrowed(Tosa *t, int tensor, int lost) {
    enum { ONE_BITS = 14 };
    TosaDims dims = tosa_dims(t, tensor);
    int in[] = {tensor, tosa_number(t, TOSA_INT16, 1 << ONE_BITS),
                tosa_number(t, TOSA_INT8, ONE_BITS + lost), tosa_number(t, TOSA_INT48, 0),
                tosa_number(t, TOSA_INT32, 0)};
    return tosa_add(t, TOSA_RESCALE, &(TosaAttributes){.short_factors = true}, 5, in, TOSA_INT32,
                    &dims);
}

int tosa_clamp(Tosa *t, int tensor, int32_t min, int32_t max) {
    TosaDims dims = tosa_dims(t, tensor);
    return tosa_add(t, TOSA_CLAMP, &(TosaAttributes){.min = min, .max = max}, 1, &tensor,
                    t->p.tensor[tensor].type, &dims);
}

int tosa_rescale_by(Tosa *t, int tensor, TosaType type, int32_t in_zero, int32_t out_zero,
                    double factor) {
    int32_t multiplier, shift;
    multiplier_from(factor, &multiplier, &shift);
    return tosa_rescale(t, tensor, type, in_zero, out_zero, 1, &multiplier, &shift);
}

static int tensor_named(const Tosa *t, const char *name) {
    for (int i = 0; i < t->p.tensor_count; i++)
        if (strcmp(t->p.tensor[i].name, name) == 0)
            return i;
    return -1;
}

/* What people know a tensor by, unless another one has that name. */
static void rename_tensor(Tosa *t, int tensor, const char *name) {
    if (tensor_named(t, name) < 0)
        t->p.tensor[tensor].name = name;
}

static bool is_boundary(const Tosa *t, int tensor) {
    bool is = false;
    for (int i = 0; i < t->p.input_count; i++)
        is |= t->p.input[i] == tensor;
    for (int i = 0; i < t->p.output_count; i++)
        is |= t->p.output[i] == tensor;
    return is;
}

/* Inputs and outputs have the names that report.json gives them: an inner tensor yields its own.
 * What is named as an input or another output is, is `out.` and that name. */
static void rename_boundary(Tosa *t, int tensor, const char *name) {
    int holder = name ? tensor_named(t, name) : -1;
    while (holder >= 0 && holder != tensor && is_boundary(t, holder)) {
        name = c_format(t->c, "out.%s", name);
        holder = tensor_named(t, name);
    }
    if (holder >= 0)
        t->p.tensor[holder].name = c_format(t->c, "t%d", holder);
    if (name)
        t->p.tensor[tensor].name = name;
}

/* ---- values -------------------------------------------------------------------------------- */

static TosaType type_of(Tosa *t, const Value *v) {
    DType dtype = value_storage(v);
    if (layer_int16(v))
        return TOSA_INT16;
    if (tosa_is_index(v))
        return TOSA_INT32;
    if (dtype == DT_I8 || tosa_is_truth(v))
        return TOSA_INT8;
    t->refusal =
        c_format(t->c, "%s is %s, which no TOSA program of Corten has", v->name, dtype_name(dtype));
    return TOSA_INT8;
}

int tosa_value(Tosa *t, const Value *v) {
    if (t->of_value[v->id] < 0) { /* a constant: all else was written before */
        Array *data = v->constant ? v->constant : array_new(t->c, DT_I8, v->type.rank, v->type.dim);
        TosaDims logical = {v->type.rank, {0}};
        int32_t perm[MAX_RANK];
        for (int d = 0; d < v->type.rank; d++) {
            logical.dim[d] = v->type.dim[d];
            perm[d] = v->order[d];
        }
        int tensor = tosa_const(t, type_of(t, v), &logical, data->data);
        t->of_value[v->id] = tosa_transpose(t, tensor, perm);
    }
    return t->of_value[v->id];
}

int tosa_value_in(Tosa *t, const Value *v, const int8_t *order) {
    int32_t perm[MAX_RANK];
    for (int k = 0; k < v->type.rank; k++)
        perm[k] = order_place(v->order, order[k]);
    return tosa_transpose(t, tosa_value(t, v), perm);
}

void tosa_store(Tosa *t, const Node *n, int tensor) {
    const Node *epilogue = node_epilogue(n);
    const Value *result = node_result(n);
    int32_t min, max;
    store_clamp(n, &min, &max);
    bool narrow = t->p.tensor[tensor].type == TOSA_INT8;
    if (min > (narrow ? INT8_MIN : INT16_MIN) || max < (narrow ? INT8_MAX : INT16_MAX))
        tensor = tosa_clamp(t, tensor, min, max);
    if (epilogue && node_is(epilogue, "corten::table"))
        tensor = tosa_table(t, epilogue, n->out[0], tensor);
    type_of(t, result);
    t->of_value[result->id] = tensor;
    rename_tensor(t, tensor, result->name);
}

/* ---- programs ------------------------------------------------------------------------------ */

static Tosa tosa_new(C *c, Graph *g, const Npu *npu) {
    Tosa t = {.c = c, .g = g, .npu = npu, .p = {.name = g->name}};
    t.of_value = NEW_ARRAY(c, int, g->value_count + 1);
    for (int i = 0; i < g->value_count; i++)
        t.of_value[i] = -1;
    return t;
}

static int cast(Tosa *t, int tensor, TosaType type) {
    TosaDims dims = tosa_dims(t, tensor);
    return tosa_add(t, TOSA_CAST, NULL, 1, &tensor, type, &dims);
}

/* An input that lies as v does, in the bytes of Corten's memory. */
static void write_input(Tosa *t, const Value *v, const char *name) {
    TosaDims dims = tosa_dims_of(v);
    t->p.input = c_grow(t->c, t->p.input, t->p.input_count, &t->p.input_capacity,
                        t->p.input_count + 1, sizeof *t->p.input);
    t->of_value[v->id] = tensor_new(t, v->name, type_of(t, v), &dims);
    t->p.input[t->p.input_count++] = t->of_value[v->id];
    if (tosa_is_index(v)) /* of 64 bits in memory, of 32 in a program */
        t->refusal = c_format(t->c, "%s is int64, which no TOSA program of Corten reads", v->name);
    rename_boundary(t, t->of_value[v->id], name);
}

/* A copy of what is an input, a constant or an output already. */
static int own_tensor(Tosa *t, int tensor) {
    bool shared = t->p.tensor[tensor].data != NULL || is_boundary(t, tensor);
    TosaDims dims = tosa_dims(t, tensor);
    return shared ? tosa_add(t, TOSA_IDENTITY, NULL, 1, &tensor, t->p.tensor[tensor].type, &dims)
                  : tensor;
}

static void add_output(Tosa *t, int tensor, const char *name) {
    t->p.output = c_grow(t->c, t->p.output, t->p.output_count, &t->p.output_capacity,
                         t->p.output_count + 1, sizeof *t->p.output);
    t->p.output[t->p.output_count++] = tensor;
    rename_boundary(t, tensor, name);
}

static void write_output(Tosa *t, const Value *v, const char *name) {
    add_output(t, own_tensor(t, tosa_value(t, v)), name);
}

static void refuse_empty(Tosa *t, const Value *v) {
    if (type_count(&v->type) == 0)
        t->refusal =
            c_format(t->c, "%s has no elements, which no tensor of TOSA may lack", v->name);
}

/* Truth values are bools at a whole program's boundary. */
static void write_model_input(Tosa *t, const Value *v, const char *name) {
    write_input(t, v, name);
    refuse_empty(t, v);
    int tensor = t->of_value[v->id];
    if (!tosa_is_truth(v))
        return;
    t->p.tensor[tensor].type = TOSA_BOOL;
    t->of_value[v->id] = cast(t, tensor, TOSA_INT8);
}

static void write_model_output(Tosa *t, const Value *v, const char *name) {
    refuse_empty(t, v);
    if (tosa_is_truth(v))
        add_output(t, cast(t, tosa_value(t, v), TOSA_BOOL), name);
    else
        write_output(t, v, name);
}

/* The first of n's operands and outputs whose numbers no operator takes; NULL: none. */
static const Value *without_form(const Node *n) {
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *v = node_operand(n, k);
        if (!v->constant && !tosa_is_taken(v))
            return v;
    }
    for (int k = 0; k < n->out_count; k++)
        if (n->out[k]->user_count + n->out[k]->output_count > 0 && !tosa_is_taken(n->out[k]))
            return n->out[k];
    return NULL;
}

static const char *refusal_of(C *c, const Node *n) {
    const Value *v = without_form(n);
    const char *what = node_operator(n);
    return v ? c_format(c, "%s has no form in TOSA's integer profile for %s, which is %s", what,
                        v->name, dtype_name(value_storage(v)))
             : c_format(c, "%s has no form in TOSA's integer profile", what);
}

/* Why n, whose operands are written, cannot be; NULL: it is. */
static const char *write_node(Tosa *t, Node *n) {
    int first = t->p.operator_count;
    t->node = n;
    t->refusal = NULL;
    bool kept = t->npu && (node_is_wide(n) || (n->op->traits & OP_RECURS));
    if (kept)
        return t->refusal =
                   "numbers of 16 bits stay in Corten's kernels, and so do recurrent layers";
    bool written = tosa_node(t, n);
    if (!written && !t->refusal)
        t->refusal = refusal_of(t->c, n);
    for (int i = first; t->npu && !t->refusal && i < t->p.operator_count; i++)
        t->refusal = tosa_limit(t->c, &t->p, &t->p.op[i], t->npu);
    t->node = NULL;
    return t->refusal;
}

/* So that what else is wrong is found too. */
static void write_anything(Tosa *t, const Node *n) {
    for (int k = 0; k <= n->out_count; k++) {
        const Value *v = k < n->out_count ? n->out[k] : node_result(n);
        TosaDims dims = tosa_dims_of(v);
        if (t->of_value[v->id] < 0)
            t->of_value[v->id] = tensor_new(t, NULL, TOSA_INT8, &dims);
    }
}

static void write_nodes(Tosa *t, Node *first, const Node *last) {
    for (Node *n = first; n; n = n == last ? NULL : n->next) {
        if (n->fused)
            continue; /* its producer's store has it */
        const char *refusal = write_node(t, n);
        if (refusal) {
            diag_error(t->c, DIAG_MODEL, &n->loc, "%s", refusal);
            write_anything(t, n);
        }
    }
}

const char *tosa_refusal(C *c, Graph *g, Node *n, const Npu *npu) {
    Tosa t = tosa_new(c, g, npu);
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *v = node_operand(n, k);
        if (!v->constant && t.of_value[v->id] < 0)
            write_input(&t, v, NULL);
        if (t.refusal)
            return t.refusal;
    }
    return write_node(&t, n);
}

static const void *serialized(Tosa *t, size_t *bytes) {
    void *data = tosa_serialize(&t->p, bytes);
    if (!data)
        fatal(t->c, DIAG_MODEL, NULL, "out of memory for the TOSA file");
    const void *copy = c_memdup(t->c, data, *bytes);
    free(data);
    return copy;
}

const void *tosa_part(C *c, Graph *g, const Npu *npu, Node *first, const Node *last, int in_count,
                      Value *const *in, int out_count, Value *const *out, size_t *bytes) {
    Tosa t = tosa_new(c, g, npu);
    for (int i = 0; i < in_count; i++)
        write_input(&t, in[i], NULL);
    write_nodes(&t, first, last);
    diag_stop_if_errors(c);
    for (int i = 0; i < out_count; i++)
        write_output(&t, out[i], out[i]->name);
    return serialized(&t, bytes);
}

static void write_boundary(Tosa *t, int count, const Arg *arg, const char *const *name,
                           void (*write)(Tosa *t, const Value *v, const char *name)) {
    for (int i = 0; i < count; i++)
        if (arg[i].kind == ARG_VALUE)
            write(t, arg[i].u.value, name ? name[i] : NULL);
}

static void note_refusal(Tosa *t) {
    if (t->refusal)
        diag_error(t->c, DIAG_MODEL, NULL, "%s", t->refusal);
    t->refusal = NULL;
}

/* A program has no state: it is one more input, and what it becomes one more output. */
void emit_tosa(C *c, Graph *g, const Options *o, FileSet *out) {
    Tosa t = tosa_new(c, g, o->npu);
    write_boundary(&t, g->input_count, g->input, g->input_name, write_model_input);
    for (int i = 0; i < g->state_count; i++)
        write_model_input(&t, g->state[i].before, g->state[i].fqn);
    note_refusal(&t);
    write_nodes(&t, g->first, NULL);
    diag_stop_if_errors(c);
    write_boundary(&t, g->output_count, g->output, g->output_name, write_model_output);
    for (int i = 0; i < g->state_count; i++)
        write_model_output(&t, g->state[i].after, c_format(c, "next.%s", g->state[i].fqn));
    note_refusal(&t);
    diag_stop_if_errors(c);
    size_t bytes = 0;
    const void *data = serialized(&t, &bytes);
    fileset_add(c, out, c_format(c, "%s.tosa", g->name), data, bytes);
}
