/* A quantized graph as a program for ExecuTorch's runtime, in the operators of its Cortex-M
 * dialect. Tensors lie as the values do in Corten's own memory, dims in the order that the program
 * names; every number is that of the simulator. What only views do costs no instruction: two
 * tensors then lie in one place. The memory plan is Corten's, over the program's calls. */
#include "emit/pte.h"
#include "emit/loops.h"
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

int pte_view_from(Pte *t, int tensor, int64_t start, const PteShape *shape) {
    const PteValue *own = &t->p.value[tensor];
    PteValue v = tensor_value(own->scalar, shape);
    if (start == 0 && own->rank == v.rank && memcmp(own->size, v.size, sizeof v.size) == 0 &&
        memcmp(own->order, v.order, sizeof v.order) == 0)
        return tensor;
    v.constant = own->constant;
    v.offset = own->offset + start;
    int view = value_new_in(t, v);
    t->storage_of[view] = t->storage_of[tensor];
    return view;
}

int pte_view(Pte *t, int tensor, const PteShape *shape) {
    return pte_view_from(t, tensor, 0, shape);
}

int pte_flat(Pte *t, int tensor, int rank, const int64_t *size) {
    PteShape shape = pte_plain(rank, size);
    return pte_view(t, tensor, &shape);
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

/* CMSIS-NN's convolutions count the sides and channels of images in 16 bits. */
static void check_sides(Pte *t, const char *name, int count, const int *arg) {
    if (!strstr(name, "conv2d"))
        return;
    for (int i = 0; i < count; i++)
        for (int d = 1; t->p.value[arg[i]].rank == 4 && d < 4; d++)
            if (t->p.value[arg[i]].size[d] > UINT16_MAX) {
                diag_error(t->c, DIAG_MODEL, &t->node->loc,
                           "%s takes at most %d pixels a side and as many channels, not %d", name,
                           UINT16_MAX, t->p.value[arg[i]].size[d]);
                return;
            }
}

/* The runtime wants what an out variant writes once more, as its result. */
void pte_call(Pte *t, const char *name, int count, const int *arg) {
    PteProgram *p = &t->p;
    check_sides(t, name, count, arg);
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

int pte_looked_up(Pte *t, int from, const int8_t entry[256]) {
    const PteValue *x = &t->p.value[from];
    PteShape shape = {.rank = x->rank};
    for (int d = 0; d < x->rank; d++) {
        shape.size[d] = x->size[d];
        shape.order[d] = (int8_t)x->order[d];
    }
    int to = pte_tensor(t, PTE_CHAR, &shape);
    pte_lookup(t, from, entry, to);
    return to;
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

/* The elements of a constant, its dims in an order. */
static const void *constant_lying(Pte *t, const Value *v, const int8_t *order) {
    int64_t count = type_count(&v->type);
    const int8_t *from = v->constant->data;
    int8_t *to = c_alloc(t->c, (size_t)count);
    Elements w = elements_in_order(&v->type, order);
    for (int64_t i = 0; i < count; i++, elements_next(&w))
        to[w.at] = from[i];
    return to;
}

static int constant_tensor(Pte *t, const Value *v, const int8_t *order) {
    PteShape shape = pte_shape(v);
    memcpy(shape.order, order, (size_t)v->type.rank * sizeof *order);
    if (!layer_int8(v)) {
        diag_error(t->c, DIAG_MODEL, t->node ? &t->node->loc : NULL,
                   "%s is a constant of %s, which no operator of the dialect takes here", v->name,
                   dtype_name(value_storage(v)));
        return pte_tensor(t, PTE_CHAR, &shape);
    }
    int64_t count = type_count(&v->type);
    return pte_view(t, pte_constant(t, PTE_CHAR, 1, &count, constant_lying(t, v, order)), &shape);
}

int pte_value(Pte *t, const Value *v) {
    if (t->value_of[v->id] < 0) {
        PteShape shape = pte_shape(v);
        pte_set(t, v,
                v->constant ? constant_tensor(t, v, v->order)
                            : pte_tensor(t, scalar_of(t, v), &shape));
    }
    return t->value_of[v->id];
}

/* CMSIS-NN turns every matrix, whatever the order of its dims: what keeps it is written as one dim.
 * Rows and columns of a matrix it counts in 16 bits, and on MVE reaches eight rows at once by 16
 * bits of offset; the sizes of three dims have 32. */
enum { MATRIX_ROWS_MOST = UINT16_MAX, MATRIX_COLUMNS_MOST = UINT16_MAX / 7 };

static int transposed(Pte *t, int tensor, int rank, const int64_t *size, const int32_t *perm) {
    int64_t from[4] = {1}, to[4] = {1}, order[4] = {0}, count = dims_count(rank, size);
    if (rank == 2 && perm[0] == 0)
        return pte_flat(t, transposed(t, tensor, 1, &count, perm), rank, size);
    int more = rank == 2 && (size[0] > MATRIX_ROWS_MOST || size[1] > MATRIX_COLUMNS_MOST);
    for (int k = 0; k < rank; k++) {
        from[k + more] = size[k];
        to[k + more] = size[perm[k]];
        order[k + more] = perm[k] + more;
    }
    PteShape shape = pte_plain(rank + more, to);
    int out = pte_tensor(t, PTE_CHAR, &shape);
    int args[] = {pte_flat(t, tensor, rank + more, from), pte_ints(t, rank + more, order), out};
    pte_call(t, "transpose", 3, args);
    return more ? pte_flat(t, out, rank, to + 1) : out;
}

/* The dialect transposes four dims at most: of more, one after the other comes to its place. */
int pte_permute(Pte *t, int tensor, int rank, const int64_t *size, const int32_t *perm) {
    static const int32_t forward[] = {0, 2, 1, 3};
    int64_t now[MAX_RANK], to[MAX_RANK];
    int32_t dim[MAX_RANK];
    if (rank <= 4)
        return transposed(t, tensor, rank, size, perm);
    for (int k = 0; k < rank; k++) {
        dim[k] = k;
        now[k] = size[k];
        to[k] = size[perm[k]];
    }
    for (int k = 0; k < rank; k++) {
        int j = k;
        while (dim[j] != perm[k])
            j++;
        if (j == k)
            continue;
        const int64_t part[] = {dims_count(k, now), dims_count(j - k, now + k), now[j],
                                dims_count(rank - j - 1, now + j + 1)};
        tensor = transposed(t, tensor, 4, part, forward);
        for (; j > k; j--) {
            dim[j] = dim[j - 1];
            now[j] = now[j - 1];
        }
        dim[k] = perm[k];
        now[k] = to[k];
    }
    return pte_flat(t, tensor, rank, to);
}

int pte_turned(Pte *t, int tensor, const Type *type, const int8_t *from, const int8_t *to) {
    PteShape shape = {.rank = type->rank};
    Loop loop[MAX_RANK];
    int64_t size[MAX_RANK];
    int32_t perm[MAX_RANK];
    for (int d = 0; d < type->rank; d++) {
        shape.size[d] = type->dim[d];
        shape.order[d] = to[d];
    }
    int count = loops_merged(loop, loops_between_orders(type, from, to, loop));
    if (count > 1 && loops_permute(loop, count, type_count(type), size, perm))
        tensor = pte_permute(t, tensor, count, size, perm);
    return pte_view(t, tensor, &shape);
}

int pte_value_in(Pte *t, const Value *v, const int8_t *order) {
    if (!layer_int8(v) && !order_same(&v->type, v->order, order))
        return -1;
    if (v->constant)
        return constant_tensor(t, v, order);
    return pte_turned(t, pte_value(t, v), &v->type, v->order, order);
}

/* A tensor of a type of rank 3 or 4 that lies channels last, as an image. */
static int as_image(Pte *t, int tensor, const Type *type) {
    const int64_t *d = type->dim;
    PteShape shape = type->rank == 4 ? pte_image_shape(d[0], d[1], d[2], d[3])
                                     : pte_image_shape(d[0], d[1], 1, d[2]);
    return pte_view(t, tensor, &shape);
}

int pte_image(Pte *t, const Value *v) {
    int8_t order[MAX_RANK];
    order_channels_last(v->type.rank, order);
    if (v->type.rank < 3 || v->type.rank > 4 || !layer_int8(v))
        return -1;
    return as_image(t, pte_value_in(t, v, order), &v->type);
}

/* ---- results ------------------------------------------------------------------------------- */

bool pte_store_clamps(const Node *n) {
    int32_t min, max;
    store_clamp(n, &min, &max);
    return min > -128 || max < 127;
}

/* What follows n's call in its store, by a lookup; false: nothing does. */
static bool store_entries(Pte *t, const Node *n, int8_t entry[256]) {
    const Node *epilogue = node_epilogue(n);
    bool table = epilogue && node_is(epilogue, "corten::table");
    bool clamp = !t->clamps && pte_store_clamps(n);
    int8_t filled[TABLE_ENTRIES];
    int32_t min = -128, max = 127;
    if (!table && !clamp)
        return false;
    if (table && table_fill(t->c, epilogue, n->out[0]->grid, node_result(n)->grid, filled) != 256)
        fatal(t->c, DIAG_MODEL, &epilogue->loc, "a table of more than the dialect's 256 entries");
    if (clamp)
        store_clamp(n, &min, &max);
    for (int32_t q = -128; q < 128; q++) {
        int32_t held = q < min ? min : q > max ? max : q;
        entry[q + 128] = table ? filled[held + 128] : (int8_t)held;
    }
    return true;
}

int pte_result(Pte *t, const Node *n, const int8_t *order) {
    const Value *y = node_result(n);
    int8_t entry[256];
    if (!store_entries(t, n, entry) && order_same(&y->type, order, y->order))
        return pte_value(t, y);
    PteShape shape = pte_shape(y);
    memcpy(shape.order, order, (size_t)y->type.rank * sizeof *order);
    return pte_tensor(t, PTE_CHAR, &shape);
}

void pte_finish(Pte *t, const Node *n, const int8_t *order, int tensor) {
    const Value *y = node_result(n);
    int8_t entry[256];
    PteShape shape = pte_shape(y);
    if (t->value_of[y->id] >= 0 && t->storage_of[t->value_of[y->id]] == t->storage_of[tensor])
        return; /* the call has written it in place */
    tensor = pte_view(t, pte_turned(t, tensor, &y->type, order, y->order), &shape);
    if (store_entries(t, n, entry))
        pte_lookup(t, tensor, entry, pte_value(t, y));
    else
        pte_set(t, y, tensor);
}

int pte_result_image(Pte *t, const Node *n) {
    const Value *y = node_result(n);
    int8_t order[MAX_RANK];
    order_channels_last(y->type.rank, order);
    return as_image(t, pte_result(t, n, order), &y->type);
}

void pte_finish_image(Pte *t, const Node *n, int image) {
    int8_t order[MAX_RANK];
    order_channels_last(node_result(n)->type.rank, order);
    pte_finish(t, n, order, image);
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
            t->p.value[i].offset += t->storage[t->storage_of[i]].offset;
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
                       node_operator(n));
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
