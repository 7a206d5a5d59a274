/* Lower: every node becomes calls of kernels, in order, each in the best variant of the CPU.
 * Needs orders (layout.c). Gives STAGE_LOWERED: calls with references to buffers. */
#include "lower/float.h"
#include "lower/memory.h"
#include "lower/movement.h"
#include "quant/quant.h"

static void lower_node(C *c, Graph *g, Node *n) {
    if (n->fused || n->target == NODE_NPU)
        return; /* the producer's store does it, or the program that it belongs to */
    n->joined = n->op->lower == lower_movement && movement_joins(c, g, n);
    if (n->joined)
        return;
    if (n->float_kept) {
        if (node_has_float_form(n))
            lower_float(c, g, n);
        return; /* without a form, it is among the refusals */
    }
    if (n->op->lower) {
        n->op->lower(c, g, n);
        return;
    }
    fatal(c, DIAG_BUG, &n->loc, "%s reached lowering without an integer form",
          op_schema(n->op)->name);
}

/* A copy of v in the arena: for outputs that would otherwise be flash or state. */
static Value *copy_out(C *c, Graph *g, Value *v) {
    Value *y = node_value(g, NULL, "corten::copy", ARGS(arg_value(v)));
    y->grid = v->grid;
    y->def->float_kept = !v->grid && dtype_is_float(v->type.dtype);
    for (int d = 0; d < MAX_RANK; d++)
        y->order[d] = v->order[d];
    lower_node(c, g, y->def);
    return y;
}

static bool lives_outside_arena(Graph *g, Value *v) {
    if (v->constant)
        return true;
    const Buffer *b = value_buffer(g, v);
    if (b->kind == BUFFER_CONSTANT)
        return true;
    for (int i = 0; i < g->state_count; i++)
        if (value_buffer(g, g->state[i].before) == b)
            return true;
    return false;
}

static void settle_outputs(C *c, Graph *g) {
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i].kind == ARG_VALUE && lives_outside_arena(g, g->output[i].u.value))
            g->output[i].u.value = copy_out(c, g, g->output[i].u.value);
}

/* The new contents of a state are written over the old ones when all calls have read them. When
 * one state's new value is another's old memory, it is first copied aside. */
static void settle_states(C *c, Graph *g) {
    for (int i = 0; i < g->state_count; i++)
        if (g->state[i].after != g->state[i].before && lives_outside_arena(g, g->state[i].after))
            g->state[i].after = copy_out(c, g, g->state[i].after);
    for (int i = 0; i < g->state_count; i++) {
        State *s = &g->state[i];
        if (s->after == s->before)
            continue;
        lower_copy_bytes(c, g, s->after->def, s->after, 0, s->before, 0, value_bytes(s->after));
    }
}

/* Packed constants hold what had buffers of its own before: an int32 sum for each factor, for the
 * input's zero point is folded in, and the factors. */
static void pack_call(C *c, Graph *g, Call *call) {
    int64_t factors = 0, channels = 0;
    const CallRef *weights = call_ref_named(call, "weights");
    const Buffer *before = weights ? weights->buffer : NULL;
    for (int r = 0; r < call->ref_count; r++)
        if (constant_role(call, &call->ref[r]) == CONSTANT_FACTORS)
            factors += call->ref[r].buffer->bytes;
    const CallRef *multiplier = call_ref_named(call, "multiplier");
    channels = multiplier ? multiplier->buffer->bytes / 4 : 0;
    call->variant->pack(c, g, call);
    weights = call_ref_named(call, "weights");
    if (!weights || weights->buffer == before || call_ref_named(call, "multiplier"))
        return;
    weights->buffer->biases = 4 * channels;
    weights->buffer->factors = factors;
}

void pass_lower(C *c, Graph *g, const Options *o) {
    int program = 0;
    report_refusals(c, g); /* together with what is refused here */
    for (Node *n = g->first, *next; n; n = next) {
        next = n->next;
        int errors = diag_error_count(c);
        Diag *mark = c->last_diag;
        rewrite_begin(c, n);
        lower_node(c, g, n);
        if (program < g->npu_count && n == g->npu[program].last)
            lower_npu(c, g, o, &g->npu[program++]);
        rewrite_end(c);
        if (diag_error_count(c) > errors)
            float_wanted(c, g, o, n, mark);
    }
    diag_stop_if_errors(c);
    if (g->float_wanted_count > 0)
        return; /* the calls are not complete */
    settle_outputs(c, g);
    settle_states(c, g);
    for (Call *call = g->first_call; call; call = call->next) {
        variant_settle(call, o->isa);
        if (!o->optimize_size)
            channels_split(c, g, call, o);
    }
    variants_weigh(c, g, o);
    if (!o->optimize_size)
        residuals_fuse(c, g, o);
    for (Call *call = g->first_call; call; call = call->next)
        pack_call(c, g, call);
    diag_stop_if_errors(c);
}
