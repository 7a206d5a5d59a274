/* Nodes that stay float on the chip: which of them can, and their kernel calls. A row says how by
 * its traits (data movement takes elements of any type), its program or its lower_float. */
#include "lower/float.h"

#include <string.h>

int32_t float_bits(double x) {
    float f = (float)x;
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

void call_floats(C *c, Call *call, uint32_t *field, const char *what, Value *v) {
    if (!v || !v->constant) {
        if (v)
            call_in(call, field, v);
        else
            call_absent(call, field);
        return;
    }
    const Array *a = array_convert(c, v->constant, DT_F32);
    call_const(call, field, what, DT_F32, a->data, array_bytes(a), 4);
}

const char *op_float_form(const Op *op) {
    if (op->lower_float)
        return "kernel";
    if ((op->traits & OP_MOVES_DATA) && op->lower)
        return "movement";
    return op->map && program_exists(op) ? "program" : NULL;
}

bool node_has_float_form(const Node *n) {
    return op_float_form(n->op) != NULL;
}

void lower_float(C *c, Graph *g, Node *n) {
    if (n->op->lower_float)
        n->op->lower_float(c, g, n);
    else if ((n->op->traits & OP_MOVES_DATA) && n->op->lower)
        n->op->lower(c, g, n);
    else if (n->op->map && program_exists(n->op))
        lower_program(c, g, n);
    else
        fatal(c, DIAG_BUG, &n->loc, "%s reached lowering without a float form",
              op_schema(n->op)->name);
}

/* ---- finding them --------------------------------------------------------------------------- */

static bool touches_float(const Node *n) {
    bool yes = false;
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        yes |= dtype_is_float(node_operand(n, k)->type.dtype);
    for (int k = 0; k < n->out_count; k++)
        yes |= dtype_is_float(n->out[k]->type.dtype);
    return yes;
}

static bool was_tried(const Options *o, const char *name) {
    for (int i = 0; i < o->float_node_count; i++)
        if (text_equal(o->float_node[i].name, name))
            return true;
    return false;
}

bool float_wanted(C *c, Graph *g, const Options *o, const Node *n, Diag *mark) {
    bool possible = node_has_float_form(n) || node_is(n, "corten::table");
    if (!o->allow_float || n->float_kept || !possible || !touches_float(n) || was_tried(o, n->name))
        return false;
    g->float_wanted = c_grow(c, g->float_wanted, g->float_wanted_count, &g->float_wanted_capacity,
                             g->float_wanted_count + 1, sizeof *g->float_wanted);
    g->float_wanted[g->float_wanted_count++] =
        (FloatNode){n->name, diag_withdraw(c, mark), n->origins};
    return true;
}
