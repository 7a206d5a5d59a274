/* Data movement, lowered by what it does instead of what it is called. A row's eval is run on
 * element numbers (the physical offset of each input element); the picture that comes out is
 * recognised as an alias of the input, an affine copy, a separable gather or, at worst, a gather
 * through one index per element. Elements that do not depend on the input are fill. */
#include "lower/movement.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- evaluation on element numbers --------------------------------------------------------- */

/* Output k of n when input element i has the number number[i]; both seen as int32 data. */
static const int32_t *eval_on_numbers(C *c, Graph *g, Node *n, int k, const Array *numbers) {
    Value *in = node_operand(n, 0);
    DType in_dtype = in->type.dtype;
    DType *out_dtype = NEW_ARRAY(c, DType, n->out_count);
    Array *in_constant = in->constant;
    Grid *in_grid = in->grid;
    for (int i = 0; i < n->out_count; i++) {
        out_dtype[i] = n->out[i]->type.dtype;
        n->out[i]->type.dtype = numbers->dtype;
    }
    in->type.dtype = numbers->dtype;
    in->constant = NULL;
    in->grid = NULL;
    struct Env *outer = c->env;
    c->env = env_new(c, g);
    env_set(c->env, in, (Array *)numbers);
    node_eval(c, n);
    const Array *result = env_get(c->env, n->out[k]);
    Array *kept = array_new(c, numbers->dtype, result->rank, result->dim);
    memcpy(kept->data, result->data, (size_t)array_bytes(kept));
    env_free(c->env);
    c->env = outer;
    in->type.dtype = in_dtype;
    in->constant = in_constant;
    in->grid = in_grid;
    for (int i = 0; i < n->out_count; i++)
        n->out[i]->type.dtype = out_dtype[i];
    return kept->data;
}

/* The physical offset of each element in logical order, plus `base`. */
static Array *physical_numbers(C *c, const Value *v, int32_t base) {
    Array *a = array_new(c, DT_I32, v->type.rank, v->type.dim);
    Elements w = elements_in_order(&v->type, v->order);
    int32_t *p = a->data;
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++, elements_next(&w))
        p[i] = (int32_t)(base + w.at);
    return a;
}

/* The box of elements that come from the input, if they form one; else false. */
static bool find_box(const Type *t, const bool *fill, int64_t *start, int64_t *stop) {
    int64_t index[MAX_RANK] = {0}, count = type_count(t), inside = 0, volume = 1;
    for (int d = 0; d < t->rank; d++) {
        start[d] = t->dim[d];
        stop[d] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        for (int d = 0; !fill[i] && d < t->rank; d++) {
            start[d] = index[d] < start[d] ? index[d] : start[d];
            stop[d] = index[d] >= stop[d] ? index[d] + 1 : stop[d];
        }
        inside += !fill[i];
        for (int d = t->rank - 1; d >= 0 && ++index[d] == t->dim[d]; d--)
            index[d] = 0;
    }
    for (int d = 0; d < t->rank; d++)
        volume *= stop[d] > start[d] ? stop[d] - start[d] : 0;
    return volume == inside;
}

/* Fill elements are those whose number does not move when all input numbers do. */
static void find_fill(C *c, Graph *g, Node *n, int k, Movement *m) {
    Value *in = node_operand(n, 0);
    int64_t count = type_count(&n->out[k]->type), fills = 0;
    const int32_t *moved = eval_on_numbers(c, g, n, k, physical_numbers(c, in, 1 << 29));
    bool *fill = NEW_ARRAY(c, bool, count + 1);
    int64_t first = -1;
    for (int64_t i = 0; i < count; i++) {
        fill[i] = moved[i] == m->number[i];
        fills += fill[i];
        if (fill[i] && first < 0)
            first = i;
    }
    if (fills == 0)
        return;
    m->has_fill = true;
    m->boxed = find_box(&n->out[k]->type, fill, m->start, m->stop);
    Array *zeros = array_new(c, DT_F32, in->type.rank, in->type.dim);
    const int32_t *bits = eval_on_numbers(c, g, n, k, zeros);
    float value;
    memcpy(&value, &bits[first], sizeof value);
    m->fill_value = (double)value;
}

/* ---- recognising --------------------------------------------------------------------------- */

/* Splits offset[0..count-1], offset[0] = 0, into nested affine pieces, innermost first; 0 if it
 * is not affine at any nesting. */
static int split_affine(const int32_t *offset, int64_t count, int64_t step, Piece *piece,
                        int capacity) {
    if (count <= 1)
        return 0;
    if (capacity == 0)
        return -1;
    int64_t stride = offset[step], run = 2;
    while (run < count && offset[run * step] == run * stride)
        run++;
    if (count % run != 0)
        return -1;
    for (int64_t i = 0; i < count; i++)
        if (offset[i * step] != offset[i / run * run * step] + i % run * stride)
            return -1;
    *piece = (Piece){run, stride, step};
    int rest = split_affine(offset, count / run, step * run, piece + 1, capacity - 1);
    return rest < 0 ? -1 : rest + 1;
}

/* number[index] == base + sum of per-dim offsets over the box: the offsets, or false. */
static bool separate(C *c, const Type *t, Movement *m) {
    int64_t logical[MAX_RANK], index[MAX_RANK], origin = 0, stride = 1, volume = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        logical[d] = stride;
        stride *= t->dim[d];
        origin += m->start[d] * logical[d];
        volume *= m->stop[d] - m->start[d];
        index[d] = 0;
    }
    m->base = m->number[origin];
    for (int d = 0; d < t->rank; d++) {
        int64_t extent = m->stop[d] - m->start[d];
        m->offset[d] = NEW_ARRAY(c, int32_t, extent);
        for (int64_t i = 0; i < extent; i++)
            m->offset[d][i] = m->number[origin + i * logical[d]] - (int32_t)m->base;
    }
    for (int64_t i = 0; i < volume; i++) {
        int64_t at = origin, want = m->base;
        for (int d = 0; d < t->rank; d++) {
            at += index[d] * logical[d];
            want += m->offset[d][index[d]];
        }
        if (m->number[at] != want)
            return false;
        for (int d = t->rank - 1; d >= 0 && ++index[d] == m->stop[d] - m->start[d]; d--)
            index[d] = 0;
    }
    return true;
}

Movement movement_find(C *c, Graph *g, Node *n, int k) {
    Movement m = {0};
    Value *in = node_operand(n, 0);
    const Type *t = &n->out[k]->type;
    for (int d = 0; d < t->rank; d++)
        m.stop[d] = t->dim[d];
    if (type_count(t) == 0)
        return m;
    m.number = eval_on_numbers(c, g, n, k, physical_numbers(c, in, 0));
    find_fill(c, g, n, k, &m);
    if (m.has_fill && !m.boxed)
        return m;
    m.separable = separate(c, t, &m);
    for (int d = 0; m.separable && d < t->rank; d++)
        m.piece_count[d] =
            split_affine(m.offset[d], m.stop[d] - m.start[d], 1, m.piece[d], MAX_PIECES);
    return m;
}

/* ---- the order that costs least ------------------------------------------------------------ */

/* Smallest step in memory along logical dim d of the output; 0 if it does not move. */
static int64_t dim_step(const Movement *m, int d) {
    int64_t step = 0, extent = m->stop[d] - m->start[d];
    for (int64_t i = 1; i < extent; i++) {
        int64_t s = llabs((long long)m->offset[d][i] - m->offset[d][i - 1]);
        if (s != 0 && (step == 0 || s < step))
            step = s;
    }
    return step;
}

void movement_order(C *c, Graph *g, Node *n, int k, int8_t order[MAX_RANK]) {
    const Value *in = node_operand(n, 0);
    Value *out = n->out[k];
    int rank = out->type.rank;
    for (int d = 0; d < MAX_RANK; d++)
        order[d] = (int8_t)d;
    if (rank == 0 || type_count(&out->type) == 0)
        return;
    Movement m = movement_find(c, g, n, k);
    if (!m.separable)
        return;
    int64_t step[MAX_RANK];
    bool still = false;
    for (int d = 0; d < rank; d++) {
        step[d] = dim_step(&m, d);
        still |= step[d] == 0 && out->type.dim[d] > 1;
    }
    if (still && rank == in->type.rank) { /* expand: keep the neighbourhood of the input */
        memcpy(order, in->order, MAX_RANK);
        return;
    }
    for (int i = 1; i < rank; i++) /* insertion sort: stable, larger steps outside */
        for (int j = i; j > 0; j--) {
            int a = order[j - 1], b = order[j];
            if (out->type.dim[a] <= 1 || out->type.dim[b] <= 1 || step[a] >= step[b])
                break;
            order[j - 1] = (int8_t)b;
            order[j] = (int8_t)a;
        }
}

/* ---- lowering ------------------------------------------------------------------------------ */

/* Loops, outermost first, neighbours merged where both sides run on. */
typedef struct {
    int count;
    int64_t dim[MAX_RANK * MAX_PIECES], in[MAX_RANK * MAX_PIECES], out[MAX_RANK * MAX_PIECES];
} Loops;

static void loops_add(Loops *l, int64_t dim, int64_t in, int64_t out) {
    if (dim == 1)
        return;
    int last = l->count - 1;
    if (last >= 0 && l->in[last] == in * dim && l->out[last] == out * dim) {
        l->dim[last] *= dim;
        l->in[last] = in;
        l->out[last] = out;
        return;
    }
    l->dim[l->count] = dim;
    l->in[l->count] = in;
    l->out[l->count++] = out;
}

bool movement_keeps_grid(const Value *a, const Value *b) {
    if (!a->grid || !b->grid)
        return true;
    /* several parts are the grids of the pieces that are joined (quant/quantize.c) */
    if (a->grid->part_count > 1 || b->grid->part_count > 1)
        return true;
    return a->grid->dtype == b->grid->dtype && a->grid->part[0].scale == b->grid->part[0].scale &&
           a->grid->part[0].zero_point == b->grid->part[0].zero_point;
}

static void set_loops(const Loops *l, int32_t dim[8], int32_t in[8], int32_t out[8]) {
    for (int i = 0; i < 8; i++) {
        int k = i - (8 - l->count);
        dim[i] = k < 0 ? 1 : (int32_t)l->dim[k];
        in[i] = k < 0 ? 0 : (int32_t)l->in[k];
        out[i] = k < 0 ? 0 : (int32_t)l->out[k];
    }
}

/* The order of a copy's loops is free: a short innermost one changes places with the longest. */
static Loops longest_inside(Loops l) {
    enum { SHORT = 16 };
    int last = l.count - 1, longest = last;
    for (int k = 0; k < last; k++)
        if (l.dim[k] > l.dim[longest])
            longest = k;
    if (last < 0 || l.dim[last] >= SHORT)
        return l;
    Loops turned = l;
    turned.dim[last] = l.dim[longest];
    turned.in[last] = l.in[longest];
    turned.out[last] = l.out[longest];
    turned.dim[longest] = l.dim[last];
    turned.in[longest] = l.in[last];
    turned.out[longest] = l.out[last];
    return turned;
}

static void emit_copy(C *c, Graph *g, Node *n, Value *in, int64_t in_offset, Value *out,
                      int64_t out_offset, const Loops *l) {
    int size = dtype_size(value_storage(out));
    Call *call = call_new(c, g, n, CTN_KERNEL_copy);
    CtnCopyArgs *a = call->args;
    call_in_at(call, &a->input, in, in_offset * size);
    call_out_at(call, &a->output, out, out_offset * size);
    a->element_size = size;
    Loops turned = longest_inside(*l);
    set_loops(&turned, a->dim, a->in_stride, a->out_stride);
    if (movement_keeps_grid(in, out)) {
        call_absent(call, &a->table);
        return;
    }
    int8_t entry[256];
    table_requantize(in->grid, out->grid, entry);
    call_const(call, &a->table, "requantize", DT_I8, entry, sizeof entry, 1);
}

void lower_copy_bytes(C *c, Graph *g, Node *n, Value *from, int64_t from_offset, Value *to,
                      int64_t to_offset, int64_t bytes) {
    Call *call = call_new(c, g, n, CTN_KERNEL_copy);
    CtnCopyArgs *a = call->args;
    call_in_at(call, &a->input, from, from_offset);
    call_out_at(call, &a->output, to, to_offset);
    call_absent(call, &a->table);
    a->element_size = 1;
    for (int k = 0; k < 8; k++)
        a->dim[k] = 1;
    a->dim[7] = (int32_t)bytes;
    a->in_stride[7] = a->out_stride[7] = 1;
}

/* Changes the grid of out's memory in place, after a gather. */
static void emit_requantize(C *c, Graph *g, Node *n, const Grid *from, Value *in, int64_t in_offset,
                            Value *out) {
    int8_t entry[256];
    table_requantize(from, out->grid, entry);
    Call *call = call_new(c, g, n, CTN_KERNEL_table_s8);
    CtnTableS8Args *a = call->args;
    call_in_at(call, &a->input, in, in_offset);
    call_out(call, &a->output, out);
    call_const(call, &a->table, "requantize", DT_I8, entry, sizeof entry, 1);
    a->count = (int32_t)type_count(&out->type);
    a->entry_size = 1;
}

typedef struct { /* runs of elements at one distance from each other */
    int64_t first, count, runs, stride;
} Runs;

/* Runs of out in one value. */
static void emit_fill(C *c, Graph *g, Node *n, Value *out, double real, Runs runs) {
    if (runs.count == 0 || runs.runs == 0)
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_fill);
    CtnFillArgs *a = call->args;
    a->element_size = dtype_size(value_storage(out));
    call_out_at(call, &a->output, out, runs.first * a->element_size);
    Array one = {value_storage(out), 0, {0}, &(int64_t){0}};
    if (out->grid)
        real = real / value_scale(out) + value_zero_point(out);
    array_set(&one, 0, real);
    memcpy(&a->value, one.data, sizeof a->value);
    a->count = (int32_t)runs.count;
    a->runs = (int32_t)runs.runs;
    a->stride = (int32_t)runs.stride;
}

/* The box that a movement writes, as runs in out's memory; false if their distances differ. */
static bool box_runs(const Movement *m, const Value *out, Runs *box) {
    int64_t stride[MAX_RANK];
    bool padded = false; /* a dim as far in as this one */
    value_strides(out, stride);
    *box = (Runs){0, 1, 1, 0};
    for (int k = out->type.rank - 1; k >= 0; k--) {
        int d = out->order[k];
        int64_t extent = m->stop[d] - m->start[d];
        if (extent <= 0)
            return false;
        box->first += m->start[d] * stride[d];
        if (!padded)
            box->count = extent * stride[d];
        else if (extent > 1 && box->runs == 1)
            box->stride = stride[d];
        else if (extent > 1 && stride[d] != box->stride * box->runs)
            return false;
        if (padded)
            box->runs *= extent;
        padded |= extent < out->type.dim[d];
    }
    return true;
}

/* What the copy of a box into out leaves: all before its first run, between its runs and behind the
 * last. */
static void emit_border(C *c, Graph *g, Node *n, Value *out, const Movement *m) {
    int64_t total = type_count(&out->type);
    Runs box;
    if (!box_runs(m, out, &box)) {
        emit_fill(c, g, n, out, m->fill_value, (Runs){0, total, 1, 0});
        return;
    }
    int64_t end = box.first + box.count, last = end + (box.runs - 1) * box.stride;
    emit_fill(c, g, n, out, m->fill_value, (Runs){0, box.first, 1, 0});
    emit_fill(c, g, n, out, m->fill_value,
              (Runs){end, box.stride - box.count, box.runs - 1, box.stride});
    emit_fill(c, g, n, out, m->fill_value, (Runs){last, total - last, 1, 0});
}

static bool gather_loops(const Movement *m, const Value *out, Loops *l) {
    int64_t out_stride[MAX_RANK];
    value_strides(out, out_stride);
    for (int k = 0; k < out->type.rank; k++) {
        int d = out->order[k];
        if (m->piece_count[d] < 0)
            return false;
        for (int p = m->piece_count[d] - 1; p >= 0; p--)
            loops_add(l, m->piece[d][p].count, m->piece[d][p].stride,
                      out_stride[d] * m->piece[d][p].step);
    }
    return l->count <= 8;
}

static bool is_alias(const Loops *l) {
    int64_t dense = 1;
    for (int i = l->count - 1; i >= 0; i--) {
        if (l->in[i] != dense || l->out[i] != dense)
            return false;
        dense *= l->dim[i];
    }
    return true;
}

/* A gather over out's physical dims with an index list for each dim that is not affine. */
static void emit_gather(C *c, Graph *g, Node *n, Value *in, Value *out, const Movement *m) {
    Call *call = call_new(c, g, n, CTN_KERNEL_gather);
    CtnGatherArgs *a = call->args;
    int size = dtype_size(value_storage(out)), rank = out->type.rank;
    int64_t total = 0, count = type_count(&out->type);
    for (int d = 0; d < rank; d++)
        total += out->type.dim[d];
    int32_t *indices = NEW_ARRAY(c, int32_t, m->separable ? total : count);
    int64_t used = 0;
    for (int i = 0; i < 8; i++) {
        a->dim[i] = 1;
        a->in_stride[i] = 0;
        a->index_start[i] = -1;
    }
    if (m->separable) {
        for (int k = 0; k < rank; k++) {
            int d = out->order[k], at = 8 - rank + k;
            a->dim[at] = (int32_t)out->type.dim[d];
            if (m->piece_count[d] == 0)
                continue;
            if (m->piece_count[d] == 1) {
                a->in_stride[at] = (int32_t)m->piece[d][0].stride;
                continue;
            }
            a->index_start[at] = (int32_t)used;
            memcpy(indices + used, m->offset[d], sizeof *indices * (size_t)out->type.dim[d]);
            used += out->type.dim[d];
        }
    } else { /* out is in logical order: see movement_order */
        a->dim[7] = (int32_t)count;
        a->index_start[7] = 0;
        memcpy(indices, m->number, sizeof *indices * (size_t)count);
        used = count;
    }
    call_in_at(call, &a->input, in, (m->separable ? m->base : 0) * size);
    call_out(call, &a->output, out);
    a->element_size = size;
    call_const(call, &a->indices, "indices", DT_I32, indices, used * 4, 4);
    if (!movement_keeps_grid(in, out))
        emit_requantize(c, g, n, in->grid, out, 0, out);
}

static void lower_output(C *c, Graph *g, Node *n, int k) {
    Value *in = node_operand(n, 0), *out = n->out[k];
    if (type_count(&out->type) == 0)
        return;
    Movement m = movement_find(c, g, n, k);
    if (m.has_fill) {
        if (!m.boxed) {
            diag_error(c, DIAG_MODEL, &n->loc, "%s has no integer form: constants and elements mix",
                       node_operator(n));
            return;
        }
        emit_border(c, g, n, out, &m);
    }
    Loops loops = {0};
    int64_t out_stride[MAX_RANK], out_offset = 0;
    value_strides(out, out_stride);
    for (int d = 0; d < out->type.rank; d++)
        out_offset += m.start[d] * out_stride[d];
    if (m.separable && gather_loops(&m, out, &loops)) {
        int size = dtype_size(value_storage(out));
        bool dense = !m.has_fill && is_alias(&loops);
        if (dense && movement_keeps_grid(in, out))
            value_alias(g, out, in, m.base * size);
        else if (dense && size == 1)
            emit_requantize(c, g, n, in->grid, in, m.base, out);
        else
            emit_copy(c, g, n, in, m.base, out, out_offset, &loops);
        return;
    }
    if (m.has_fill)
        diag_error(c, DIAG_MODEL, &n->loc, "%s has no integer form: padded and reordered at once",
                   node_operator(n));
    else
        emit_gather(c, g, n, in, out, &m);
}

void lower_movement(C *c, Graph *g, Node *n) {
    for (int k = 0; k < n->out_count; k++)
        if (n->out[k]->user_count > 0 || n->out[k]->output_count > 0)
            lower_output(c, g, n, k);
}

/* The loops of an affine movement into memory whose strides are given by out's logical dims. */
static bool loops_between(const Movement *m, int rank, const int64_t *out_stride, Loops *l) {
    int position[MAX_RANK];
    for (int i = 0; i < rank; i++)
        position[i] = i;
    for (int i = 1; i < rank; i++) /* larger steps in the output outside */
        for (int j = i; j > 0 && out_stride[position[j - 1]] < out_stride[position[j]]; j--) {
            int t = position[j];
            position[j] = position[j - 1];
            position[j - 1] = t;
        }
    for (int i = 0; i < rank; i++) {
        int d = position[i];
        if (m->piece_count[d] < 0)
            return false;
        for (int p = m->piece_count[d] - 1; p >= 0; p--)
            loops_add(l, m->piece[d][p].count, m->piece[d][p].stride,
                      out_stride[d] * m->piece[d][p].step);
    }
    return l->count <= 8;
}

bool movement_joins(C *c, Graph *g, Node *n) {
    Value *out = n->out_count == 1 ? n->out[0] : NULL;
    if (!out || out->user_count != 1 || out->output_count > 0 || type_count(&out->type) == 0 ||
        !node_is(out->user[0], "aten::cat") || out->user[0]->target == NODE_NPU ||
        !movement_keeps_grid(node_operand(n, 0), out))
        return false;
    int readings = 0; /* cat may read it twice */
    for (int k = 0; k < node_operand_count(out->user[0]); k++)
        readings += node_operand(out->user[0], k) == out;
    Movement m = movement_find(c, g, n, 0);
    Loops own = {0}, joined = {0};
    int64_t stride[MAX_RANK];
    value_strides(out, stride);
    return readings == 1 && m.separable && !m.has_fill && gather_loops(&m, out, &own) &&
           !is_alias(&own) && loops_between(&m, out->type.rank, stride, &joined);
}

/* The whole of a value into out's memory; of a joined one, straight from its operand. */
void lower_copy_whole(C *c, Graph *g, Node *n, Value *in, Value *out, int64_t out_offset,
                      const int64_t *out_stride) {
    int64_t in_stride[MAX_RANK];
    if (!in->def || !in->def->joined) {
        value_strides(in, in_stride);
        lower_copy(c, g, n, in, 0, in_stride, out, out_offset, out_stride, in->type.rank,
                   in->type.dim);
        return;
    }
    Movement m = movement_find(c, g, in->def, 0);
    Loops loops = {0};
    bool affine = loops_between(&m, in->type.rank, out_stride, &loops);
    assert(affine);
    (void)affine;
    emit_copy(c, g, n, node_operand(in->def, 0), m.base, out, out_offset, &loops);
}

void lower_copy(C *c, Graph *g, Node *n, Value *in, int64_t in_offset, const int64_t *in_stride,
                Value *out, int64_t out_offset, const int64_t *out_stride, int rank,
                const int64_t *dim) {
    Movement m = {.base = in_offset}; /* one affine piece per dim */
    for (int d = 0; d < rank; d++) {
        m.piece_count[d] = dim[d] > 1;
        m.piece[d][0] = (Piece){dim[d], in_stride[d], 1};
    }
    Loops loops = {0};
    bool affine = loops_between(&m, rank, out_stride, &loops);
    assert(affine);
    (void)affine;
    emit_copy(c, g, n, in, in_offset, out, out_offset, &loops);
}
