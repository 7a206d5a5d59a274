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

/* ---- rules that cannot be kept ----------------------------------------------------------------
 */

bool rule_is_glob(const PrecisionRule *rule) {
    return strpbrk(rule->pattern, "*?") != NULL;
}

void passed_over_add(C *c, PassedOver *p, const Node *n) {
    enum { NAMED = 5 };
    if (p->count < NAMED)
        p->names = c_format(c, "%s%s%s", p->count ? p->names : "", p->count ? ", " : "", n->name);
    else if (p->count == NAMED)
        p->names = c_format(c, "%s and others", p->names);
    p->count++;
}

void passed_over_tell(C *c, const PrecisionRule *rule, const PassedOver *p) {
    diag_warning(c, &(Loc){.file = rule->file, .line = rule->line},
                 "'%s = %s' passes over %d node%s without such a form: %s", rule->pattern,
                 rule->precision, p->count, p->count == 1 ? "" : "s", p->names);
}

/* ---- what is asked for ---------------------------------------------------------------------- */

static void ask_value(Value *v, int bits, const char *reason, const PrecisionRule *rule) {
    v->bits = bits;
    v->glob = rule && rule_is_glob(rule) ? rule : NULL;
    v->wide_reason = bits == 16 ? reason : NULL;
}

static int ask_bits(Node *n, int bits, const PrecisionRule *rule) {
    int asked = 0;
    for (int k = 0; k < n->out_count; k++)
        if (dtype_is_float(n->out[k]->type.dtype)) {
            ask_value(n->out[k], bits, "asked for by --precision", rule);
            asked++;
        }
    return asked;
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
                          "asked for by --precision", &o->precision[r]);
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

/* What became of one rule of --precision. */
typedef struct {
    const PrecisionRule *rule;
    int applied, unfit; /* nodes that it was the last to name */
    const Node *first;  /* unfit one */
    const char *reason;
    PassedOver passed;
} Outcome;

static void note_unfit(C *c, Outcome *out, const Node *n, const char *reason) {
    if (out->unfit++ == 0) {
        out->first = n;
        out->reason = reason;
    }
    passed_over_add(c, &out->passed, n);
}

/* Nodes without weights have nothing that could have four bits: a glob may name them. */
static void ask_int4(C *c, Graph *g, Node *n, Outcome *out) {
    const Value *w = n->op->traits & OP_INT4_WEIGHTS ? node_in(n, "weight") : NULL;
    if (!has_weights(g, n))
        return;
    if (w && !w->grid) {
        n->weight_bits = 4;
        out->applied++;
    } else
        note_unfit(c, out, n,
                   w ? "has weights whose grid is given, no int4 weights" : "has no int4 weights");
}

static void ask_integers(C *c, Node *n, Outcome *out) {
    bool wide = strcmp(out->rule->precision, "int16") == 0;
    if (ask_bits(n, wide ? 16 : 8, out->rule) > 0)
        out->applied++;
    else if (wide && !rule_is_glob(out->rule))
        note_unfit(c, out, n, "has no float results to be int16");
}

static void ask_float(C *c, Graph *g, Node *n, Outcome *out) {
    if (!touches_float(n))
        return;
    if (rule_is_glob(out->rule) && !node_has_float_form(n) && n->op->lower) {
        note_unfit(c, out, n, "has no float form");
        return;
    }
    keep_float(c, g, n, "asked for by --precision");
    out->applied++;
}

static void apply_rules(C *c, Graph *g, Node *n, const Options *o, Outcome *outcome) {
    Outcome *last = NULL;
    for (int i = 0; i < o->precision_count; i++)
        if (rule_names(g, n, o->precision[i].pattern))
            last = &outcome[i];
    if (!last)
        return;
    const char *precision = last->rule->precision;
    if (strncmp(precision, "int", 3) == 0)
        ask_integers(c, n, last);
    else if (strcmp(precision, "w4") == 0)
        ask_int4(c, g, n, last);
    else
        ask_float(c, g, n, last);
}

/* A name that fits nothing is refused; a pattern of many applies where it can. */
static void tell_outcome(C *c, const Outcome *out) {
    if (out->unfit == 0)
        return;
    if (out->applied == 0 && !rule_is_glob(out->rule))
        diag_error(c, DIAG_MODEL, &out->first->loc, "%s %s, which --precision asks for",
                   node_operator(out->first), out->reason);
    else
        passed_over_tell(c, out->rule, &out->passed);
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
        const PrecisionRule *rule = &o->precision[r];
        bool used = strcmp(rule->precision, "w4") != 0;
        for (const Node *n = g->first; n && !used; n = n->next)
            used = has_weights(g, n) && rule_names(g, n, rule->pattern);
        Loc loc = {.file = rule->file, .line = rule->line};
        const char *text =
            c_format(c, "nothing that '%s = w4' names has constant weights", rule->pattern);
        if (!used && rule_is_glob(rule))
            diag_warning(c, &loc, "%s", text);
        else if (!used)
            diag_error(c, DIAG_MODEL, &loc, "%s", text);
    }
}

static void raise_values(Graph *g, const Options *o) {
    for (int r = 0; r < o->raised_count; r++)
        for (int i = 0; i < g->value_count; i++)
            if (text_equal(g->value[i]->name, o->raised[r].value))
                ask_value(g->value[i], 16, "raised for --accuracy-budget", NULL);
}

void pass_precision(C *c, Graph *g, const Options *o) {
    Outcome *outcome = NEW_ARRAY(c, Outcome, o->precision_count + 1);
    for (int i = 0; i < o->precision_count; i++)
        outcome[i].rule = &o->precision[i];
    ask_inputs(g, o);
    for (Node *n = g->first; n; n = n->next)
        apply_rules(c, g, n, o, outcome);
    for (int i = 0; i < o->precision_count; i++)
        tell_outcome(c, &outcome[i]);
    check_int4_rules(c, g, o);
    raise_values(g, o);
    for (int i = 0; i < o->float_node_count; i++)
        keep_found(c, g, &o->float_node[i]);
    keep_missing_float(c, g, o, true);
}
