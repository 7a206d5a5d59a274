/* Constants as integers: weights symmetric per channel, biases at the product of two scales, other
 * operands on the grid of their exact range. Needs the grids of all activations. A constant is
 * turned in place for its first reader; a reader that needs other integers gets its own copy. */
#include "quant/quant.h"

#include "lower/float.h"

#include <math.h>
#include <string.h>

/* Bias plus products must stay below 2^31: half of it is the bias's. */
#define BIAS_LIMIT 0x1p30

typedef struct {
    C *c;
    Graph *g;
    Array **original; /* by value id: the float data of a constant that was turned; NULL */
    int original_count;
} Constants;

static const Array *real_data(const Constants *k, const Value *v) {
    return v->id < k->original_count && k->original[v->id] ? k->original[v->id] : v->constant;
}

static void remember(Constants *k, const Value *v) {
    if (v->id >= k->original_count) {
        Array **grown = NEW_ARRAY(k->c, Array *, k->g->value_count);
        memcpy(grown, k->original, (size_t)k->original_count * sizeof *grown);
        k->original = grown;
        k->original_count = k->g->value_count;
    }
    k->original[v->id] = v->constant;
}

static int32_t saturate(double q, const Grid *grid) {
    DType dtype = grid->dtype;
    double top = dtype == DT_I8 ? 127 : dtype == DT_I16 ? 32767 : 2147483647;
    double bottom = dtype == DT_I8 ? -128 : dtype == DT_I16 ? -32768 : -2147483648.0;
    if (grid->bits == 4) {
        top = 7;
        bottom = -7;
    }
    return (int32_t)fmin(fmax(q, bottom), top);
}

static Array *to_integers(C *c, const Array *a, const Grid *grid) {
    Array *q = array_new(c, grid->dtype, a->rank, a->dim);
    int64_t inner = 1, count = array_count(a);
    int axis = grid->part[0].axis;
    for (int d = axis + 1; axis >= 0 && d < a->rank; d++)
        inner *= a->dim[d];
    for (int64_t i = 0; i < count; i++) {
        int64_t part = axis < 0 ? 0 : i / inner % a->dim[axis];
        const Part *p = &grid->part[part];
        double r = rint(array_get(a, i) / p->scale) + p->zero_point;
        array_set_int(q, i, saturate(r, grid));
    }
    return q;
}

/* The constant v on the grid: v itself, or a copy if v already has another. `integers`: NULL for
 * the nearest ones. */
static Value *turned(Constants *k, Value *v, Grid *grid, Array *integers) {
    if (v->grid && grid_equal(v->grid, grid))
        return v;
    if (!integers)
        integers = to_integers(k->c, real_data(k, v), grid);
    if (v->grid) {
        Value *copy = value_constant(k->g, v->name, integers);
        copy->type = v->type;
        copy->grid = grid;
        return copy;
    }
    remember(k, v);
    v->constant = integers;
    v->grid = grid;
    return v;
}

/* The largest power of two that x is a multiple of. */
static double step_of(double x) {
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(fabs(x), &exponent), 53);
    return ldexp((double)(mantissa & -mantissa), exponent - 53);
}

Grid *grid_of_range(C *c, const Array *a, int bits) {
    double low = 0, high = 0, step = INFINITY, most = ldexp(1, bits - 1) - 1;
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++) {
        double x = array_get(a, i);
        low = fmin(low, x);
        high = fmax(high, x);
        step = x != 0 ? fmin(step, step_of(x)) : step;
    }
    if (fmax(-low, high) > 0 && fmax(-low, high) <= most * step)
        return grid_affine(c, -(most + (bits != 16)) * step, most * step, bits);
    return grid_affine(c, low, high, bits);
}

static bool is_wide(const Value *v) {
    return v->grid && v->grid->dtype == DT_I16;
}

static int rule_index(const Node *n, QKind kind) {
    for (int i = 0; i < n->arg_count && i < (int)COUNT_OF(n->op->quant.in); i++)
        if (n->op->quant.in[i] == kind)
            return i;
    return -1;
}

static Value *ruled_constant(const Graph *g, const Node *n, QKind kind) {
    int i = rule_index(n, kind);
    if (i < 0 || n->arg[i].kind != ARG_VALUE || !value_is_fixed(g, n->arg[i].u.value))
        return NULL;
    return n->arg[i].u.value;
}

/* The least scale of each channel's weights: one whose weights are nearly zero would need a bias
 * beyond int32. */
static double *least_scales(const Constants *k, const Node *n, int channels, const Grid *input) {
    /* int16 inputs come near the limit more often: room for what rounding shifts */
    double limit = input->dtype == DT_I16 ? BIAS_LIMIT / 2 : BIAS_LIMIT;
    double *least = NEW_ARRAY(k->c, double, channels);
    const Value *bias = ruled_constant(k->g, n, Q_BIAS);
    const Array *b = bias && !bias->grid ? real_data(k, bias) : NULL;
    for (int i = 0; b && i < channels && i < array_count(b); i++) {
        double scale = fabs(array_get(b, i)) / (input->part[0].scale * limit);
        if (n->weight_bits == 4)
            scale *= 16; /* kernels have 16 times such weights (grid_unit) */
        least[i] = (double)(float)(scale * (1 + 1e-6));
    }
    return least;
}

/* The largest accumulator of the node must survive the left shift of its requantization: the
 * output's scale is raised if it is too fine for that. Returns the scale needed. */
static double least_output_scale(const Value *weight, const Value *bias, double input_scale) {
    const Grid *grid = weight->grid;
    int64_t count = array_count(weight->constant);
    int axis = grid->part[0].axis;
    int64_t inner = 1, channels = axis < 0 ? 1 : weight->constant->dim[axis];
    for (int d = axis + 1; axis >= 0 && d < weight->constant->rank; d++)
        inner *= weight->constant->dim[d];
    double products = (double)(count / (channels > 0 ? channels : 1)) * 127 * 255, least = 0;
    (void)inner;
    for (int i = 0; i < grid->part_count; i++) {
        double add = bias && grid->part_count == array_count(bias->constant)
                         ? fabs((double)array_get_int(bias->constant, i))
                     : bias ? BIAS_LIMIT
                            : 0;
        /* multiplier < 2^shift <= 2 multiplier, and 2^shift * accumulator < 2^31 */
        least = fmax(least, input_scale * grid_unit(grid, i) * (products + add) * 0x1p-30);
    }
    return least;
}

/* Wide sums are kept in 64 bits: only the shift has a limit (runtime/wide.h). */
static double least_wide_scale(const Value *weight, double input_scale) {
    double largest = 0;
    for (int i = 0; i < weight->grid->part_count; i++)
        largest = fmax(largest, weight->grid->part[i].scale);
    return input_scale * largest * 0x1p-14;
}

/* The bias takes up what rounding has taken from the mean of the results. */
static void shift_bias(Constants *k, Node *n, int64_t channels, const double *shift) {
    int i = rule_index(n, Q_BIAS);
    const Value *old = ruled_constant(k->g, n, Q_BIAS);
    if (i < 0 || (n->arg[i].kind == ARG_VALUE && (!old || old->grid)))
        return;
    Array *b = array_new(k->c, DT_F32, 1, &channels);
    for (int64_t o = 0; o < channels; o++)
        array_set(b, o, (old ? array_get(old->constant, o) : 0) + shift[o]);
    Value *v = value_constant(k->g, old ? old->name : c_format(k->c, "%s_bias", n->name), b);
    n->arg[i] = arg_value(v);
}

/* The weight's integers rounded with compensation, if calibration has seen enough; else NULL. */
/* What the integers of n's input, rounded and clipped as they are, take from the mean of each
 * output: its weights times the mean errors, as far as the patches tell. */
static void add_input_losses(Constants *k, const Node *n, const Array *w, double *shift) {
    const Grid *in = node_operand(n, 0)->grid;
    int64_t depth = patches_depth(n->patches), rows = patches_rows(n->patches);
    int64_t groups = patches_groups(n->patches), width = groups * depth;
    int64_t channels = w->dim[0], count = array_count(w);
    if (in->part_count != 1 || rows < 1 || count != channels * depth || channels % groups != 0)
        return;
    double scale = in->part[0].scale, zero = in->part[0].zero_point;
    double low = in->dtype == DT_I16 ? -32767 : -128, high = in->dtype == DT_I16 ? 32767 : 127;
    double *lost = NEW_ARRAY(k->c, double, width), *square = NEW_ARRAY(k->c, double, width);
    const float *x = patches_data(n->patches);
    for (int64_t i = 0; i < rows * width; i++) {
        double q = scale * (fmin(fmax(rint((double)x[i] / scale) + zero, low), high) - zero);
        lost[i % width] += ((double)x[i] - q) / (double)rows;
        square[i % width] += ((double)x[i] - q) * ((double)x[i] - q) / (double)rows;
    }
    /* a mean is believed by how far it stands out of its own uncertainty */
    for (int64_t i = 0; i < width; i++) {
        double mean = lost[i] * lost[i], spread = (square[i] - mean) / (double)rows;
        lost[i] *= mean > 0 ? mean / (mean + fmax(spread, 0)) : 0;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t o = i / depth, group = o / (channels / groups);
        shift[o] += array_get(w, i) * lost[group * depth + i % depth];
    }
}

static Array *compensated(Constants *k, Node *n, const Value *w, Grid *grid, const double *least) {
    if (!n->patches || w->grid || n->op->quant.weight_axis != 0)
        return NULL;
    int64_t channels = w->type.dim[0];
    double *shift = NEW_ARRAY(k->c, double, channels);
    double *taken = NEW_ARRAY(k->c, double, channels);
    Array *q = array_new(k->c, DT_I8, w->type.rank, w->type.dim);
    add_input_losses(k, n, real_data(k, w), taken);
    if (!round_weights(k->c, n->patches, real_data(k, w), grid, least, q->data, shift))
        return NULL;
    for (int64_t o = 0; o < channels; o++)
        shift[o] += taken[o];
    shift_bias(k, n, channels, shift);
    return q;
}

static void turn_weight(Constants *k, Node *n) {
    int i = rule_index(n, Q_WEIGHT);
    Value *w = ruled_constant(k->g, n, Q_WEIGHT);
    const Value *x = node_operand(n, 0);
    if (!w || !x->grid || (w->grid && w->grid->pinned))
        return;
    const Array *real = real_data(k, w);
    int axis = n->op->quant.weight_axis, bits = n->weight_bits == 4 ? 4 : 8;
    Grid *grid = grid_symmetric_per_channel(k->c, real, axis, bits);
    const double *least = least_scales(k, n, grid->part_count, x->grid);
    for (int p = 0; p < grid->part_count; p++)
        grid->part[p].scale = fmax(grid->part[p].scale, least[p]);
    Array *integers = compensated(k, n, w, grid, least);
    if (!integers && bits == 4)
        shrink_scales(real, grid, least);
    n->arg[i] = arg_value(turned(k, w, grid, integers));
}

static Grid *bias_grid(C *c, const Value *x, const Value *w, int64_t channels) {
    Grid *grid = NEW(c, Grid);
    grid->dtype = DT_I32;
    grid->bits = 32;
    grid->part_count = (int)channels;
    grid->part = NEW_ARRAY(c, Part, channels);
    for (int64_t i = 0; i < channels; i++) {
        int k = w->grid->part_count == channels ? (int)i : 0;
        grid->part[i] = (Part){.axis = 0,
                               .start = i,
                               .stop = i + 1,
                               .scale = x->grid->part[0].scale * grid_unit(w->grid, k)};
    }
    return grid;
}

static void turn_bias(Constants *k, Node *n) {
    int i = rule_index(n, Q_BIAS), wi = rule_index(n, Q_WEIGHT);
    Value *b = ruled_constant(k->g, n, Q_BIAS);
    if (!b || wi < 0 || n->arg[wi].kind != ARG_VALUE || b->type.rank != 1)
        return;
    const Value *x = node_operand(n, 0), *w = n->arg[wi].u.value;
    if (!x->grid || !w->grid || (b->grid && b->grid->pinned))
        return;
    Grid *grid = bias_grid(k->c, x, w, b->type.dim[0]);
    const Array *real = real_data(k, b);
    for (int64_t j = 0; j < b->type.dim[0]; j++)
        if (fabs(array_get(real, j) / grid->part[j].scale) > BIAS_LIMIT) {
            diag_error(k->c, DIAG_MODEL, &n->loc,
                       "bias %g of channel %lld exceeds int32 at scale %g", array_get(real, j),
                       (long long)j, grid->part[j].scale);
            return;
        }
    n->arg[i] = arg_value(turned(k, b, grid, NULL));
}

static void raise_output(Constants *k, Node *n) {
    const Value *w = ruled_constant(k->g, n, Q_WEIGHT), *b = ruled_constant(k->g, n, Q_BIAS);
    const Value *x = node_operand(n, 0);
    Grid *out = n->out[0]->grid;
    if (!w || !w->grid || !x->grid || !out)
        return;
    double least = is_wide(x) || is_wide(n->out[0])
                       ? least_wide_scale(w, x->grid->part[0].scale)
                       : least_output_scale(w, b && b->grid ? b : NULL, x->grid->part[0].scale);
    if (out->part[0].scale >= least)
        return;
    if (out->pinned)
        diag_error(k->c, DIAG_MODEL, &n->loc,
                   "output scale %g is too fine for 32-bit accumulators, needs %g",
                   out->part[0].scale, least);
    else
        out->part[0].scale = (double)(float)(least * (1 + 1e-6));
}

/* All operands of such a node have the width of its result. */
static bool reads_wide_alike(const Node *n) {
    return (n->op->traits & OP_WIDE_ALIKE) && is_wide(n->out[0]);
}

/* What moves an int16 result into place moves constants too: as they are. */
static bool joins_wide(const Node *n) {
    return is_wide(n->out[0]) && n->out[0]->grid->part_count == 1 &&
           !(n->op->traits & (OP_WIDE_IN | OP_WIDE_ALIKE));
}

/* Any other constant that a kernel reads beside activations. */
static void turn_operand(Constants *k, Node *n, Arg *a, QKind kind) {
    if (a->kind == ARG_LIST) {
        for (int i = 0; i < a->u.list.count; i++)
            turn_operand(k, n, &a->u.list.item[i], kind);
        return;
    }
    if (a->kind != ARG_VALUE || !value_is_fixed(k->g, a->u.value))
        return;
    Value *v = a->u.value;
    if (!dtype_is_float(v->type.dtype) || kind == Q_RAW)
        return;
    if (v->grid && v->grid->pinned) {
        if (reads_wide_alike(n) && !is_wide(v)) /* a copy, with more bits */
            *a = arg_value(turned(k, v, grid_widened(k->c, v->grid), NULL));
        return;
    }
    Grid *grid = NULL;
    if (kind == Q_STATE)
        grid = state_grid(n);
    if (kind == Q_SAME)
        grid = node_operand(n, 0) != v ? node_operand(n, 0)->grid : n->out[0]->grid;
    if (!grid && joins_wide(n))
        grid = n->out[0]->grid;
    if (!grid)
        grid = grid_of_range(k->c, real_data(k, v), reads_wide_alike(n) ? 16 : 8);
    *a = arg_value(turned(k, v, grid, NULL));
}

/* A number no grid can hold. */
static bool constant_is_finite(Constants *k, const Node *n, const Value *v) {
    const Array *a = real_data(k, v);
    int64_t count = array_count(a);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(array_get(a, i))) {
            diag_error(k->c, DIAG_MODEL, &n->loc, "constant %s holds a number that is not finite",
                       v->name);
            return false;
        }
    return true;
}

static bool constants_are_finite(Constants *k, const Node *n) {
    int count = node_operand_count(n);
    for (int i = 0; i < count; i++) {
        const Value *v = node_operand(n, i);
        if (value_is_fixed(k->g, v) && dtype_is_float(v->type.dtype) && !v->grid &&
            !constant_is_finite(k, n, v))
            return false;
    }
    return true;
}

/* Constants that the model gives out as they are. */
static void turn_outputs(Constants *k) {
    for (int i = 0; i < k->g->output_count; i++) {
        Arg *a = &k->g->output[i];
        Value *v = a->kind == ARG_VALUE && value_is_fixed(k->g, a->u.value) ? a->u.value : NULL;
        if (v && dtype_is_float(v->type.dtype) && !v->grid)
            *a = arg_value(turned(k, v, grid_of_range(k->c, real_data(k, v), 8), NULL));
    }
}

/* What a state holds before the first run, and what a run always leaves in it. */
static void turn_states(Constants *k) {
    for (int i = 0; i < k->g->state_count; i++) {
        State *s = &k->g->state[i];
        Value *before = s->before, *after = s->after;
        if (!before->grid)
            continue;
        if (before->initial && before->initial->dtype != before->grid->dtype)
            before->initial = to_integers(k->c, before->initial, before->grid);
        if (value_is_fixed(k->g, after) && dtype_is_float(after->type.dtype))
            s->after = turned(k, after, before->grid, NULL);
    }
}

void quantize_constants(C *c, Graph *g, const Options *o) {
    Constants k = {.c = c, .g = g, .original_count = g->value_count};
    k.original = NEW_ARRAY(c, Array *, g->value_count);
    for (Node *n = g->first; n; n = n->next) {
        if (n->float_kept || n->fused || node_operand_count(n) == 0)
            continue;
        Diag *mark = c->last_diag;
        if (!constants_are_finite(&k, n)) {
            float_wanted(c, g, o, n, mark);
            continue;
        }
        turn_weight(&k, n);
        turn_bias(&k, n);
        raise_output(&k, n);
        for (int i = 0; i < n->arg_count; i++) {
            QKind kind = i < (int)COUNT_OF(n->op->quant.in) ? n->op->quant.in[i] : Q_DEFAULT;
            if (kind != Q_WEIGHT && kind != Q_BIAS)
                turn_operand(&k, n, &n->arg[i], kind);
        }
    }
    turn_outputs(&k);
    turn_states(&k);
}
