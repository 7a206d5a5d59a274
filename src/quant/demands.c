/* Values that get 16 bits unasked, whatever they cost, since 8 would lose what matters: numbers of
 * which a reader makes most when they are small, states, products of products, and the like. */
#include "quant/sets.h"

#include "lower/lower.h"
#include "lower/pointwise.h"

#include <math.h>

/* So many decibels must be left of what a table computes: a square root, a logarithm or a
 * reciprocal makes most of small numbers, of which 8 bits tell few apart where large ones are seen
 * too. */
#define TABLE_DB 25
#define SMALL_NUMBERS "beside a table that makes most of small numbers"

/* How many nodes before such a table are followed: a smoother that was written step by step has a
 * sum and a product for each. */
enum { TABLE_DEPTH = 4, STEPS_DEPTH = 64 };

static bool averages(const Node *n) {
    return node_is(n, "corten::avg_pool2d") || node_is(n, "corten::reduce_sum");
}

/* By what n, which averages, multiplies the sum of so many numbers. */
static double averaging_factor(const Node *n, double *count) {
    *count = (double)type_count(&node_operand(n, 0)->type) / (double)type_count(&n->out[0]->type);
    return node_takes(n, "factor") ? node_double(n, "factor") : 1 / *count;
}

/* Sums and their like: each step of an operand is seen in them. */
static bool adds_up(const Node *n) {
    return (n->op->traits & OP_WIDE_ALIKE) || averages(n);
}

static bool multiplies(const Node *n) {
    return node_is(n, "aten::mul.Tensor");
}

/* v and what it was added up from, `depth` nodes back. What many paths lead to is followed again
 * only if more of it is left than before. */
static void demand_with_operands(Sets *s, const Value *v, int depth) {
    const Node *n = v->def;
    double factor;
    bool joins = n && joins_values(n), moves = n && (n->op->traits & OP_MOVES_DATA);
    moves |= n && node_is(n, "corten::table") && !n->fused && is_scaling(n, &factor);
    width_demand(s, v, SMALL_NUMBERS);
    if (!n || depth == 0 || depth <= s->followed[v->id] || !(joins || moves || adds_up(n)))
        return;
    s->followed[v->id] = depth;
    depth = joins ? STEPS_DEPTH : moves ? depth : depth - 1;
    for (int k = 0, count = node_operand_count(n); k < count; k++)
        demand_with_operands(s, node_operand(n, k), depth);
}

/* What n, a sum or its like, makes of 8 bits of an operand: steps about as large as its own. A mean
 * rounds away from what its own steps are by so much less as it adds more numbers; but of numbers
 * that all lie within half a step of zero nothing is left, however many they are. */
static Rounded rounded_operand(Sets *s, const Node *n, const Value *operand, const Rounded *own) {
    Rounded r = {(own->high - own->low) / 255, own->low, own->high, 0};
    const Observed *seen = s->seen[set_root(s, operand->id)];
    if (!averages(n) || !seen || seen->min < 0)
        return r;
    double count, factor = averaging_factor(n, &count), step = seen->max / 255;
    r.step = step * fabs(factor) * sqrt(count);
    r.least = step / 2 * fabs(factor) * count;
    return r;
}

/* What roundings before the table take from its results, as a share of their variance: that of x,
 * and, where x is a sum or its like, those of its operands. */
static double lost_before(Sets *s, const Node *table, const TableSeen *pairs) {
    const Value *x = node_operand(table, 0);
    const Observed *seen = s->seen[set_root(s, x->id)];
    double levels = ldexp(1, set_table_bits(s, x, table)) - 1;
    Rounded own = {0};
    observed_range_through(s->c, seen, s->o->observer, table_at, (void *)table, levels, &own.low,
                           &own.high);
    own.step = (own.high - own.low) / levels;
    double lost = table_lost_rounded(pairs, table, &own);
    for (int k = 0; x->def && adds_up(x->def) && k < node_operand_count(x->def); k++) {
        Rounded r = rounded_operand(s, x->def, node_operand(x->def, k), &own);
        if (set_varies(s, node_operand(x->def, k)))
            lost += table_lost_rounded(pairs, table, &r);
    }
    return lost;
}

/* divides: what is divided by the table's result counts, of which small numbers make most. */
static void demand_of_table(Sets *s, const Node *table, bool divides) {
    const Value *x = node_operand(table, 0), *y = table->out[0];
    const Observed *seen = s->seen[set_root(s, x->id)];
    if (!set_varies(s, x) || !seen || seen->bin_count == 0 || !dtype_is_float(y->type.dtype))
        return;
    const TableSeen *pairs = table_seen(s->c, table, seen, y->observed, divides);
    double top = WIDE_ROOM * fmax(-seen->min, seen->max);
    double lost = lost_before(s, table, pairs);
    if (lost <= pow(10, -TABLE_DB / 10.0) ||
        table_lost_rounded(pairs, table, &(Rounded){top / 32767, -top, top, 0}) > lost / 2 ||
        table_jumps(pairs, table, top / 256))
        return; /* 8 bits will do, or 16 would do no better; no number is small beside a jump */
    demand_with_operands(s, x, TABLE_DEPTH);
    width_demand(s, y, SMALL_NUMBERS); /* what 16 bits are looked up in has 16 */
}

static bool is_output(Sets *s, int root) {
    for (int id = 0; id < s->count; id++)
        if (set_root(s, id) == root && s->g->value[id]->output_count > 0)
            return true;
    return false;
}

static bool is_alone(Sets *s, const Value *v) {
    for (int id = 0; id < s->count; id++)
        if (id != v->id && set_root(s, id) == set_root(s, v->id))
            return false;
    return true;
}

/* ---- quotients ----------------------------------------------------------------------------- */

/* What is divided by small numbers shows its steps large, and so does what was summed to it. They
 * are to leave so many decibels: a quotient rounds its divisor and its own result besides. */
#define DIVIDED_DB 40
#define DIVIDED "divided by small numbers"

/* Squares of the steps that v and what is added to v were rounded to. */
static double squared_steps(Sets *s, const Value *v) {
    const Observed *seen = s->seen[set_root(s, v->id)];
    const Node *n = v->def;
    double step = seen ? (seen->max - seen->min) / 255 : 0, sum = step * step;
    if (!n || !adds_up(n) || n->fused)
        return sum;
    double factor = 1, count = 1;
    if (averages(n))
        factor = averaging_factor(n, &count);
    bool adds = averages(n) || node_is(n, "aten::add.Tensor") || node_is(n, "aten::sub.Tensor");
    for (int k = 0; adds && k < node_operand_count(n); k++) {
        const Observed *o = s->seen[set_root(s, node_operand(n, k)->id)];
        double each = o && set_varies(s, node_operand(n, k)) ? (o->max - o->min) / 255 : 0;
        sum += factor * factor * count * each * each;
    }
    return sum;
}

static double square(double x) {
    return x * x;
}

static double inverse_square(double x) {
    return 1 / (x * x);
}

/* The kernel computes 16 bits from 16; who calls the model reads 8. */
static void demand_of_result(Sets *s, Node *n) {
    const Value *y = n->out[0];
    if (!is_output(s, set_root(s, y->id)) || !is_alone(s, y)) {
        width_demand(s, y, DIVIDED);
        return;
    }
    if (!set_is_widenable(s, y->id) || set_asked_bits(s, y->id) != 0 || n->fused ||
        !profile_of(s->o)->small_wide)
        return;
    y = requantize_behind(s, n, 0);
    graph_index(s->g);
    width_demand(s, y, DIVIDED);
}

static bool is_demanded(Sets *s, const Value *v) {
    return set_varies(s, v) && s->demand[set_root(s, v->id)];
}

/* y, of n, is x * z, where z is one by something, of which z2 is the mean square. */
static void demand_of_divided(Sets *s, const Value *x, double z2, const Value *y) {
    double signal = y->observed ? observed_mean(y->observed, square) : 0;
    if (!x->def || !set_varies(s, x) || !(signal > 0) || !isfinite(z2) ||
        squared_steps(s, x) / 12 * z2 <= pow(10, -DIVIDED_DB / 10.0) * signal)
        return;
    width_demand(s, x, DIVIDED);
    for (int k = 0; adds_up(x->def) && k < node_operand_count(x->def); k++)
        if (node_operand(x->def, k)->def)
            width_demand(s, node_operand(x->def, k), DIVIDED);
}

/* The table that makes z, one by what small numbers make most of; NULL: there is none. */
static const Node *reciprocal_of(const Value *z) {
    while (z->def && (z->def->op->traits & OP_MOVES_DATA))
        z = node_operand(z->def, 0);
    const Node *n = z->def;
    if (!n || !node_is(n, "corten::table") || n->float_kept)
        return NULL;
    const Observed *o = node_operand(n, 0)->observed;
    double a = o ? o->max : 0;
    bool steep =
        a > 0 && o->min >= 0 && table_at((void *)n, a / 16) > 2 * fabs(table_at((void *)n, a));
    return steep ? n : NULL;
}

/* The divisor's own steps are as large a part of the quotient as of the divisor: more where that is
 * small and the quotient, for that reason, large. */
#define DIVISOR_DB 46
static void demand_of_divisor(Sets *s, const Value *d, double z2) {
    if (d->def && set_varies(s, d) && squared_steps(s, d) / 12 * z2 > pow(10, -DIVISOR_DB / 10.0))
        width_demand(s, d, DIVIDED);
}

static void demand_of_quotient(Sets *s, Node *n) {
    const Value *divisor = node_operand(n, 1);
    const Observed *seen = divisor->observed;
    if (!divisor->def || !seen || seen->bin_count == 0 || n->float_kept)
        return;
    double z2 = observed_mean(seen, inverse_square);
    if (node_is(divisor->def, "corten::table") && !divisor->def->float_kept)
        demand_of_table(s, divisor->def, true);
    else
        demand_of_divisor(s, divisor, z2);
    demand_of_divided(s, node_operand(n, 0), z2, n->out[0]);
    if (is_demanded(s, node_operand(n, 0)) || is_demanded(s, divisor))
        demand_of_result(s, n);
}

static void demand_of_product(Sets *s, Node *n) {
    for (int k = 0; k < 2; k++) {
        const Value *z = node_operand(n, k), *x = node_operand(n, 1 - k);
        const Node *table = reciprocal_of(z);
        if (!table || !z->observed)
            continue;
        const Value *d = node_operand(table, 0);
        demand_of_divided(s, x, observed_mean(z->observed, square), n->out[0]);
        demand_of_divisor(s, d, observed_mean(d->observed, inverse_square));
        if (is_demanded(s, d))
            width_demand(s, z, DIVIDED); /* what 16 bits are looked up in has 16 */
        if (is_demanded(s, x) || is_demanded(s, z))
            demand_of_result(s, n);
    }
}

/* ---- sets ---------------------------------------------------------------------------------- */

/* Is all of the set made by nodes that do so, or moved? */
static bool is_made_by(Sets *s, int root, bool (*does)(const Node *n)) {
    for (int id = 0; id < s->count; id++) {
        const Node *def = s->g->value[id]->def;
        bool moved = def && ((def->op->traits & OP_MOVES_DATA) || joins_values(def));
        if (set_root(s, id) == root && !moved && !(def && does(def)))
            return false;
    }
    return true;
}

/* Means of which means are taken (a pool in three dims): in 8 bits they would be rounded twice. */
static bool holds_partial_means(Sets *s, int root) {
    const Node *reader = set_only_reader(s, root);
    return reader && averages(reader) && is_made_by(s, root, averages);
}

#define PRODUCTS "products that are multiplied on: 8 bits are too few"

/* Products that are multiplied among themselves (prod): most are far smaller than the largest. */
static bool holds_partial_products(Sets *s, int root) {
    const Node *reader = set_only_reader(s, root);
    return reader && multiplies(reader) && is_made_by(s, root, multiplies) &&
           set_root(s, node_operand(reader, 0)->id) == root && node_operand_count(reader) == 2 &&
           set_root(s, node_operand(reader, 1)->id) == root;
}

/* What holds numbers for which 8 bits are too few. Shares that the model itself gives keep 8: who
 * calls the model reads int8 unless --precision says otherwise. */
static void demand_of_set(Sets *s, int root) {
    const Value *v = s->g->value[root];
    if (state_maker(s, root)) /* whatever was asked for: its kernel has no other */
        s->demand[root] = "added to from step to step";
    else if ((holds_shares(s, root) && !is_output(s, root)) || holds_biased_scores(s, root))
        width_demand(s, v, "softmax over a long row: 8 bits are too few");
    else if (holds_partial_means(s, root))
        width_demand(s, v, "means of which means are taken");
    else if (holds_partial_products(s, root))
        width_demand(s, v, PRODUCTS);
}

/* ... and what all of them come to, of which most are far smaller than the largest too. */
static void demand_of_prod(Sets *s, const Node *n) {
    if (multiplies(n) && text_equal(node_operator(n), "prod"))
        width_demand(s, n->out[0], PRODUCTS);
}

/* Of a recurrent layer that no kernel takes whole (weights that are computed, projections): its
 * steps are nodes, and what each rounds is where the next one starts. */
static bool is_step_of_layer(const Node *n) {
    static const char *const layer[] = {"lstm",     "lstm_cell",     "gru",      "gru_cell",
                                        "rnn_tanh", "rnn_tanh_cell", "rnn_relu", "rnn_relu_cell"};
    for (int k = 0; k < n->out_count; k++)
        if (rule_of_output(n, k) == Q_STATE)
            return false;
    for (int i = 0; i < (int)COUNT_OF(layer); i++)
        if (text_equal(node_operator(n), layer[i]))
            return true;
    return false;
}

static void demand_of_step(Sets *s, const Node *n) {
    bool computes = !(n->op->traits & OP_MOVES_DATA) && !n->fused && is_step_of_layer(n);
    for (int k = 0; k < n->out_count && computes; k++)
        if (!is_output(s, set_root(s, n->out[k]->id)))
            width_demand(s, n->out[k], "added to from step to step");
}

/* ---- archives that are quantized already ---------------------------------------------------- */

static bool gives_grids(const Graph *g) {
    for (int id = 0; id < g->value_count; id++) {
        const Value *v = g->value[id];
        if (v->grid && v->grid->pinned && v->def) /* an input's is given by --input-scale too */
            return true;
    }
    return false;
}

/* Given weights and 16 bits before them: products of steps as fine as that may leave the bias no
 * room in 32 bits, and given weights cannot be made coarser. */
static bool has_given_weights(const Node *n) {
    const Value *w = node_takes(n, "weight") ? node_in(n, "weight") : NULL;
    return w && w->grid && w->grid->pinned;
}

/* Can n use 16 bits of a value of the set? */
static bool profits(Sets *s, const Node *n, int root) {
    if (n->float_kept || n->weight_bits == 4 || has_given_weights(n) || n->out_count == 0)
        return false;
    int out = set_root(s, n->out[0]->id);
    if ((n->op->traits & OP_WIDE_IN) || n->fused || node_is(n, "corten::table") ||
        joins_values(n) || out == root)
        return true;
    return (n->op->traits & OP_WIDE_ALIKE) && (!s->grid[out] || s->grid[out]->dtype == DT_I16);
}

static bool all_profit(Sets *s, int root) {
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root)
            continue;
        if (!v->def)
            return false;
        for (int u = 0; u < v->user_count; u++)
            if (!profits(s, v->user[u], root))
                return false;
    }
    return true;
}

/* Such an archive says where its values are rounded. What it gives no scale was float there, so
 * that the result on a given grid hangs on how little is lost here: between the steps of a
 * composite, and around operators that the quantizer left alone. */
static void demand_of_float(Sets *s) {
    bool given = gives_grids(s->g);
    for (int id = 0; id < s->count && given; id++)
        if (set_root(s, id) == id && all_profit(s, id))
            width_demand(s, s->g->value[id], "the archive rounds before and behind it, not here");
}

void demands_find(Sets *s) {
    states_demand(s);
    lanes_demand(s);
    for (Node *n = s->g->first; n; n = n->next)
        if (node_is(n, "corten::table") && !n->float_kept)
            demand_of_table(s, n, false);
        else if (n->op->lower == lower_div && node_operand_count(n) == 2)
            demand_of_quotient(s, n);
        else if (multiplies(n) && !n->float_kept && node_operand_count(n) == 2)
            demand_of_product(s, n);
    for (const Node *n = s->g->first; n; n = n->next) {
        demand_of_step(s, n);
        demand_of_prod(s, n);
    }
    for (int id = 0; id < s->count; id++)
        if (set_root(s, id) == id)
            demand_of_set(s, id);
    demand_of_float(s);
}
