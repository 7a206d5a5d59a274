/* Pass masks: what hides scores from a softmax, filled in or added as a number like -inf, becomes
 * the softmax's mask, and a factor of the scores its beta: such a number must not widen the scores'
 * grid. It runs twice. Before calibration it takes what can only be a mask: constants, fills, and
 * functions of a bool that are zero for one truth value and hide for the other, moved or not; and
 * it brings sums into an order in which masks are added last. After calibration it takes operands
 * of such sums of which nothing was seen but zeros and numbers that hide. */
#include "ops/ops.h"
#include "passes/passes.h"
#include "quant/quant.h"

#include <string.h>

#define MASKING (-1000.0) /* what is below has no probability beside anything else */

enum { LEVELS = 8, DEPTH = 12, TERMS = 8 };

typedef struct Known {
    const Value *of;
    double sign;
    Value *mask;
    struct Known *next;
} Known;

typedef struct {
    C *c;
    Graph *g;
    Node *n; /* the softmax */
    bool seen;
    double beta, limit; /* of scores times beta: what is not above has no probability */
    Value *x, *mask;    /* what is left of the scores, and where they are hidden */
    Known *known;       /* masks that were made for others */
} Search;

static bool hides(const Search *s, double number) {
    return number * s->beta <= s->limit;
}

static bool same_dims(const Type *a, const Type *b) {
    return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

static bool is_float(const Value *v) {
    return dtype_is_float(v->type.dtype) && !v->grid;
}

static const Array *constant_of(const Search *s, const Value *v) {
    return value_is_fixed(s->g, v) && !v->grid ? v->constant : NULL;
}

/* A number, or a constant of nothing but one. */
static bool number_of(const Search *s, const Arg *a, double *number) {
    const Array *all = a->kind == ARG_VALUE ? constant_of(s, a->u.value) : NULL;
    *number = a->kind == ARG_INT ? (double)a->u.i : a->kind == ARG_FLOAT ? a->u.f : NAN;
    if (a->kind == ARG_BOOL)
        *number = a->u.b;
    if (a->kind != ARG_VALUE)
        return true;
    for (int64_t i = 0; all && i < array_count(all); i++)
        if (array_get(all, i) != array_get(all, 0))
            return false;
    if (!all || array_count(all) == 0)
        return false;
    *number = array_get(all, 0);
    return true;
}

/* ---- masks by what they are computed from ---------------------------------------------------- */

static bool is_map(const Node *n) {
    return n && n->op->map && n->out_count == 1 && !n->body && !(n->op->traits & OP_RANDOM);
}

static bool moves_one(const Node *n) {
    return n && (n->op->traits & OP_MOVES_DATA) && node_operand_count(n) == 1 && n->out_count == 1;
}

/* The only value that varies of what v is computed from, pointwise; false if there are several. v
 * itself where it is no such result. */
static bool leaf_of(const Search *s, Value *v, int depth, Value **leaf) {
    double number;
    if (number_of(s, &(Arg){.kind = ARG_VALUE, .u.value = v}, &number))
        return true;
    if (!is_map(v->def) || v->grid || v->type.dtype == DT_BOOL || depth == 0) {
        bool other = *leaf && *leaf != v;
        *leaf = v;
        return !other;
    }
    for (int k = 0; k < node_operand_count(v->def); k++)
        if (!leaf_of(s, node_operand(v->def, k), depth - 1, leaf))
            return false;
    return true;
}

/* v where the leaf is x. */
static double value_under(const Search *s, const Value *v, const Value *leaf, double x) {
    double in[MAP_OPERANDS], number;
    int count = 0;
    if (v == leaf)
        return x;
    if (number_of(s, &(Arg){.kind = ARG_VALUE, .u.value = (Value *)v}, &number))
        return number;
    const Schema *schema = op_schema(v->def->op);
    for (int i = 0; i < schema->arg_count && count < MAP_OPERANDS; i++) {
        const Arg *a = &v->def->arg[i];
        if (schema->arg[i].type != T_TENSOR)
            continue;
        if (a->kind == ARG_VALUE)
            number = value_under(s, a->u.value, leaf, x);
        else
            number_of(s, a, &number);
        in[count++] = number;
    }
    return number_wrap(v->type.dtype, v->def->op->map(v->def, in));
}

static Value *expanded(Search *s, Value *v, const Type *to) {
    return same_dims(&v->type, to)
               ? v
               : node_value(s->g, s->n, "aten::expand",
                            ARGS(arg_value(v), arg_ints(s->c, to->rank, to->dim)));
}

/* The node `of`, which moves data, of v instead. */
static Value *moved_alike(Search *s, const Node *of, Value *v) {
    const Schema *schema = op_schema(of->op);
    Arg *arg = NEW_ARRAY(s->c, Arg, of->arg_count);
    for (int i = 0; i < of->arg_count; i++)
        arg[i] = schema->arg[i].type == T_TENSOR ? arg_value(v) : of->arg[i];
    return node_value(s->g, s->n, op_key(of->op), of->arg_count, arg);
}

/* sign * v as a function of a bool, between data movements or none. */
static Value *mask_of_bool(Search *s, Value *v, double sign) {
    Value *top[LEVELS], *leaf[LEVELS], *at = v;
    int count = 0;
    for (;;) {
        leaf[count] = NULL;
        top[count] = at;
        if (count + 1 == LEVELS || !leaf_of(s, at, DEPTH, &leaf[count]) || !leaf[count])
            return NULL;
        const Value *l = leaf[count++];
        if (l->type.dtype == DT_BOOL)
            break;
        if (!moves_one(l->def))
            return NULL;
        at = node_operand(l->def, 0);
    }
    bool hidden[2];
    for (int truth = 0; truth < 2; truth++) {
        double y = truth;
        for (int k = count - 1; k >= 0; k--)
            y = value_under(s, top[k], leaf[k], y);
        hidden[truth] = hides(s, sign * y);
        if (!hidden[truth] && y != 0)
            return NULL;
    }
    if (hidden[0] == hidden[1])
        return NULL;
    Value *mask = leaf[count - 1];
    if (hidden[0])
        mask = node_value(s->g, s->n, "aten::logical_not", ARGS(arg_value(mask)));
    for (int k = count - 1; k >= 0; k--) {
        mask = expanded(s, mask, &top[k]->type);
        mask = k > 0 ? moved_alike(s, leaf[k - 1]->def, mask) : mask;
    }
    return mask;
}

/* Of a constant of zeros and what hides. */
static Value *mask_of_constant(Search *s, const Array *of, double sign) {
    Array *mask = array_new(s->c, DT_BOOL, of->rank, of->dim);
    bool any = false;
    for (int64_t i = 0; i < array_count(of); i++) {
        double number = sign * array_get(of, i);
        if (number != 0 && !hides(s, number))
            return NULL;
        any |= number != 0;
        array_set_int(mask, i, number != 0);
    }
    return any ? value_constant(s->g, "mask", mask) : NULL;
}

/* ---- masks by what was seen of them ---------------------------------------------------------- */

/* If v was nothing but zeros and numbers that hide: the one nearest to zero of those, or a number
 * between; else 0. */
static double nearest_seen(const Search *s, const Value *v) {
    const Observed *o = v->observed;
    double limit = s->limit / s->beta;
    if (!o || o->max != 0)
        return 0;
    if (o->min == 0)
        return o->not_finite > 0 ? limit : 0;
    int i = o->bin_count / 2 - 1;
    while (o->bin[i] == 0) /* it ends, for numbers below zero were seen */
        i--;
    double edge = o->bin_low + (i + 1) * o->bin_width;
    return edge <= limit ? edge : 0;
}

/* Numbers beside zero that rounding makes of zeros are none that hide. */
static Value *mask_of_seen(Search *s, Value *v, double sign) {
    bool may = s->seen && sign > 0 && !value_is_fixed(s->g, v);
    double nearest = may ? nearest_seen(s, v) : 0;
    return nearest == 0 ? NULL
                        : node_value(s->g, s->n, "aten::lt.Scalar",
                                     ARGS(arg_value(v), arg_float(nearest / 2)));
}

/* ---- any mask ---------------------------------------------------------------------------------
 */

static Value *either(Search *s, Value *a, Value *b) {
    return a && b ? node_value(s->g, s->n, "aten::logical_or", ARGS(arg_value(a), arg_value(b)))
           : a    ? a
                  : b;
}

static Value *mask_of(Search *s, Value *v, double sign);

/* Of a sum of masks, or of one moved about. */
static Value *mask_of_parts(Search *s, const Value *v, double sign) {
    const Node *def = v->def;
    if (node_is(def, "aten::add.Tensor") && node_operand_count(def) == 2 &&
        node_double(def, "alpha") == 1) {
        Value *first = mask_of(s, node_operand(def, 0), sign);
        Value *second = first ? mask_of(s, node_operand(def, 1), sign) : NULL;
        return second ? expanded(s, either(s, first, second), &v->type) : NULL;
    }
    Value *inner = moves_one(def) ? mask_of(s, node_operand(def, 0), sign) : NULL;
    return inner ? moved_alike(s, def, inner) : NULL;
}

/* A bool value that is true where sign * v hides scores; NULL if v is anything else than that and
 * zeros. */
static Value *mask_of(Search *s, Value *v, double sign) {
    if (!is_float(v))
        return NULL;
    for (const Known *k = s->known; k; k = k->next)
        if (k->of == v && k->sign == sign)
            return k->mask;
    const Array *constant = constant_of(s, v);
    Value *mask = constant ? mask_of_constant(s, constant, sign) : mask_of_bool(s, v, sign);
    if (!mask && v->def)
        mask = mask_of_parts(s, v, sign);
    if (!mask)
        mask = mask_of_seen(s, v, sign);
    if (mask) {
        Known *k = NEW(s->c, Known);
        *k = (Known){v, sign, mask, s->known};
        s->known = k;
    }
    return mask;
}

Value *mask_of_numbers(C *c, Graph *g, Node *n, Value *v) {
    Search s = {.c = c, .g = g, .n = n, .beta = 1, .limit = -1e4};
    return mask_of(&s, v, 1);
}

/* ---- fills ------------------------------------------------------------------------------------
 */

static bool is_hiding(const Search *s, const Arg *a) {
    double number;
    return a->kind != ARG_NONE && number_of(s, a, &number) && hides(s, number);
}

/* The scores in which `v` fills what hides; NULL if it does not. */
static Value *filled(Search *s, const Value *v, Value **mask) {
    const Node *def = v->def;
    if (v->grid)
        return NULL;
    if (node_is(def, "aten::masked_fill") && is_hiding(s, node_arg(def, "value"))) {
        *mask = node_in(def, "mask");
        return node_in(def, "self");
    }
    if (!node_is(def, "aten::where"))
        return NULL;
    *mask = node_in(def, "condition");
    if (is_hiding(s, node_arg(def, "self")))
        return node_in(def, "other");
    if (!is_hiding(s, node_arg(def, "other")))
        return NULL;
    *mask = node_value(s->g, s->n, "aten::logical_not", ARGS(arg_value(*mask)));
    return node_in(def, "self");
}

/* ---- sums -------------------------------------------------------------------------------------
 */

typedef struct {
    Value *v;
    double sign;
} Term;

typedef struct {
    int count;
    Term term[TERMS];
    bool changed; /* a mask has gone, or the order is another */
} Terms;

static bool is_sum(const Value *v) {
    const Node *def = v->def;
    return def && !v->grid &&
           (node_is(def, "aten::add.Tensor") || node_is(def, "aten::sub.Tensor")) &&
           node_operand_count(def) == 2 && node_double(def, "alpha") == 1;
}

static bool terms_collect(Terms *t, Value *v, double sign, int depth) {
    if (is_sum(v) && depth > 0) {
        double second = node_is(v->def, "aten::sub.Tensor") ? -sign : sign;
        return terms_collect(t, node_operand(v->def, 0), sign, depth - 1) &&
               terms_collect(t, node_operand(v->def, 1), second, depth - 1);
    }
    if (t->count == TERMS)
        return false;
    t->term[t->count++] = (Term){v, sign};
    return true;
}

/* Where a constant holds numbers that hide among others that are far from that, a mask, and the
 * constant without them. */
static Value *split_constant(Search *s, Term *t) {
    const Array *of = constant_of(s, t->v);
    if (!of)
        return NULL;
    Array *mask = array_new(s->c, DT_BOOL, of->rank, of->dim),
          *rest = array_convert(s->c, of, of->dtype);
    bool any = false;
    for (int64_t i = 0; i < array_count(of); i++) {
        double number = t->sign * array_get(of, i);
        bool hidden = hides(s, number);
        if (!hidden && hides(s, 10 * number))
            return NULL;
        any |= hidden;
        array_set_int(mask, i, hidden);
        if (hidden)
            array_set(rest, i, 0);
    }
    if (any)
        t->v = value_constant(s->g, t->v->name, rest);
    return any ? value_constant(s->g, "mask", mask) : NULL;
}

static void terms_take_masks(Search *s, Terms *t) {
    int kept = 0;
    for (int i = 0; i < t->count; i++) {
        Term *term = &t->term[i];
        Value *inner = NULL, *mask = mask_of(s, term->v, term->sign);
        bool whole = mask != NULL;
        if (!mask && term->sign > 0 && term->v->def)
            inner = filled(s, term->v, &mask);
        mask = inner || whole ? mask : split_constant(s, term);
        if (inner)
            term->v = inner;
        if (mask)
            s->mask = either(s, s->mask, mask);
        t->changed |= mask != NULL;
        if (!whole)
            t->term[kept++] = *term;
    }
    t->count = kept;
}

/* May it turn out to be a mask when it is seen? Whatever comes from outside, or from no floats. */
static bool may_be_mask(const Search *s, Value *v) {
    for (int i = 0; i < LEVELS; i++) {
        Value *leaf = NULL;
        if (!leaf_of(s, v, DEPTH, &leaf) || !leaf)
            return false;
        if (!leaf->def || !dtype_is_float(leaf->type.dtype))
            return true;
        if (!moves_one(leaf->def))
            return false;
        v = node_operand(leaf->def, 0);
    }
    return false;
}

/* Scores, then constants and what else was computed, masks to come last. */
static int term_rank(const Search *s, const Term *t) {
    if (!same_dims(&t->v->type, &s->x->type) || t->sign < 0)
        return may_be_mask(s, t->v) ? 2 : 1;
    return may_be_mask(s, t->v) ? 2 : constant_of(s, t->v) ? 1 : 0;
}

static void terms_order(const Search *s, Terms *t) {
    for (int i = 1; i < t->count; i++)
        for (int k = i; k > 0 && term_rank(s, &t->term[k]) < term_rank(s, &t->term[k - 1]); k--) {
            Term swap = t->term[k];
            t->term[k] = t->term[k - 1];
            t->term[k - 1] = swap;
            t->changed = true;
        }
}

/* What may turn out to be a mask is added, not taken away: it is told by numbers below zero. */
static void term_turn(Search *s, Term *t) {
    if (t->sign > 0 || !may_be_mask(s, t->v))
        return;
    t->v = node_value(s->g, s->n, "aten::neg", ARGS(arg_value(t->v)));
    t->sign = 1;
}

static bool sum_is_nested(const Value *v) {
    return is_sum(node_operand(v->def, 1));
}

static bool takes_mask_away(const Search *s, const Value *v) {
    return node_is(v->def, "aten::sub.Tensor") && may_be_mask(s, node_operand(v->def, 1));
}

/* The sum anew without masks, those that may be some last; NULL: it is best as it is. */
static Value *sum_regrouped(Search *s) {
    Terms t = {.changed = sum_is_nested(s->x) || takes_mask_away(s, s->x)};
    Value *mask = s->mask;
    if (!terms_collect(&t, s->x, 1, DEPTH))
        return NULL;
    terms_take_masks(s, &t);
    terms_order(s, &t);
    Value *sum = t.count > 0 ? t.term[0].v : NULL;
    Type type = sum ? sum->type : s->x->type;
    if (!t.changed || !sum || t.term[0].sign < 0 || !same_dims(&type, &s->x->type)) {
        s->mask = mask;
        return NULL;
    }
    for (int i = 1; i < t.count; i++)
        term_turn(s, &t.term[i]);
    for (int i = 1; i < t.count; i++)
        sum = node_value(s->g, s->n, t.term[i].sign > 0 ? "aten::add.Tensor" : "aten::sub.Tensor",
                         ARGS(arg_value(sum), arg_value(t.term[i].v)));
    return sum;
}

/* The other operand of a sum whose one operand was a mask: no value may be new when calibration is
 * over. */
static Value *sum_seen(Search *s) {
    for (int k = 1; k >= 0 && node_is(s->x->def, "aten::add.Tensor"); k--) {
        Value *rest = node_operand(s->x->def, 1 - k);
        bool whole = same_dims(&rest->type, &s->x->type);
        Value *mask = whole ? mask_of(s, node_operand(s->x->def, k), 1) : NULL;
        if (mask) {
            s->mask = either(s, s->mask, mask);
            return rest;
        }
    }
    return NULL;
}

/* ---- the scores -------------------------------------------------------------------------------
 */

/* What x is a positive multiple of; NULL: of nothing. Rows that calibration has kept of x are x. */
static Value *unscaled(Search *s) {
    double in[MAP_OPERANDS], scale, shift;
    int slot;
    Value *x = map_operand(s->g, s->x->def);
    if ((s->seen && !s->mask) || !x || x->grid || !same_dims(&x->type, &s->x->type) || !is_float(x))
        return NULL;
    for (int k = 0; k < node_operand_count(s->x->def); k++) {
        const Value *v = node_operand(s->x->def, k);
        if (v != x && type_count(&v->type) != 1)
            return NULL;
    }
    if (!pointwise_numbers(s->g, s->x->def, x, 0, in, &slot) ||
        !pointwise_is_affine(s->x->def, in, slot, &scale, &shift) || shift != 0 || !(scale > 0))
        return NULL;
    s->beta *= scale;
    return x;
}

/* After calibration numbers hide that are as far below as twice what the scores spread, and more.
 */
static void limit_find(Search *s) {
    const Observed *o = s->x->def && node_operand_count(s->x->def) > 0
                            ? node_operand(s->x->def, 0)->observed
                            : NULL;
    s->limit = MASKING;
    if (s->seen && o && o->count > 0)
        s->limit = fmax(MASKING, -20 - 2 * s->beta * (o->max - o->min));
}

/* One step from the scores to what is left of them; NULL: no more. */
static Value *scores_peeled(Search *s) {
    Value *mask = NULL, *rest;
    if (!s->x->def || !is_float(s->x))
        return NULL;
    limit_find(s);
    rest = filled(s, s->x, &mask);
    if (rest && type_equal(&rest->type, &s->x->type)) {
        s->mask = either(s, s->mask, mask);
        return rest;
    }
    if (is_sum(s->x))
        return s->seen ? sum_seen(s) : sum_regrouped(s);
    return unscaled(s);
}

static bool only_reader(const Value *v) {
    return v->user_count == 1 && v->output_count == 0;
}

/* The mask that the softmax had, as one that hides. */
static Value *mask_before(Search *s) {
    Value *mask = node_in(s->n, "mask");
    return mask && !node_bool(s->n, "mask_hides")
               ? node_value(s->g, s->n, "aten::logical_not", ARGS(arg_value(mask)))
               : mask;
}

static void set_argument(Node *n, const char *name, Arg a) {
    n->arg[node_arg_index(n, name)] = a;
}

static void softmax_take(Search *s) {
    Node *n = s->n;
    const Type type = s->x->type;
    Value *first = s->x;
    bool sole = true;
    for (Value *rest; (rest = scores_peeled(s)) != NULL; s->x = rest) {
        sole &= only_reader(s->x);
        if (sole)
            origins_merge(s->g, n, s->x->def, FATE_FUSED);
    }
    if (s->x == first)
        return;
    if (s->mask) {
        Value *mask = either(s, mask_before(s), s->mask);
        set_argument(n, "mask", arg_value(softmax_mask_rows(s->c, s->g, n, mask, &type)));
        set_argument(n, "mask_hides", arg_bool(true));
        if (n->patches) /* their rows hold what is hidden */
            patches_release(n->patches);
        n->patches = NULL;
    }
    set_argument(n, "input", arg_value(s->x));
    set_argument(n, "beta", arg_float(s->beta));
}

static void masks_take(C *c, Graph *g, bool seen) {
    Known *known = NULL;
    graph_index(g);
    for (Node *n = g->first; n; n = n->next) {
        if (!node_is(n, "corten::softmax") && !node_is(n, "corten::softmax_scaled"))
            continue;
        Value *x = node_in(n, "input");
        if (x->type.rank == 0 || node_int(n, "dim") != x->type.rank - 1)
            continue;
        rewrite_begin(c, n);
        Search s = {.c = c,
                    .g = g,
                    .n = n,
                    .seen = seen,
                    .beta = node_double(n, "beta"),
                    .limit = MASKING,
                    .x = x,
                    .known = known};
        softmax_take(&s);
        known = s.known;
        rewrite_end(c);
    }
    graph_index(g);
    graph_sweep(g);
}

void pass_masks(C *c, Graph *g, const Options *o) {
    (void)o;
    masks_take(c, g, false);
}

void pass_seen_masks(C *c, Graph *g, const Options *o) {
    (void)o;
    masks_take(c, g, true);
    fills_return(c, g);
}
