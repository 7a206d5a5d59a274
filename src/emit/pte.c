/* A quantized graph as a program for ExecuTorch's runtime, in the operators of its Cortex-M
 * dialect. Tensors lie as the values do in Corten's own memory, dims in the order that the program
 * names; every number is that of the simulator. What only views do costs no instruction: two
 * tensors then lie in one place. The memory plan is Corten's, over the program's calls. */
#include "emit/pte.h"
#include "lower/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of the program ----------------------------------------------------------------- */

static int value_new_in(Pte *t, PteValue v) {
    PteProgram *p = &t->p;
    p->value = c_grow(t->c, p->value, p->value_count, &p->value_capacity, p->value_count + 1,
                      sizeof *p->value);
    t->storage_of = c_grow(t->c, t->storage_of, p->value_count, &t->storage_slots,
                           p->value_count + 1, sizeof *t->storage_of);
    t->storage_of[p->value_count] = -1;
    p->value[p->value_count] = v;
    return p->value_count++;
}

int pte_none(Pte *t) {
    return value_new_in(t, (PteValue){.kind = PTE_NONE});
}

int pte_int(Pte *t, int64_t number) {
    return value_new_in(t, (PteValue){.kind = PTE_INT, .number = number});
}

int pte_bool(Pte *t, bool truth) {
    return value_new_in(t, (PteValue){.kind = PTE_BOOL, .number = truth});
}

int pte_double(Pte *t, double real) {
    return value_new_in(t, (PteValue){.kind = PTE_DOUBLE, .real = real});
}

int pte_ints(Pte *t, int count, const int64_t *number) {
    int *item = NEW_ARRAY(t->c, int, count + 1);
    for (int i = 0; i < count; i++)
        item[i] = pte_int(t, number[i]);
    return value_new_in(t, (PteValue){.kind = PTE_INTS, .count = count, .item = item});
}

PteShape pte_plain(int rank, const int64_t *size) {
    PteShape s = {.rank = rank};
    for (int d = 0; d < rank; d++) {
        s.size[d] = size[d];
        s.order[d] = (int8_t)d;
    }
    return s;
}

PteShape pte_image_shape(int64_t n, int64_t c, int64_t h, int64_t w) {
    return (PteShape){4, {n, c, h, w}, {0, 2, 3, 1}};
}

static PteValue tensor_value(PteScalar scalar, const PteShape *shape) {
    PteValue v = {.kind = PTE_TENSOR, .scalar = scalar, .rank = shape->rank};
    for (int d = 0; d < shape->rank; d++) {
        v.size[d] = (int32_t)shape->size[d];
        v.order[d] = (uint8_t)shape->order[d];
    }
    return v;
}

static int scalar_bytes(PteScalar scalar) {
    return scalar == PTE_BYTE || scalar == PTE_CHAR ? 1 : 4;
}

/* Equal constants share one place. */
static int constant_index(Pte *t, const void *data, size_t bytes) {
    PteProgram *p = &t->p;
    for (int i = 1; i < p->constant_count; i++)
        if (p->constant[i].bytes == bytes && memcmp(p->constant[i].data, data, bytes) == 0)
            return i;
    p->constant = c_grow(t->c, p->constant, p->constant_count, &p->constant_capacity,
                         p->constant_count + 1, sizeof *p->constant);
    p->constant[p->constant_count] = (PteConstant){data, bytes};
    return p->constant_count++;
}

int pte_constant(Pte *t, PteScalar scalar, int rank, const int64_t *size, const void *data) {
    PteShape shape = pte_plain(rank, size);
    PteValue v = tensor_value(scalar, &shape);
    v.constant = constant_index(t, data, (size_t)(dims_count(rank, size) * scalar_bytes(scalar)));
    return value_new_in(t, v);
}

static int storage_new(Pte *t, int64_t bytes) {
    t->storage = c_grow(t->c, t->storage, t->storage_count, &t->storage_capacity,
                        t->storage_count + 1, sizeof *t->storage);
    t->storage[t->storage_count] = (PteStorage){bytes, 0, INT_MAX, -1, -1};
    return t->storage_count++;
}

int pte_tensor(Pte *t, PteScalar scalar, const PteShape *shape) {
    int tensor = value_new_in(t, tensor_value(scalar, shape));
    int64_t bytes = dims_count(shape->rank, shape->size) * scalar_bytes(scalar);
    t->storage_of[tensor] = storage_new(t, bytes);
    return tensor;
}

int pte_view(Pte *t, int tensor, const PteShape *shape) {
    const PteValue *own = &t->p.value[tensor];
    PteValue v = tensor_value(own->scalar, shape);
    if (own->rank == v.rank && memcmp(own->size, v.size, sizeof v.size) == 0 &&
        memcmp(own->order, v.order, sizeof v.order) == 0)
        return tensor;
    v.constant = t->p.value[tensor].constant;
    int view = value_new_in(t, v);
    t->storage_of[view] = t->storage_of[tensor];
    return view;
}

int pte_scratch(Pte *t, int64_t bytes) {
    PteShape shape = pte_plain(1, &bytes);
    return pte_tensor(t, PTE_BYTE, &shape);
}

/* ---- calls --------------------------------------------------------------------------------- */

static int op_index(Pte *t, const char *name) {
    PteProgram *p = &t->p;
    for (int i = 0; i < p->op_count; i++)
        if (strcmp(p->op[i], name) == 0)
            return i;
    p->op = c_grow(t->c, p->op, p->op_count, &p->op_capacity, p->op_count + 1, sizeof *p->op);
    p->op[p->op_count] = name;
    return p->op_count++;
}

static void live_at(Pte *t, int tensor, int moment) {
    PteStorage *s = t->storage_of[tensor] >= 0 ? &t->storage[t->storage_of[tensor]] : NULL;
    if (!s)
        return;
    s->first = moment < s->first ? moment : s->first;
    s->last = moment > s->last ? moment : s->last;
}

/* The runtime wants what an out variant writes once more, as its result. */
void pte_call(Pte *t, const char *name, int count, const int *arg) {
    PteProgram *p = &t->p;
    int *args = NEW_ARRAY(t->c, int, count + 1);
    memcpy(args, arg, (size_t)count * sizeof *arg);
    args[count] = arg[count - 1];
    p->call =
        c_grow(t->c, p->call, p->call_count, &p->call_capacity, p->call_count + 1, sizeof *p->call);
    for (int i = 0; i < count; i++)
        live_at(t, arg[i], p->call_count + 1);
    p->call[p->call_count++] =
        (PteCall){op_index(t, c_format(t->c, "cortex_m::%s", name)), count + 1, args};
}

void pte_call_over(Pte *t, const char *name, int count, const int *arg, int input) {
    pte_call(t, name, count, arg);
    int in = t->storage_of[input], out = t->storage_of[arg[count - 1]];
    if (in >= 0 && in != out && t->storage[in].bytes == t->storage[out].bytes)
        t->storage[out].over = in;
}

void pte_lookup(Pte *t, int from, const int8_t entry[256], int to) {
    int64_t size = 256;
    const void *copy = c_memdup(t->c, entry, (size_t)size);
    int args[] = {from, pte_constant(t, PTE_CHAR, 1, &size, copy), to};
    pte_call_over(t, "quantized_activation", 3, args, from);
}

/* ---- values of the graph ------------------------------------------------------------------- */

static bool has_form(const Value *v) {
    return value_storage(v) == DT_F32 || layer_int8(v);
}

static PteScalar scalar_of(Pte *t, const Value *v) {
    if (value_storage(v) == DT_F32)
        return PTE_FLOAT;
    if (!has_form(v))
        diag_error(t->c, DIAG_MODEL, t->node ? &t->node->loc : NULL,
                   "%s is %s, of which Corten writes no ExecuTorch program", v->name,
                   dtype_name(value_storage(v)));
    return PTE_CHAR;
}

PteShape pte_shape(const Value *v) {
    PteShape s = {.rank = v->type.rank};
    for (int d = 0; d < s.rank; d++) {
        s.size[d] = v->type.dim[d];
        s.order[d] = v->order[d];
    }
    return s;
}

void pte_set(Pte *t, const Value *v, int tensor) {
    t->value_of[v->id] = tensor;
}

int pte_value(Pte *t, const Value *v) {
    if (t->value_of[v->id] < 0) {
        PteShape shape = pte_shape(v);
        if (v->constant)
            diag_error(t->c, DIAG_MODEL, t->node ? &t->node->loc : NULL,
                       "%s is a constant operand, which no operator of the dialect takes here",
                       v->name);
        pte_set(t, v, pte_tensor(t, scalar_of(t, v), &shape));
    }
    return t->value_of[v->id];
}

/* The dims in the order of memory as a shape of its own. */
static PteShape memory_shape(const Value *v, const int8_t *order) {
    int64_t size[MAX_RANK];
    for (int k = 0; k < v->type.rank; k++)
        size[k] = v->type.dim[order[k]];
    return pte_plain(v->type.rank, size);
}

int pte_value_in(Pte *t, const Value *v, const int8_t *order) {
    PteShape wanted = pte_shape(v), from = memory_shape(v, v->order), to = memory_shape(v, order);
    int64_t perm[MAX_RANK];
    memcpy(wanted.order, order, (size_t)v->type.rank * sizeof *order);
    if (order_same(&v->type, v->order, order))
        return pte_view(t, pte_value(t, v), &wanted);
    if (!layer_int8(v) || v->type.rank > 4)
        return -1;
    for (int k = 0; k < v->type.rank; k++)
        perm[k] = order_place(v->order, order[k]);
    int out = pte_tensor(t, PTE_CHAR, &wanted);
    int args[] = {pte_view(t, pte_value(t, v), &from), pte_ints(t, v->type.rank, perm),
                  pte_view(t, out, &to)};
    pte_call(t, "transpose", 3, args);
    return out;
}

int pte_image(Pte *t, const Value *v) {
    const int64_t *d = v->type.dim;
    int8_t order[MAX_RANK];
    order_channels_last(v->type.rank, order);
    if (v->type.rank < 3 || v->type.rank > 4 || !order_same(&v->type, v->order, order))
        return -1;
    PteShape shape = v->type.rank == 4 ? pte_image_shape(d[0], d[1], d[2], d[3])
                                       : pte_image_shape(d[0], d[1], 1, d[2]);
    return pte_view(t, pte_value(t, v), &shape);
}

static const Node *fused_table(const Node *n) {
    const Node *epilogue = node_epilogue(n);
    return epilogue && node_is(epilogue, "corten::table") ? epilogue : NULL;
}

static int before_table(Pte *t, const Node *n) {
    PteShape shape = pte_shape(node_result(n));
    return pte_tensor(t, PTE_CHAR, &shape);
}

int pte_result(Pte *t, const Node *n) {
    return fused_table(n) ? before_table(t, n) : pte_value(t, node_result(n));
}

int pte_result_image(Pte *t, const Node *n) {
    const Value *y = node_result(n);
    int whole = pte_image(t, y);
    if (whole < 0 || !fused_table(n))
        return whole;
    const int32_t *size = t->p.value[whole].size;
    PteShape shape = pte_image_shape(size[0], size[1], size[2], size[3]);
    return pte_view(t, before_table(t, n), &shape);
}

void pte_finish(Pte *t, const Node *n, int tensor) {
    const Node *table = fused_table(n);
    int8_t entry[TABLE_ENTRIES];
    if (!table)
        return;
    if (table_fill(t->c, table, n->out[0]->grid, node_result(n)->grid, entry) != 256)
        fatal(t->c, DIAG_MODEL, &table->loc, "a table of more than the dialect's 256 entries");
    PteShape shape = pte_shape(node_result(n));
    pte_lookup(t, pte_view(t, tensor, &shape), entry, pte_value(t, node_result(n)));
}

/* ---- memory -------------------------------------------------------------------------------- */

/* An output that may take over what dies with its call, which is no input that is read later. */
static bool takes_over(const Pte *t, const PteStorage *s) {
    return s->over >= 0 && t->storage[s->over].last == s->first &&
           t->storage[s->over].first < s->first;
}

static void plan_storage(Pte *t) {
    Plan p = {.c = t->c, .end = t->p.call_count + 1};
    int *slot_of = NEW_ARRAY(t->c, int, t->storage_count + 1);
    p.slot = NEW_ARRAY(t->c, Slot, t->storage_count + 1);
    Buffer *at_once = NEW(t->c, Buffer); /* an output at its input's place: no distance */
    for (int i = 0; i < t->storage_count; i++) {
        const PteStorage *s = &t->storage[i];
        slot_of[i] = s->bytes > 0 && s->last >= 0 ? p.slot_count : -1;
        if (slot_of[i] >= 0)
            p.slot[p.slot_count++] = (Slot){.buffer = at_once,
                                            .bytes = s->bytes,
                                            .align = PTE_ALIGN,
                                            .first = s->first,
                                            .last = s->last,
                                            .turn = -1,
                                            .over = -1};
    }
    for (int i = 0; i < t->storage_count; i++)
        if (slot_of[i] >= 0 && takes_over(t, &t->storage[i]))
            p.slot[slot_of[i]].over = slot_of[t->storage[i].over];
    if (p.slot_count > 0)
        arena_place(&p);
    for (int i = 0; i < t->storage_count; i++)
        t->storage[i].offset = slot_of[i] >= 0 ? p.slot[slot_of[i]].offset : 0;
    for (int i = 0; i < t->p.value_count; i++)
        if (t->storage_of[i] >= 0)
            t->p.value[i].offset = t->storage[t->storage_of[i]].offset;
    t->p.planned = align_up(p.bytes, PTE_ALIGN);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void write_inputs(Pte *t) {
    Graph *g = t->g;
    t->p.input = NEW_ARRAY(t->c, int, g->input_count + 1);
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE) {
            int tensor = pte_value(t, g->input[i].u.value);
            live_at(t, tensor, 0);
            t->p.input[t->p.input_count++] = tensor;
        }
}

static void write_outputs(Pte *t) {
    Graph *g = t->g;
    t->p.output = NEW_ARRAY(t->c, int, g->output_count + 1);
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i].kind == ARG_VALUE) {
            int tensor = pte_value(t, g->output[i].u.value);
            live_at(t, tensor, t->p.call_count + 1);
            t->p.output[t->p.output_count++] = tensor;
        }
}

static void write_nodes(Pte *t) {
    for (Node *n = t->g->first; n; n = n->next) {
        if (n->fused)
            continue; /* its producer's store has it */
        t->node = n;
        int errors = diag_error_count(t->c);
        if (!pte_node(t, n) && diag_error_count(t->c) == errors)
            diag_error(t->c, DIAG_MODEL, &n->loc, "%s has no form in ExecuTorch's Cortex-M dialect",
                       op_schema(n->op)->name);
    }
    t->node = NULL;
}

void emit_pte(C *c, Graph *g, const Options *o, FileSet *out) {
    Pte t = {.c = c, .g = g, .isa = o->isa};
    t.value_of = NEW_ARRAY(c, int, g->value_count + 1);
    for (int i = 0; i < g->value_count; i++)
        t.value_of[i] = -1;
    if (g->state_count > 0)
        diag_error(c, DIAG_MODEL, NULL, "state %s: ExecuTorch programs of Corten have none",
                   g->state[0].fqn);
    constant_index(&t, NULL, 0); /* constant 0: no data */
    write_inputs(&t);
    write_nodes(&t);
    write_outputs(&t);
    diag_stop_if_errors(c);
    plan_storage(&t);
    size_t bytes = 0;
    void *data = pte_serialize(&t.p, &bytes);
    if (!data)
        fatal(c, DIAG_MODEL, NULL, "out of memory for the ExecuTorch program");
    fileset_add(c, out, c_format(c, "%s.pte", g->name), data, bytes);
    free(data);
}
