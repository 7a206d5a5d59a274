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

static void find_variance(TableSeen *s) {
    double n = 0, sum = 0, squares = 0;
    for (int i = 0; i < s->count; i++) {
        n += s->n[i];
        sum += s->n[i] * s->y[i];
    }
    for (int i = 0; i < s->count; i++)
        squares += s->n[i] * (s->y[i] - sum / n) * (s->y[i] - sum / n);
    s->variance = squares;
}

TableSeen *table_seen(C *c, const Node *table, const Observed *x, const Observed *y) {
    int direction = y && y->bin_count > 0 ? direction_of(table, x->min, x->max) : 0;
    const Observed *from = direction ? y : x;
    TableSeen *s = NEW(c, TableSeen);
    s->x = NEW_ARRAY(c, double, from->bin_count + 1);
    s->y = NEW_ARRAY(c, double, from->bin_count + 1);
    s->n = NEW_ARRAY(c, double, from->bin_count + 1);
    for (int i = 0; i < from->bin_count; i++) {
        double at = from->bin_low + (i + 0.5) * from->bin_width;
        bool beside_zero = i == from->bin_count / 2 || i == from->bin_count / 2 - 1;
        if (from->bin[i] == 0 || (!direction && beside_zero))
            continue;
        double arg = direction ? inverse(table, x->min, x->max, direction, at) : at;
        double result = value_at(table, arg);
        if (isfinite(result))
            add(s, arg, result, (double)from->bin[i]);
    }
    find_variance(s);
    return s;
}

static double share(const TableSeen *s, double cost) {
    return s->variance > 0 ? cost / s->variance : 0;
}

double table_lost_rounded(const TableSeen *s, const Node *table, double step, double low,
                          double high) {
    double cost = 0;
    for (int i = 0; i < s->count; i++) {
        double x = fmin(fmax(step * rint(s->x[i] / step), low), high);
        double error = value_at(table, x) - s->y[i];
        cost += isfinite(error) ? s->n[i] * error * error : 0;
    }
    return share(s, cost);
}

/* ---- interpolation -------------------------------------------------------------------------- */

typedef struct { /* poles are on the rails */
    const Node *table;
    double low, high;
} Entries;

static double entry(const Entries *e, double x) {
    return fmin(fmax(value_at(e->table, x), e->low), e->high);
}

/* Halves that keep nearly all of the change lead to a jump; a root's or a logarithm's lose it. */
static bool jumps(const Entries *e, double a, double b) {
    double change = fabs(entry(e, b) - entry(e, a)), now = change;
    for (int i = 0; i < 24 && now > 0; i++) {
        double middle = (a + b) / 2;
        double left = fabs(entry(e, middle) - entry(e, a));
        double right = fabs(entry(e, b) - entry(e, middle));
        *(left > right ? &b : &a) = middle;
        now = fmax(left, right);
    }
    return now > change / 4;
}

double table_lost_between(const TableSeen *s, const Node *table, double scale) {
    Entries e = {table, HUGE_VAL, -HUGE_VAL};
    double cost = 0, apart = 128 * scale;
    for (int i = 0; i < s->count; i++) {
        e.low = fmin(e.low, s->y[i]);
        e.high = fmax(e.high, s->y[i]);
    }
    for (int i = 0; i < s->count; i++) {
        double at = floor(s->x[i] / apart), from = at * apart, to = (at + 1) * apart;
        if (jumps(&e, from, to))
            return HUGE_VAL;
        double between =
            entry(&e, from) + (entry(&e, to) - entry(&e, from)) * (s->x[i] / apart - at);
        cost += s->n[i] * (between - s->y[i]) * (between - s->y[i]);
    }
    return share(s, cost);
}
