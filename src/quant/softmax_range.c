/* What a softmax sees and gives. It sees differences to the largest of a row, so numbers far below
 * that may be clipped at no cost, and the steps that this saves count where the largest are close.
 * For short rows, those that calibration has kept say what each range costs; for long ones nothing
 * is clipped, and what 8 bits are too few for has 16. */
#include "quant/sets.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 64 };

/* The largest numbers must never be clipped: rows that differ would look the same. How far new rows
 * may go beyond those seen shrinks with the root of their number (measured on the model zoo). */
#define UNSEEN 2.0

typedef struct {
    int64_t depth;
    double beta;
    double *p, *clipped; /* [depth] */
} Row;

/* softmax of beta * max(x, low) */
static void softmax_row(const Row *r, const float *x, double low, double *p) {
    double top = low, sum = 0;
    for (int64_t i = 0; i < r->depth; i++)
        top = fmax(top, (double)x[i]);
    for (int64_t i = 0; i < r->depth; i++)
        sum += p[i] = exp(r->beta * (fmax((double)x[i], low) - top));
    for (int64_t i = 0; i < r->depth; i++)
        p[i] /= sum;
}

/* Squared error of a row's results on the range from low on, with steps of `step`: what clipping
 * does, and the mean of what roundings do (by the derivative p_i (d_ij - p_j)). */
static double row_cost(const Row *r, const float *x, double low, double step) {
    softmax_row(r, x, low, r->clipped);
    double squares = 0, cost = 0;
    for (int64_t i = 0; i < r->depth; i++)
        squares += r->p[i] * r->p[i];
    for (int64_t i = 0; i < r->depth; i++) {
        double d = r->clipped[i] - r->p[i], p = r->p[i];
        cost += d * d + p * p * (1 - 2 * p + squares) * r->beta * r->beta * step * step / 12;
    }
    return cost;
}

void range_through_softmax(C *c, const Patches *p, double beta, const Observed *o, double *low,
                           double *high) {
    Row r = {.depth = patches_depth(p), .beta = beta};
    r.p = NEW_ARRAY(c, double, r.depth);
    r.clipped = NEW_ARRAY(c, double, r.depth);
    double cost[CANDIDATES] = {0};
    for (int64_t k = 0; k < patches_rows(p); k++) {
        const float *x = patches_data(p) + k * r.depth;
        softmax_row(&r, x, -HUGE_VAL, r.p);
        for (int i = 0; i < CANDIDATES; i++) {
            double a = o->min * (CANDIDATES - i) / CANDIDATES;
            cost[i] += row_cost(&r, x, a, (o->max - a) / 255);
        }
    }
    int best = 0;
    for (int i = 1; i < CANDIDATES; i++)
        if (cost[i] < cost[best])
            best = i;
    *low = o->min * (CANDIDATES - best) / CANDIDATES;
    *high = o->max;
    *high *= 1 + UNSEEN / sqrt((double)patches_rows(p));
}

/* ---- long rows ---------------------------------------------------------------------------- */

static bool is_long(const Node *n) {
    return node_is(n, "corten::softmax_scaled");
}

static bool makes_scores(const Node *n) {
    double factor;
    return node_is(n, "corten::matmul") || node_is(n, "aten::add.Tensor") ||
           (node_is(n, "corten::table") && is_scaling(n, &factor));
}

/* Do the values of the set become scores within so many nodes? */
static bool is_scored(Sets *s, int root, int nodes) {
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        for (int u = 0; set_root(s, id) == root && u < v->user_count; u++) {
            const Node *n = v->user[u];
            if (is_long(n) || (nodes > 0 && makes_scores(n) &&
                               is_scored(s, set_root(s, n->out[0]->id), nodes - 1)))
                return true;
        }
    }
    return false;
}

bool holds_scores(Sets *s, int root) {
    enum { NODES = 3 }; /* a product, its scale, a bias */
    return is_scored(s, root, NODES);
}

void range_of_scores(const Value *v, const Observed *seen, double *low, double *high) {
    int64_t depth = v->type.rank > 0 ? v->type.dim[v->type.rank - 1] : 1;
    double rows = (double)seen->count / (double)(depth > 0 ? depth : 1);
    double room = 1 + UNSEEN / sqrt(fmax(rows, 4));
    *low = room * seen->min;
    *high = room * seen->max;
}

bool holds_shares(const Sets *s, int root) {
    const Node *def = s->g->value[root]->def;
    return def && is_long(def);
}

bool holds_biased_scores(Sets *s, int root) {
    const Node *def = s->g->value[root]->def, *reader = set_only_reader(s, root);
    return def && reader && node_is(def, "aten::add.Tensor") && is_long(reader);
}
