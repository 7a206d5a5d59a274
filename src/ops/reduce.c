/* What reductions over dims are made of (reductions.c): a scaled sum, an extremum, the place of an
 * extremum, and a running sum. They have kernels and read any physical order. */
#include "lower/float.h"
#include "ops/ops.h"

#include <string.h>

/* ---- which dims ----------------------------------------------------------------------------- */

Dims dims_read(C *c, const Node *n, const char *name, const Type *x) {
    Dims d = {.count = 1};
    const Schema *s = op_schema(n->op);
    const Arg *arg = NULL;
    for (int i = 0; i < s->arg_count; i++)
        if (strcmp(s->arg[i].name, name) == 0)
            arg = &n->arg[i];
    int64_t list[MAX_RANK];
    int count = 0;
    if (arg && arg->kind == ARG_INT) {
        list[0] = arg->u.i;
        count = 1;
    } else if (arg && arg->kind == ARG_LIST) {
        count = node_ints(n, name, list, MAX_RANK);
    }
    for (int i = 0; i < count && x->rank > 0; i++)
        d.reduced[dim_wrap(c, n, list[i], x->rank)] = true;
    for (int k = 0; k < x->rank; k++) {
        d.reduced[k] = d.reduced[k] || count == 0;
        d.count *= d.reduced[k] ? x->dim[k] : 1;
    }
    return d;
}

static void reduced_type(Node *n, DType dtype, const Dims *d, bool keepdim) {
    const Type *x = &node_in(n, "input")->type;
    int64_t dim[MAX_RANK];
    int rank = 0;
    for (int k = 0; k < x->rank; k++)
        if (!d->reduced[k] || keepdim)
            dim[rank++] = d->reduced[k] ? 1 : x->dim[k];
    node_set_type(n, 0, dtype, rank, dim);
}

/* Of internal rows: `dim` lists the dims exactly; an empty list reduces nothing. */
static Dims own_dims(C *c, const Node *n) {
    const Type *x = &node_in(n, "input")->type;
    int64_t any[MAX_RANK];
    if (node_arg(n, "dim")->kind == ARG_LIST && node_ints(n, "dim", any, MAX_RANK) == 0)
        return (Dims){.count = 1};
    return dims_read(c, n, "dim", x);
}

/* ---- walking -------------------------------------------------------------------------------- */

typedef struct { /* dims of a loop, outermost first, with element strides in the input */
    int count;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
} Loop;

static void loop_add(Loop *l, int64_t dim, int64_t stride) {
    l->dim[l->count] = dim;
    l->stride[l->count++] = stride;
}

/* The loop over kept dims in logical order, and that over reduced ones. */
static void loops_logical(const Type *x, const Dims *d, Loop *kept, Loop *reduced) {
    int64_t stride[MAX_RANK], step = 1;
    for (int k = x->rank - 1; k >= 0; k--) {
        stride[k] = step;
        step *= x->dim[k];
    }
    *kept = *reduced = (Loop){0};
    for (int k = 0; k < x->rank; k++)
        loop_add(d->reduced[k] ? reduced : kept, x->dim[k], stride[k]);
}

static int64_t loop_size(const Loop *l) {
    return dims_count(l->count, l->dim);
}

/* The offset of the loop's i-th step. */
static int64_t loop_offset(const Loop *l, int64_t i) {
    int64_t offset = 0;
    for (int k = l->count - 1; k >= 0; k--) {
        offset += i % l->dim[k] * l->stride[k];
        i /= l->dim[k];
    }
    return offset;
}

/* The offsets of all steps: the reduced dims are walked once for every output. */
static int64_t *loop_offsets(C *c, const Loop *l, int64_t *count) {
    *count = loop_size(l);
    int64_t *offset = NEW_ARRAY(c, int64_t, *count + 1);
    for (int64_t i = 0; i < *count; i++)
        offset[i] = loop_offset(l, i);
    return offset;
}

/* ---- scaled sum ----------------------------------------------------------------------------- */

static void sum_shape(C *c, Node *n) {
    Dims d = own_dims(c, n);
    reduced_type(n, node_in(n, "input")->type.dtype, &d, node_bool(n, "keepdim"));
}

static void sum_eval(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input");
    Array *y = eval_out(c, n, 0);
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_logical(&node_in(n, "input")->type, &d, &kept, &reduced);
    int64_t count;
    const int64_t *offset = loop_offsets(c, &reduced, &count);
    double factor = node_double(n, "factor");
    for (int64_t i = 0; i < loop_size(&kept); i++) {
        int64_t base = loop_offset(&kept, i), whole = 0;
        double sum = 0;
        if (x->dtype == DT_F32)
            for (int64_t k = 0; k < count; k++)
                sum += ((const float *)x->data)[base + offset[k]];
        else
            for (int64_t k = 0; k < count; k++)
                whole += array_get_int(x, base + offset[k]);
        if (x->dtype == DT_F32)
            array_set(y, i, sum * factor);
        else
            array_set_int(y, i, whole);
    }
}

/* Fills 6 dims of a kernel from a loop, padded in front with ones, dims of one left out and
 * neighbours merged where they are one run. False if more than 6 are left. */
static bool loop_pack(const Loop *l, int32_t dim[6], int32_t stride[6]) {
    int used = 6;
    for (int k = 0; k < 6; k++) {
        dim[k] = 1;
        stride[k] = 0;
    }
    for (int k = l->count - 1; k >= 0; k--) {
        if (l->dim[k] == 1)
            continue;
        if (used < 6 && l->stride[k] == (int64_t)stride[used] * dim[used]) {
            dim[used] *= (int32_t)l->dim[k];
            continue;
        }
        if (used == 0)
            return false;
        used--;
        dim[used] = (int32_t)l->dim[k];
        stride[used] = (int32_t)l->stride[k];
    }
    return true;
}

/* The kept dims in the physical order of the output, and the reduced ones from the outermost in,
 * with physical strides of the input. */
static void loops_physical(const Node *n, const Dims *d, Loop *kept, Loop *reduced) {
    const Value *x = node_in(n, "input"), *y = n->out[0];
    int64_t stride[MAX_RANK];
    int source[MAX_RANK] = {0}, rank = 0;
    value_strides(x, stride);
    *kept = *reduced = (Loop){0};
    bool keepdim = y->type.rank == x->type.rank;
    for (int k = 0; k < x->type.rank; k++)
        if (keepdim || !d->reduced[k])
            source[rank++] = k;
    for (int p = 0; p < y->type.rank; p++) {
        int k = source[y->order[p]];
        if (!d->reduced[k])
            loop_add(kept, x->type.dim[k], stride[k]);
    }
    for (int p = 0; p < x->type.rank; p++)
        if (d->reduced[x->order[p]])
            loop_add(reduced, x->type.dim[x->order[p]], stride[x->order[p]]);
}

static void too_many_dims(C *c, const Node *n) {
    const Type *x = &node_in(n, "input")->type;
    diag_error(c, DIAG_MODEL, &n->loc, "reduction of %s needs more than 6 loops",
               shape_text(c, x->rank, x->dim));
}

static bool is_int8(C *c, const Node *n, const Value *x, const char *what) {
    if (value_storage(x) == DT_I8)
        return true;
    diag_error(c, DIAG_MODEL, &n->loc, "%s of %s values has no integer form", what,
               dtype_name(value_storage(x)));
    return false;
}

/* Sums and extrema of integers; bools are sums' operands only after a conversion. */
static void int_lower(C *c, Graph *g, Node *n, int mode) {
    Value *x = node_in(n, "input");
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_physical(n, &d, &kept, &reduced);
    Call *call = call_new(c, g, n, CTN_KERNEL_reduce_int);
    CtnReduceIntArgs *a = call->args;
    if (!loop_pack(&kept, a->dim, a->in_stride) ||
        !loop_pack(&reduced, a->reduced, a->reduced_stride))
        too_many_dims(c, n);
    a->in_size = dtype_size(value_storage(x));
    a->out_size = dtype_size(value_storage(n->out[0]));
    a->mode = mode;
    call_in(call, &a->input, x);
    call_out(call, &a->output, n->out[0]);
}

static bool is_wide_integer(const Value *x) {
    return !x->grid && (x->type.dtype == DT_I32 || x->type.dtype == DT_I64);
}

static void sum_lower_wide(C *c, Graph *g, Node *n, Value *x) {
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_physical(n, &d, &kept, &reduced);
    bool maps = store_maps_s16(n);
    Call *call =
        call_new(c, g, n, maps ? CTN_KERNEL_reduce_sum_map_s16 : CTN_KERNEL_reduce_sum_s16);
    CtnReduceSumS16Args *a = call->args; /* with a function the first fields are the same */
    if (!loop_pack(&kept, a->dim, a->in_stride) ||
        !loop_pack(&reduced, a->reduced, a->reduced_stride))
        too_many_dims(c, n);
    a->input_bytes = dtype_size(value_storage(x));
    a->output_bytes = dtype_size(value_storage(node_result(n)));
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    multiplier_from(node_double(n, "factor") * value_scale(x) / value_scale(n->out[0]),
                    &a->multiplier, &a->shift);
    if (a->shift > 14)
        diag_error(c, DIAG_MODEL, &n->loc, "a sum's scale is too fine for its operand's");
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, x);
    call_out(call, &a->output, node_result(n));
    CtnReduceSumMapS16Args *m = call->args;
    if (maps)
        STORE_MAP_S16(c, call, n, m, x);
}

/* A right shift by so few bits is half decided by the rounding before it. Between grids that an
 * archive has given the kernel of 16 bits does it, which reads and writes bytes too and rounds
 * once: nothing else in such an archive rounds a mean than its own grid. */
enum { FEW_BITS = 4 };

static bool rounds_twice(const Node *n, const Value *x) {
    const Grid *out = n->out[0]->grid;
    int32_t multiplier, shift;
    if (!out || !out->pinned || !x->grid)
        return false;
    multiplier_from(node_double(n, "factor") * value_scale(x) / value_scale(n->out[0]), &multiplier,
                    &shift);
    return shift <= 0 && shift > -FEW_BITS;
}

static void sum_lower(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input");
    if (is_wide_integer(x)) {
        int_lower(c, g, n, 0);
        return;
    }
    if (node_is_wide(n)) {
        sum_lower_wide(c, g, n, x);
        return;
    }
    if (!is_int8(c, n, x, "a sum"))
        return;
    if (rounds_twice(n, x) && !node_epilogue(n)) {
        sum_lower_wide(c, g, n, x);
        return;
    }
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_physical(n, &d, &kept, &reduced);
    Call *call = call_new(c, g, n, CTN_KERNEL_reduce_sum_s8);
    CtnReduceSumS8Args *a = call->args;
    if (!loop_pack(&kept, a->dim, a->in_stride) ||
        !loop_pack(&reduced, a->reduced, a->reduced_stride))
        too_many_dims(c, n);
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(n->out[0]);
    multiplier_from(node_double(n, "factor") * value_scale(x) / value_scale(n->out[0]),
                    &a->multiplier, &a->shift);
    store_clamp(n, &a->clamp_min, &a->clamp_max);
    call_in(call, &a->input, x);
    call_out(call, &a->output, node_result(n));
    store_table(c, call, &a->table, n);
}

/* ---- extrema -------------------------------------------------------------------------------- */

static bool is_better(double a, double b, bool minimum) {
    return isnan(a) ? !isnan(b) : minimum ? a < b : a > b;
}

/* The place of the first extremum among `count` offsets from base. */
static int64_t extremum(const Array *x, int64_t base, const int64_t *offset, int64_t count,
                        bool minimum) {
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (is_better(array_get(x, base + offset[k]), array_get(x, base + offset[best]), minimum))
            best = k;
    return best;
}

static void extremum_run(C *c, Node *n, bool place) {
    const Array *x = eval_in(c, n, "input");
    Array *y = eval_out(c, n, 0);
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_logical(&node_in(n, "input")->type, &d, &kept, &reduced);
    int64_t count;
    const int64_t *offset = loop_offsets(c, &reduced, &count);
    bool minimum = node_bool(n, "minimum");
    for (int64_t i = 0; count > 0 && i < loop_size(&kept); i++) {
        int64_t base = loop_offset(&kept, i);
        int64_t best = extremum(x, base, offset, count, minimum);
        if (place)
            array_set_int(y, i, best);
        else if (dtype_is_float(x->dtype))
            array_set(y, i, array_get(x, base + offset[best]));
        else
            array_set_int(y, i, array_get_int(x, base + offset[best]));
    }
}

static void max_shape(C *c, Node *n) {
    Dims d = own_dims(c, n);
    if (d.count == 0)
        diag_error(c, DIAG_MODEL, &n->loc, "the extremum of no elements is not defined");
    reduced_type(n, node_in(n, "input")->type.dtype, &d, node_bool(n, "keepdim"));
}

static void max_eval(C *c, Node *n) {
    extremum_run(c, n, false);
}

static void max_lower_wide(C *c, Graph *g, Node *n) {
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_physical(n, &d, &kept, &reduced);
    bool maps = store_maps_s16(n);
    Call *call =
        call_new(c, g, n, maps ? CTN_KERNEL_reduce_max_map_s16 : CTN_KERNEL_reduce_max_s16);
    CtnReduceMaxS16Args *a = call->args; /* with a function the first fields are the same */
    if (!loop_pack(&kept, a->dim, a->in_stride) ||
        !loop_pack(&reduced, a->reduced, a->reduced_stride))
        too_many_dims(c, n);
    a->mode = node_bool(n, "minimum");
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, node_result(n));
    CtnReduceMaxMapS16Args *m = call->args;
    if (maps)
        STORE_MAP_S16(c, call, n, m, node_in(n, "input"));
}

static void max_lower(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input");
    if (is_wide_integer(x)) {
        int_lower(c, g, n, node_bool(n, "minimum") ? 2 : 1);
        return;
    }
    if (node_is_wide(n)) {
        max_lower_wide(c, g, n);
        return;
    }
    if (dtype_size(value_storage(x)) != 1) {
        diag_error(c, DIAG_MODEL, &n->loc, "an extremum of %s values has no integer form",
                   dtype_name(value_storage(x)));
        return;
    }
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_physical(n, &d, &kept, &reduced);
    Call *call = call_new(c, g, n, CTN_KERNEL_reduce_max_s8);
    CtnReduceMaxS8Args *a = call->args;
    if (!loop_pack(&kept, a->dim, a->in_stride) ||
        !loop_pack(&reduced, a->reduced, a->reduced_stride))
        too_many_dims(c, n);
    a->mode = node_bool(n, "minimum");
    call_in(call, &a->input, x);
    call_out(call, &a->output, node_result(n));
    store_table(c, call, &a->table, n);
}

static void argmax_shape(C *c, Node *n) {
    Dims d = own_dims(c, n);
    if (d.count == 0)
        diag_error(c, DIAG_MODEL, &n->loc, "the place of an extremum of no elements is undefined");
    reduced_type(n, DT_I64, &d, node_bool(n, "keepdim"));
}

static void argmax_eval(C *c, Node *n) {
    extremum_run(c, n, true);
}

static void argmax_lower(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input");
    if (dtype_size(value_storage(x)) != 1 && !node_is_wide(n) &&
        !is_int8(c, n, x, "the place of an extremum"))
        return;
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_physical(n, &d, &kept, &reduced);
    Call *call = call_new(c, g, n, CTN_KERNEL_argmax);
    CtnArgmaxArgs *a = call->args;
    if (!loop_pack(&kept, a->dim, a->in_stride))
        too_many_dims(c, n);
    a->count = (int32_t)d.count;
    a->stride = reduced.count ? (int32_t)reduced.stride[0] : 1;
    a->mode = node_bool(n, "minimum");
    a->input_bytes = dtype_size(value_storage(x));
    call_in(call, &a->input, x);
    call_out(call, &a->output, n->out[0]);
}

/* ---- running sum ---------------------------------------------------------------------------- */

static void cumsum_eval(C *c, Node *n) {
    const Array *x = eval_in(c, n, "input");
    Array *y = eval_out(c, n, 0);
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_logical(&node_in(n, "input")->type, &d, &kept, &reduced);
    int64_t count;
    const int64_t *offset = loop_offsets(c, &reduced, &count);
    for (int64_t i = 0; i < loop_size(&kept); i++) {
        int64_t base = loop_offset(&kept, i), whole = 0;
        double sum = 0;
        for (int64_t k = 0; k < count; k++) {
            if (dtype_is_float(x->dtype))
                array_set(y, base + offset[k], sum += array_get(x, base + offset[k]));
            else
                array_set_int(y, base + offset[k], whole += array_get_int(x, base + offset[k]));
        }
    }
}

/* Two loops in one: over all dims but the summed one, with both values' strides. */
static void cumsum_loops(C *c, const Node *n, CtnCumsumS8Args *a) {
    const Value *x = node_in(n, "input"), *y = n->out[0];
    int64_t from[MAX_RANK], to[MAX_RANK];
    int dim = (int)node_int(n, "dim"), used = 6;
    value_strides(x, from);
    value_strides(y, to);
    for (int k = 0; k < 6; k++) {
        a->dim[k] = 1;
        a->in_stride[k] = a->out_stride[k] = 0;
    }
    for (int k = x->type.rank - 1; k >= 0; k--) {
        if (k == dim || x->type.dim[k] == 1)
            continue;
        if (used == 0) {
            too_many_dims(c, n);
            break;
        }
        used--;
        a->dim[used] = (int32_t)x->type.dim[k];
        a->in_stride[used] = (int32_t)from[k];
        a->out_stride[used] = (int32_t)to[k];
    }
    a->count = x->type.rank ? (int32_t)x->type.dim[dim] : 1;
    a->in_step = x->type.rank ? (int32_t)from[dim] : 1;
    a->out_step = x->type.rank ? (int32_t)to[dim] : 1;
}

static void cumsum_lower(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "input"), *y = n->out[0];
    if (!is_int8(c, n, x, "a running sum"))
        return;
    Call *call = call_new(c, g, n, CTN_KERNEL_cumsum_s8);
    CtnCumsumS8Args *a = call->args;
    cumsum_loops(c, n, a);
    a->input_zero_point = value_zero_point(x);
    a->output_zero_point = value_zero_point(y);
    multiplier_from(value_scale(x) / value_scale(y), &a->multiplier, &a->shift);
    call_in(call, &a->input, x);
    call_out(call, &a->output, y);
}

/* ---- in float ------------------------------------------------------------------------------- */

/* The modes of reduce_f32. */
enum { FLOAT_SUM, FLOAT_MAXIMUM, FLOAT_MINIMUM, FLOAT_PLACES };

static void reduce_float(C *c, Graph *g, Node *n, int mode, double factor) {
    Dims d = own_dims(c, n);
    Loop kept, reduced;
    loops_physical(n, &d, &kept, &reduced);
    Call *call = call_new(c, g, n, CTN_KERNEL_reduce_f32);
    CtnReduceF32Args *a = call->args;
    if (!loop_pack(&kept, a->dim, a->in_stride) ||
        !loop_pack(&reduced, a->reduced, a->reduced_stride))
        too_many_dims(c, n);
    a->mode = mode;
    a->factor = float_bits(factor);
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
}

static void sum_lower_float(C *c, Graph *g, Node *n) {
    reduce_float(c, g, n, FLOAT_SUM, node_double(n, "factor"));
}

static void max_lower_float(C *c, Graph *g, Node *n) {
    reduce_float(c, g, n, node_bool(n, "minimum") ? FLOAT_MINIMUM : FLOAT_MAXIMUM, 1);
}

static void argmax_lower_float(C *c, Graph *g, Node *n) {
    reduce_float(c, g, n, FLOAT_PLACES + node_bool(n, "minimum"), 1);
}

static void cumsum_lower_float(C *c, Graph *g, Node *n) {
    CtnCumsumS8Args loops;
    Call *call = call_new(c, g, n, CTN_KERNEL_cumsum_f32);
    CtnCumsumF32Args *a = call->args;
    cumsum_loops(c, n, &loops);
    memcpy(a->dim, loops.dim, sizeof a->dim);
    memcpy(a->in_stride, loops.in_stride, sizeof a->dim);
    memcpy(a->out_stride, loops.out_stride, sizeof a->dim);
    a->count = loops.count;
    a->in_step = loops.in_step;
    a->out_step = loops.out_step;
    call_in(call, &a->input, node_in(n, "input"));
    call_out(call, &a->output, n->out[0]);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const Op rows[] = {
    /* factor * the sum over exactly the listed dims */
    {.schema = "corten::reduce_sum(Tensor input, int[] dim, bool keepdim, float factor) -> Tensor",
     .traits =
         OP_FUSES_CLAMP | OP_FUSES_TABLE | OP_FUSES_MAP | OP_ANY_ORDER | OP_WIDE_IN | OP_WIDE_OUT,
     .shape = sum_shape,
     .eval = sum_eval,
     .lower = sum_lower,
     .lower_float = sum_lower_float},
    {.schema = "corten::reduce_max(Tensor input, int[] dim, bool keepdim, bool minimum) -> Tensor",
     .traits = OP_FUSES_TABLE | OP_FUSES_MAP | OP_ANY_ORDER | OP_WIDE_ALIKE | OP_PICKS,
     .shape = max_shape,
     .eval = max_eval,
     .quant = {.out = {Q_SAME}},
     .lower = max_lower,
     .lower_float = max_lower_float},
    {.schema = "corten::argmax(Tensor input, int dim, bool keepdim, bool minimum) -> Tensor",
     .traits = OP_ANY_ORDER | OP_WIDE_IN,
     .shape = argmax_shape,
     .eval = argmax_eval,
     .lower = argmax_lower,
     .lower_float = argmax_lower_float},
    {.schema = "corten::cumsum(Tensor input, int dim) -> Tensor",
     .traits = OP_ANY_ORDER,
     .shape = shape_same,
     .eval = cumsum_eval,
     .lower = cumsum_lower,
     .lower_float = cumsum_lower_float},
};

OPS_FAMILY(reduce, rows);
