/* Layout: every value gets a physical order of its dims; logical shapes never change. Kernels that
 * want channels innermost (OP_CHANNELS_LAST) get them so, data movement takes the order in which
 * it costs nothing, and everything else follows its operands. Where an operand stands in an order
 * that its reader cannot take, a `corten::relayout` copy is put in between, once per value.
 *
 * Needs STAGE_QUANTIZED. Gives orders, relayouts, and quantize/dequantize at a float boundary. */
#include "lower/movement.h"

#include <string.h>

void order_identity(int8_t order[MAX_RANK]) {
    for (int d = 0; d < MAX_RANK; d++)
        order[d] = (int8_t)d;
}

void order_channels_last(int rank, int8_t order[MAX_RANK]) {
    order_identity(order);
    for (int k = 1; k + 1 < rank; k++)
        order[k] = (int8_t)(k + 1);
    if (rank > 1)
        order[rank - 1] = 1;
}

bool order_same(const Type *t, const int8_t *a, const int8_t *b) {
    int i = 0, j = 0;
    for (;;) {
        while (i < t->rank && t->dim[a[i]] <= 1)
            i++;
        while (j < t->rank && t->dim[b[j]] <= 1)
            j++;
        if (i == t->rank || j == t->rank)
            return i == t->rank && j == t->rank;
        if (a[i++] != b[j++])
            return false;
    }
}

int order_place(const int8_t *order, int dim) {
    int place = 0;
    while (order[place] != dim)
        place++;
    return place;
}

typedef struct {
    C *c;
    Graph *g;
    Value **moved; /* by value id: its relayout made last, or NULL */
    int moved_count;
    bool row_major; /* the profile's */
} Layout;

static Value *relayout(Layout *l, Value *v, Node *before, const int8_t order[MAX_RANK]) {
    if (v->id < l->moved_count && l->moved[v->id] &&
        order_same(&v->type, l->moved[v->id]->order, order))
        return l->moved[v->id];
    Value *y = node_value(l->g, before, "corten::relayout", ARGS(arg_value(v)));
    y->type = v->type;
    y->grid = v->grid;
    y->def->float_kept = !v->grid && dtype_is_float(v->type.dtype);
    memcpy(y->order, order, MAX_RANK);
    if (v->id < l->moved_count)
        l->moved[v->id] = y;
    return y;
}

/* Operand v of node n in the wanted order: itself, or a relayout that n then reads instead. */
static void want_order(Layout *l, Node *n, Arg *arg, const int8_t order[MAX_RANK]) {
    Value *v = arg->u.value;
    if (order_same(&v->type, v->order, order))
        return;
    rewrite_begin(l->c, n);
    arg->u.value = relayout(l, v, n, order);
    rewrite_end(l->c);
}

static void want_identity(Layout *l, Node *n) {
    int8_t identity[MAX_RANK];
    order_identity(identity);
    for (int i = 0; i < n->arg_count; i++) {
        Arg *arg = &n->arg[i];
        int count = arg->kind == ARG_LIST ? arg->u.list.count : 1;
        for (int k = 0; k < count; k++) {
            Arg *item = arg->kind == ARG_LIST ? &arg->u.list.item[k] : arg;
            if (item->kind == ARG_VALUE && !item->u.value->constant)
                want_order(l, n, item, identity);
        }
    }
}

static bool all_are(const Node *n, const char *name, int64_t number) {
    int64_t list[2 * MAX_RANK];
    int count = node_ints(n, name, list, 2 * MAX_RANK);
    for (int i = 0; i < count; i++)
        if (list[i] != number)
            return false;
    return true;
}

/* A convolution of one tap takes pixel after pixel: it sees no rows. */
static bool takes_pixels_in_any_order(const Node *n) {
    if (!node_is(n, "corten::conv2d") || !all_are(n, "stride", 1) || !all_are(n, "padding", 0))
        return false;
    const Type *w = &node_in(n, "weight")->type;
    return dims_count(w->rank - 2, w->dim + 2) == 1;
}

/* Batch after batch of pixels, each with its channels. */
static bool order_is_of_pixels(const Value *v) {
    return v->type.rank > 2 && v->order[0] == 0 && v->order[v->type.rank - 1] == 1;
}

static void place_channels_last(Layout *l, Node *n) {
    int8_t order[MAX_RANK];
    const Value *x = node_operand(n, 0);
    if (!l->row_major && takes_pixels_in_any_order(n) && order_is_of_pixels(x)) {
        memcpy(n->out[0]->order, x->order, MAX_RANK);
        return;
    }
    for (int i = 0; i < n->arg_count; i++) {
        if (n->arg[i].kind != ARG_VALUE)
            continue;
        order_channels_last(n->arg[i].u.value->type.rank, order);
        want_order(l, n, &n->arg[i], order);
        break; /* operand 0 only: weights are packed by lower */
    }
    order_channels_last(n->out[0]->type.rank, order);
    memcpy(n->out[0]->order, order, MAX_RANK);
}

/* The operand whose order the output takes: same rank and most elements, a moved order winning. */
static const Value *leader(const Node *n) {
    const Value *best = NULL;
    for (int k = 0; k < node_operand_count(n); k++) {
        const Value *v = node_operand(n, k);
        if (v->constant || v->type.rank != n->out[0]->type.rank)
            continue;
        int64_t gain = best ? type_count(&v->type) - type_count(&best->type) : 1;
        if (gain > 0 || (gain == 0 && value_order_is_identity(best)))
            best = v;
    }
    return best;
}

static void place_follower(Node *n) {
    const Value *v = leader(n);
    for (int k = 0; v && k < n->out_count; k++)
        if (n->out[k]->type.rank == v->type.rank)
            memcpy(n->out[k]->order, v->order, MAX_RANK);
}

static void place_movement(Layout *l, Node *n) {
    if (node_is(n, "corten::relayout"))
        return;
    if (node_operand_count(n) > 0 && node_operand(n, 0)->constant)
        return;
    for (int k = 0; k < n->out_count; k++)
        movement_order(l->c, l->g, n, k, n->out[k]->order);
}

/* Rows that lower through lower_movement; those with several moving operands follow instead. */
static bool is_picture(const Node *n) {
    return (n->op->traits & OP_MOVES_DATA) && n->op->lower == lower_movement;
}

static void place(Layout *l, Node *n) {
    if (n->op->traits & OP_CHANNELS_LAST)
        place_channels_last(l, n);
    else if (is_picture(n))
        place_movement(l, n);
    else if (op_is_pointwise(n->op) || node_is(n, "corten::table") ||
             (n->op->traits & (OP_ANY_ORDER | OP_MOVES_DATA | OP_EFFECT_FREE_IDENTITY))) {
        if (!(n->op->traits & OP_LOGICAL_OUTPUT))
            place_follower(n);
    } else
        want_identity(l, n);
}

/* ---- the C boundary ------------------------------------------------------------------------ */

/* uint8 is int8 by another name: q + 128. What has another grid than int8 keeps it. */
static Grid *unsigned_grid(C *c, const Grid *grid) {
    Grid *other = c_memdup(c, grid, sizeof *grid);
    other->part = c_memdup(c, grid->part, (size_t)grid->part_count * sizeof *grid->part);
    other->dtype = DT_U8;
    for (int k = 0; k < grid->part_count; k++)
        other->part[k].zero_point += 128;
    return other;
}

static Grid *boundary_grid(C *c, const Grid *grid, IoType io) {
    if (io == IO_UINT8)
        return unsigned_grid(c, grid);
    DType want = io == IO_INT8 ? DT_I8 : io == IO_INT16 ? DT_I16 : grid->dtype;
    if (want == grid->dtype)
        return NULL;
    Grid *other = c_memdup(c, grid, sizeof *grid);
    other->part = c_memdup(c, grid->part, (size_t)grid->part_count * sizeof *grid->part);
    other->dtype = want;
    other->bits = want == DT_I8 ? 8 : 16;
    for (int k = 0; k < grid->part_count; k++) {
        /* int8 has a zero point anywhere in its range: int16, symmetric, must reach both its ends
         */
        int32_t zero = grid->part[k].zero_point;
        int32_t far = zero + 128 > 127 - zero ? zero + 128 : 127 - zero;
        other->part[k].scale *= want == DT_I8 ? 256 : far / 32767.0;
        other->part[k].zero_point = 0;
    }
    return other;
}

/* The value that crosses the boundary in place of v: float, or on another grid. */
static const char *boundary_row(const Value *v, IoType io, bool entering) {
    if (!v->grid || io == IO_AS_QUANTIZED)
        return NULL;
    if (io == IO_FLOAT)
        return entering ? "corten::quantize" : "corten::dequantize";
    if (io == IO_UINT8)
        return v->grid->dtype == DT_I8 && v->grid->bits == 8 ? "corten::requantize" : NULL;
    DType want = io == IO_INT8 ? DT_I8 : DT_I16;
    return v->grid->dtype == want ? NULL : "corten::requantize";
}

static void cross_inputs(C *c, Graph *g, const Options *o) {
    for (int i = 0; i < g->input_count; i++) {
        if (g->input[i].kind != ARG_VALUE)
            continue;
        Value *v = g->input[i].u.value;
        if (o->io_nhwc && v->type.rank == 4)
            order_channels_last(4, v->order);
        const char *row = boundary_row(v, o->io, true);
        if (!row || v->user_count + v->output_count == 0)
            continue;
        Value *outside = value_new(g, v->name, v->type);
        outside->role = ROLE_INPUT;
        memcpy(outside->order, v->order, MAX_RANK);
        if (o->io != IO_FLOAT)
            outside->grid = boundary_grid(c, v->grid, o->io);
        Value *inside = node_value(g, g->first, row, ARGS(arg_value(outside)));
        inside->grid = v->grid;
        memcpy(inside->order, v->order, MAX_RANK);
        value_replace(g, v, inside);
        g->input[i] = arg_value(outside);
    }
}

static void cross_outputs(Layout *l, const Options *o) {
    int8_t order[MAX_RANK];
    for (int i = 0; i < l->g->output_count; i++) {
        Arg *out = &l->g->output[i];
        if (out->kind != ARG_VALUE)
            continue;
        Value *v = out->u.value;
        if (v->def)
            rewrite_begin(l->c, v->def);
        order_identity(order);
        if (o->io_nhwc && v->type.rank == 4)
            order_channels_last(4, order);
        if (!order_same(&v->type, v->order, order))
            v = relayout(l, v, NULL, order);
        const char *row = boundary_row(v, o->io, false);
        if (row) {
            Value *inside = v;
            v = node_value(l->g, NULL, row, ARGS(arg_value(inside)));
            memcpy(v->order, inside->order, MAX_RANK);
            if (o->io != IO_FLOAT)
                v->grid = boundary_grid(l->c, inside->grid, o->io);
        }
        rewrite_end(l->c);
        out->u.value = v;
    }
}

/* State keeps its logical order between runs. */
static void settle_states(Layout *l) {
    int8_t order[MAX_RANK];
    order_identity(order);
    for (int i = 0; i < l->g->state_count; i++) {
        Value *v = l->g->state[i].after;
        if (order_same(&v->type, v->order, order))
            continue;
        if (v->def)
            rewrite_begin(l->c, v->def);
        l->g->state[i].after = relayout(l, v, NULL, order);
        rewrite_end(l->c);
    }
}

void pass_layout(C *c, Graph *g, const Options *o) {
    graph_index(g);
    cross_inputs(c, g, o);
    Layout l = {
        .c = c, .g = g, .moved_count = g->value_count, .row_major = profile_of(o)->row_major};
    l.moved = NEW_ARRAY(c, Value *, g->value_count);
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        place(&l, n);
    }
    cross_outputs(&l, o);
    settle_states(&l);
    graph_index(g);
}
