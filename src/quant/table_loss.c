/* What rounding before a table takes from what the table makes. Numbers that share the histogram's
 * bin with zero may differ by orders of magnitude, and a square root or a logarithm makes much of
 * that: where the function is monotonic, the histogram of its results says where they were. */
#include "quant/quant.h"

#include "lower/lower.h"

#include <math.h>

/* Between these, f is evaluated to see whether it is monotonic. */
enum { PROBES = 64, BISECTIONS = 48 };

static double value_at(const Node *table, double x) {
    return table_body_eval(table, x);
}

/* What is made of a result of the table. */
static double used(const TableSeen *s, double y) {
    return s->divides ? 1 / y : y;
}

/* 1: f rises from low to high, -1: it falls, 0: neither, or it has no numbers somewhere. */
static int direction_of(const Node *table, double low, double high) {
    int direction = 0;
    double before = value_at(table, low);
    for (int i = 1; i <= PROBES; i++) {
        double now = value_at(table, low + (high - low) * i / PROBES);
        int step = (now > before) - (now < before);
        if (!isfinite(now) || (step && direction && step != direction))
            return 0;
        direction = step ? step : direction;
        before = now;
    }
    return isfinite(value_at(table, low)) ? direction : 0;
}

static double inverse(const Node *table, double low, double high, int direction, double y) {
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        *((value_at(table, middle) - y) * direction < 0 ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

static void add(TableSeen *s, double x, double y, double n) {
    s->x[s->count] = x;
    s->y[s->count] = y;
    s->n[s->count++] = n;
}

/* What a quotient is multiplied with has a size, so that a divisor's inverse is all signal. */
static void find_variance(TableSeen *s) {
    double n = 0, sum = 0, squares = 0;
    for (int i = 0; i < s->count; i++) {
        n += s->n[i];
        sum += s->n[i] * s->y[i];
    }
    double mean = s->divides ? 0 : sum / n;
    for (int i = 0; i < s->count; i++)
        squares += s->n[i] * (s->y[i] - mean) * (s->y[i] - mean);
    s->variance = squares;
}

TableSeen *table_seen(C *c, const Node *table, const Observed *x, const Observed *y, bool divides) {
    int direction = y && y->bin_count > 0 ? direction_of(table, x->min, x->max) : 0;
    const Observed *from = direction ? y : x;
    TableSeen *s = NEW(c, TableSeen);
    s->divides = divides;
    s->x = NEW_ARRAY(c, double, from->bin_count + 1);
    s->y = NEW_ARRAY(c, double, from->bin_count + 1);
    s->n = NEW_ARRAY(c, double, from->bin_count + 1);
    for (int i = 0; i < from->bin_count; i++) {
        double at = from->bin_low + (i + 0.5) * from->bin_width;
        bool beside_zero = i == from->bin_count / 2 || i == from->bin_count / 2 - 1;
        if (from->bin[i] == 0 || (!direction && beside_zero))
            continue;
        double arg = direction ? inverse(table, x->min, x->max, direction, at) : at;
        double result = used(s, value_at(table, arg));
        if (isfinite(result))
            add(s, arg, result, (double)from->bin[i]);
    }
    find_variance(s);
    return s;
}

static double share(const TableSeen *s, double cost) {
    return s->variance > 0 ? cost / s->variance : 0;
}

double table_lost_rounded(const TableSeen *s, const Node *table, const Rounded *r) {
    double cost = 0;
    for (int i = 0; i < s->count; i++) {
        double near = fabs(s->x[i]) < r->least ? 0 : r->step * rint(s->x[i] / r->step);
        double x = fmin(fmax(near, r->low), r->high);
        double error = used(s, value_at(table, x)) - s->y[i];
        cost += isfinite(error) ? s->n[i] * error * error : 0;
    }
    return share(s, cost);
}

/* ---- jumps ---------------------------------------------------------------------------------- */

typedef struct { /* poles are on the rails */
    const TableSeen *seen;
    const Node *table;
    double low, high;
} Rails;

static double within(const Rails *r, double x) {
    return fmin(fmax(used(r->seen, value_at(r->table, x)), r->low), r->high);
}

/* Halves that keep nearly all of the change lead to a jump; a root's or a logarithm's lose it. */
static bool jumps(const Rails *r, double a, double b) {
    double change = fabs(within(r, b) - within(r, a)), now = change;
    for (int i = 0; i < 24 && now > 0; i++) {
        double middle = (a + b) / 2;
        double left = fabs(within(r, middle) - within(r, a));
        double right = fabs(within(r, b) - within(r, middle));
        *(left > right ? &b : &a) = middle;
        now = fmax(left, right);
    }
    return now > change / 4;
}

bool table_jumps(const TableSeen *s, const Node *table, double apart) {
    Rails r = {s, table, HUGE_VAL, -HUGE_VAL};
    bool any = false;
    for (int i = 0; i < s->count; i++) {
        r.low = fmin(r.low, s->y[i]);
        r.high = fmax(r.high, s->y[i]);
    }
    for (int i = 0; i < s->count && !any; i++) {
        double at = floor(s->x[i] / apart);
        any = jumps(&r, at * apart, (at + 1) * apart);
    }
    return any;
}
