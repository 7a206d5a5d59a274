/* Lanes of unlike ranges: what readers take apart (gates, sensors that are channels of one input)
 * or what weights make alike lies on one grid, of which the lanes with small numbers get few steps,
 * and so do those far from zero that vary little. Where a layer's weights make the value, pass
 * apart has helped; all others get 16 bits, if 8 would leave a lane too little. */
#include "quant/sets.h"

#include <math.h>

/* So many decibels must be left of a lane, or of what weights make of all of them ... */
#define LANE_DB 25
/* ... unless steps of its own would be no finer than this part of the common ones: then it is not
 * the others that cost it. */
#define OWN_STEP 0.5

/* ... and 16 bits have to keep a tenth of it. */
#define WIDE_LOSS 0.1
#define LANES "lanes of unlike ranges share its steps"
#define FAR_FROM_ZERO "far from zero: 8 bits have too few steps for what varies"

typedef struct {
    double common, wide; /* the steps of the value's grid with 8 bits and with 16 */
} Steps;

/* Squares: lost by the common steps, by steps of its own, by 16 bits; what varies. */
typedef struct {
    double common, own, wide, signal;
} Loss;

static bool is_starved(const Loss *l) {
    return l->signal > 0 && l->common > pow(10, -LANE_DB / 10.0) * l->signal &&
           l->own < OWN_STEP * OWN_STEP * l->common && l->wide < WIDE_LOSS * l->signal;
}

static double variance_of_step(double step) {
    return step * step / 12;
}

/* ---- a value that is read as a whole ------------------------------------------------------- */

static double itself(double x) {
    return x;
}

static double square(double x) {
    return x * x;
}

static Loss loss_of_seen(const Observed *o, const Steps *step) {
    double low, high, mean = observed_mean(o, itself);
    observed_ends(o, &low, &high);
    if (low > high)
        return (Loss){0};
    return (Loss){variance_of_step(step->common), variance_of_step((high - low) / 255),
                  variance_of_step(step->wide), fmax(observed_mean(o, square) - mean * mean, 0)};
}

/* ---- a value whose lanes are weighed ------------------------------------------------------- */

static double squared_error(double x, double step) {
    double error = x - step * rint(x / step);
    return error * error;
}

/* Of what weights multiply in places that are one channel's: columns of the patches, times the
 * weights' squares. */
static void add_channel(Loss *l, const Node *n, int64_t first, int64_t taps, const Steps *step) {
    const Patches *p = n->patches;
    const Array *w = node_in(n, "weight")->constant;
    int64_t depth = patches_depth(p), groups = patches_groups(p), out = w->dim[0] / groups;
    int64_t group = first / depth, rows = patches_rows(p);
    double low = HUGE_VAL, high = -HUGE_VAL, weights = 0, rounded = 0;
    for (int64_t at = first; at < first + taps; at++) {
        double weight = 0, sum = 0, squares = 0, common = 0, wide = 0;
        for (int64_t o = group * out; o < (group + 1) * out; o++)
            weight += pow(array_get(w, o * depth + at % depth), 2) / (double)rows;
        for (int64_t r = 0; r < rows; r++) {
            double v = (double)patches_data(p)[r * depth * groups + at];
            sum += v;
            squares += v * v;
            common += squared_error(v, step->common);
            wide += squared_error(v, step->wide);
            low = fmin(low, v);
            high = fmax(high, v);
        }
        weights += weight * (double)rows;
        rounded += weight * common;
        l->wide += weight * wide;
        l->signal += weight * fmax(squares - sum / (double)rows * sum, 0);
    }
    l->common += rounded;
    l->own += fmin(weights * variance_of_step((high - low) / 255), rounded);
}

static Loss loss_in_weights(const Node *n, const Steps *step) {
    Loss l = {0};
    const Type *w = &node_in(n, "weight")->type;
    int64_t depth = patches_depth(n->patches), taps = w->dim[1] > 0 ? depth / w->dim[1] : depth;
    for (int64_t at = 0; at < patches_groups(n->patches) * depth; at += taps)
        add_channel(&l, n, at, taps, step);
    return l;
}

static bool weighs(const Node *n, const Value *v) {
    const Value *w = n->patches && node_takes(n, "weight") ? node_in(n, "weight") : NULL;
    return w && w->constant && node_operand(n, 0) == v && patches_rows(n->patches) > 0;
}

/* ---- sets ---------------------------------------------------------------------------------- */

/* Does n starve for what it reads of v, on a grid of such steps? */
static bool reader_starves(const Node *n, const Value *v, const Steps *step) {
    Loss l = {0};
    if (weighs(n, v))
        l = loss_in_weights(n, step);
    else if (v->observed && v->observed->bin_count > 0)
        l = loss_of_seen(v->observed, step);
    return is_starved(&l);
}

static const Value *input_of(Sets *s, int root) {
    for (int id = 0; id < s->count; id++)
        if (set_root(s, id) == root && s->g->value[id]->role == ROLE_INPUT)
            return s->g->value[id];
    return NULL;
}

/* Of what the model computes only parts that are taken out of it by moving count: pass equalize
 * looks after what is read by weights. */
static bool counts(const Node *reader, const Value *v, bool outside) {
    bool moved = v->def && (v->def->op->traits & OP_MOVES_DATA);
    return outside || (moved && !weighs(reader, v));
}

/* A value of the set of which too little would be left for a reader; NULL: none. */
static const Value *starved_value(Sets *s, int root, const Steps *step) {
    bool outside = input_of(s, root) != NULL;
    for (int id = 0; id < s->count; id++) {
        const Value *v = s->g->value[id];
        for (int u = 0; set_root(s, id) == root && u < v->user_count; u++) {
            const Node *n = v->user[u];
            bool within = n->out_count > 0 && set_root(s, n->out[0]->id) == root;
            if (!within && !n->float_kept && counts(n, v, outside) && reader_starves(n, v, step))
                return v;
        }
    }
    return NULL;
}

/* Is it a range far from zero, rather than unlike lanes, that leaves the value too few steps? */
static bool is_far(const Value *lane) {
    double low, high;
    if (!lane->observed)
        return false;
    observed_ends(lane->observed, &low, &high);
    return (low > 0 || high < 0) && high - low < OWN_STEP * fmax(fabs(low), fabs(high));
}

/* What is rounded to 8 bits before the model gets it. */
static void warn_of_input(Sets *s, const Value *input, const Value *lane) {
    bool fixed = input->grid != NULL, far = is_far(lane);
    diag_warning(s->c, lane->def ? &lane->def->loc : NULL,
                 "input %s %s, of which %s leaves %s too few steps: %s%s", input->name,
                 far ? "is far from zero" : "has lanes of unlike ranges",
                 fixed ? "its int8 grid" : "int8", far ? "what varies" : "the smallest",
                 fixed ? "" : "take --io int16 or float, or ",
                 far ? "give it without its mean" : "give it as several inputs");
}

static bool gives_bytes(const Options *o) {
    return o->io == IO_INT8 || o->io == IO_UINT8;
}

/* The steps that the set gets, or would get with 16 bits. */
static Steps steps_of(Sets *s, int root) {
    const Observed *seen = s->seen[root];
    const Grid *grid = s->grid[root];
    double low, high;
    observed_range(s->c, seen, s->o->observer, 8, &low, &high);
    return (Steps){grid ? grid->part[0].scale : (high - low) / 255,
                   WIDE_ROOM * fmax(-seen->min, seen->max) / 32767};
}

/* Of fewer numbers nothing is told of what varies. */
#define FEW 32

/* A result like a constant plus little: a grid of 8 bits has to reach from zero to it. Who asks for
 * bytes gets them, and is warned of what they keep; an input that is handed through has its own. */
static void demand_of_output(Sets *s, int root, const Steps *step) {
    bool kept = gives_bytes(s->o) || input_of(s, root);
    for (int id = 0; id < s->count && !kept; id++) {
        const Value *v = s->g->value[id];
        if (set_root(s, id) != root || v->output_count == 0 || !v->observed ||
            v->observed->count < FEW)
            continue;
        Loss l = loss_of_seen(v->observed, step);
        if (is_starved(&l))
            width_demand(s, v, FAR_FROM_ZERO);
    }
}

void lanes_demand(Sets *s) {
    for (int root = 0; root < s->count; root++) {
        const Observed *seen = set_root(s, root) == root ? s->seen[root] : NULL;
        const Grid *grid = s->grid[root];
        if (!seen || seen->bin_count == 0 || !set_varies(s, s->g->value[root]) ||
            (grid && grid->dtype != DT_I8))
            continue;
        Steps step = steps_of(s, root);
        const Value *lane = starved_value(s, root, &step);
        const Value *input = lane ? input_of(s, root) : NULL;
        if (input && (gives_bytes(s->o) || input->grid))
            warn_of_input(s, input, lane);
        else if (lane)
            width_demand(s, lane, is_far(lane) ? FAR_FROM_ZERO : LANES);
        else
            demand_of_output(s, root, &step);
    }
}
