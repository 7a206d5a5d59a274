/* Pass precision: says which nodes stay in float: those that --precision names, and those that have
 * no integer form. Where these may not or cannot be float, the passes go on as if they were, so
 * that lower can report them together with all that it finds itself. */
#include "lower/float.h"
#include "passes/passes.h"
#include "quant/quant.h"

#include <string.h>

/* "float32[1, 16, 48, 48]" */
static const char *type_text(C *c, const Type *t) {
    return c_format(c, "%s%s", dtype_name(t->dtype), shape_text(c, t->rank, t->dim));
}

static void refuse(C *c, Graph *g, const Node *n, const char *message, const char *detail) {
    Refusal *r = NEW(c, Refusal), **end = &g->refusal;
    *r = (Refusal){.loc = n->loc, .message = message, .detail = detail};
    if (!r->loc.node)
        r->loc.node = n->name;
    if (n->out_count > 0)
        r->loc.output = type_text(c, &n->out[0]->type);
    while (*end)
        end = &(*end)->next;
    *end = r;
}

static bool touches_float(const Node *n) {
    bool yes = false;
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        yes |= dtype_is_float(node_operand(n, k)->type.dtype);
    for (int k = 0; k < n->out_count; k++)
        yes |= dtype_is_float(n->out[k]->type.dtype);
    return yes;
}

static void keep_float(C *c, Graph *g, Node *n, const char *reason) {
    n->float_kept = true;
    n->float_reason = reason;
    if (!node_has_float_form(n))
        refuse(c, g, n, c_format(c, "%s has no float form", node_operator(n)), reason);
}

/* A pointwise node may still become part of a table, so only `quantize` can judge it. */
static bool has_form(const Node *n, bool pointwise_counts) {
    return n->op->lower || n->fused || n->float_kept || (pointwise_counts && n->op->map);
}

static void keep_missing(C *c, Graph *g, Node *n, const Options *o) {
    const char *why = n->op->no_integer_form;
    if (o->allow_float && (node_has_float_form(n) || !why)) {
        keep_float(c, g, n, why ? why : "no integer form");
        return;
    }
    n->float_kept = true;
    n->float_reason = why;
    refuse(c, g, n,
           c_format(c, "%s has no integer form%s", node_operator(n),
                    o->allow_float ? ", nor one in float" : ""),
           why);
}

void keep_missing_float(C *c, Graph *g, const Options *o, bool pointwise_counts) {
    for (Node *n = g->first; n; n = n->next)
        if (!has_form(n, pointwise_counts))
            keep_missing(c, g, n, o);
}

void report_refusals(C *c, const Graph *g) {
    for (const Refusal *r = g->refusal; r; r = r->next) {
        diag_error(c, DIAG_MODEL, &r->loc, "%s", r->message);
        if (r->detail)
            diag_detail(c, "%s", r->detail);
    }
}

/* ---- what is asked for ---------------------------------------------------------------------- */

static void ask_value(Value *v, int bits, const char *reason) {
    v->bits = bits;
    v->wide_reason = bits == 16 ? reason : NULL;
}

static void ask_bits(Node *n, int bits) {
    for (int k = 0; k < n->out_count; k++)
        if (dtype_is_float(n->out[k]->type.dtype))
            ask_value(n->out[k], bits, "asked for by --precision");
}

/* An input of the model takes 8 or 16 bits by its name. */
static void ask_inputs(Graph *g, const Options *o) {
    for (int i = 0; i < g->input_count; i++)
        for (int r = 0; r < o->precision_count; r++) {
            Value *v = g->input[i].kind == ARG_VALUE ? g->input[i].u.value : NULL;
            if (v && dtype_is_float(v->type.dtype) &&
                glob_match(o->precision[r].pattern, g->input_name[i]) &&
                strncmp(o->precision[r].precision, "int", 3) == 0)
                ask_value(v, strcmp(o->precision[r].precision, "int16") == 0 ? 16 : 8,
                          "asked for by --precision");
        }
}

static bool stands_for(const Graph *g, const Node *n, const char *pattern) {
    for (int i = 0; i < n->origins.count; i++) {
        const ArchiveNode *a = &g->archive[n->origins.id[i]];
        if (glob_match(pattern, a->name) || (a->module && glob_match(pattern, a->module)))
            return true;
    }
    return false;
}

static bool rule_names(const Graph *g, const Node *n, const char *pattern) {
    const char *module = n->loc.module ? n->loc.module : "";
    return glob_match(pattern, n->name) || glob_match(pattern, module) || stands_for(g, n, pattern);
}

/* Does it multiply by a constant that it would pack? */
static bool has_weights(const Graph *g, const Node *n) {
    if (n->op->map || (n->op->traits & OP_MOVES_DATA))
        return false;
    for (int k = 0, count = node_operand_count(n); k < count; k++) {
        const Value *v = node_operand(n, k);
        if (value_is_fixed(g, v) && dtype_is_float(v->type.dtype) && v->type.rank >= 2)
            return true;
    }
    return false;
}

/* Nodes without weights have nothing that could have four bits, so that a glob may name them. */
static void ask_int4(C *c, Graph *g, Node *n) {
    if (!has_weights(g, n))
        return;
    const Value *w = n->op->traits & OP_INT4_WEIGHTS ? node_in(n, "weight") : NULL;
    if (!w)
        diag_error(c, DIAG_MODEL, &n->loc, "%s has no int4 weights, which --precision asks for",
                   node_operator(n));
    else if (w->grid)
        diag_error(c, DIAG_MODEL, &n->loc,
                   "weight %s cannot be int4, as --precision asks: its grid is given", w->name);
    else
        n->weight_bits = 4;
}

static void apply_rules(C *c, Graph *g, Node *n, const Options *o) {
    const PrecisionRule *last = NULL;
    for (int i = 0; i < o->precision_count; i++)
        if (rule_names(g, n, o->precision[i].pattern))
            last = &o->precision[i];
    if (!last)
        return;
    if (strncmp(last->precision, "int", 3) == 0)
        ask_bits(n, strcmp(last->precision, "int16") == 0 ? 16 : 8);
    else if (strcmp(last->precision, "w4") == 0)
        ask_int4(c, g, n);
    else if (touches_float(n))
        keep_float(c, g, n, "asked for by --precision");
}

/* What an earlier run of the passes has found: by name, or, where the node did not exist yet, all
 * that stand for the same nodes of the archive. */
static void keep_found(C *c, Graph *g, const FloatNode *found) {
    bool known = false;
    for (Node *n = g->first; n; n = n->next)
        known |= text_equal(n->name, found->name);
    for (Node *n = g->first; n; n = n->next) {
        bool same = known && text_equal(n->name, found->name);
        for (int i = 0; !known && i < found->origins.count; i++)
            for (int k = 0; k < n->origins.count; k++)
                same |= n->origins.id[k] == found->origins.id[i];
        if (same && !n->float_kept && touches_float(n))
            keep_float(c, g, n, found->reason);
    }
}

/* Rules for w4 that no weights are under. */
static void check_int4_rules(C *c, Graph *g, const Options *o) {
    for (int r = 0; r < o->precision_count; r++) {
        bool used = strcmp(o->precision[r].precision, "w4") != 0;
        for (const Node *n = g->first; n && !used; n = n->next)
            used = has_weights(g, n) && rule_names(g, n, o->precision[r].pattern);
        if (!used)
            diag_warning(c, NULL, "precision w4: nothing that '%s' names has constant weights",
                         o->precision[r].pattern);
    }
}

static void raise_values(Graph *g, const Options *o) {
    for (int r = 0; r < o->raised_count; r++)
        for (int i = 0; i < g->value_count; i++)
            if (text_equal(g->value[i]->name, o->raised[r].value))
                ask_value(g->value[i], 16, "raised for --accuracy-budget");
}

void pass_precision(C *c, Graph *g, const Options *o) {
    ask_inputs(g, o);
    for (Node *n = g->first; n; n = n->next)
        apply_rules(c, g, n, o);
    check_int4_rules(c, g, o);
    raise_values(g, o);
    for (int i = 0; i < o->float_node_count; i++)
        keep_found(c, g, &o->float_node[i]);
    keep_missing_float(c, g, o, true);
}
