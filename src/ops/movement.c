/* Data movement whose output index along each dimension depends on the same output index only:
 * repeating, flipping, rolling, padding, nearest upsampling. Each operator fills in one list of
 * source indices per dimension (Sources); shape and eval follow. A source of -1 is a place that
 * holds the fill value. */
#include "ops/ops.h"

#include <string.h>

typedef struct {
    int rank; /* of the output; the operand's dims stand behind ones up to this rank */
    int64_t in_dim[MAX_RANK], dim[MAX_RANK];
    int64_t *source[MAX_RANK]; /* dim[d] indices; NULL: the index itself */
    double fill;
} Sources;

typedef bool SourcesOf(C *c, const Node *n, Sources *s);

static bool sources_open(C *c, const Node *n, int rank, Sources *s) {
    const Type *t = &movement_input(n)->type;
    if (rank > MAX_RANK || rank < t->rank)
        return movement_refuse(c, n, "a tensor of rank %d to rank %d", t->rank, rank);
    *s = (Sources){.rank = rank};
    for (int d = 0; d < rank; d++) {
        int k = d - (rank - t->rank);
        s->dim[d] = s->in_dim[d] = k < 0 ? 1 : t->dim[k];
    }
    return true;
}

/* Sets the size of dim d and makes its list, to be filled in. NULL: a diagnostic is recorded. */
static int64_t *sources_make(C *c, const Node *n, Sources *s, int d, int64_t size) {
    int64_t total = 1;
    s->dim[d] = size;
    for (int k = 0; k < s->rank; k++)
        if (size < 0 || __builtin_mul_overflow(total, s->dim[k], &total) || total > INT32_MAX) {
            movement_refuse(c, n, "size %lld of dim %d", (long long)size, d);
            return NULL;
        }
    return s->source[d] = NEW_ARRAY(c, int64_t, size + 1);
}

static void sources_shape(C *c, Node *n, SourcesOf *of) {
    Sources s;
    const Type *t = &movement_input(n)->type;
    if (of(c, n, &s))
        node_set_type(n, 0, t->dtype, s.rank, s.dim);
    else
        node_set_type(n, 0, t->dtype, t->rank, t->dim);
}

static void sources_eval(C *c, Node *n, SourcesOf *of) {
    Sources s;
    const Array *in = eval_movement_input(c, n);
    Array *out = eval_out(c, n, 0);
    int64_t index[MAX_RANK] = {0}, count = array_count(out);
    if (!of(c, n, &s))
        return;
    for (int64_t i = 0; i < count; i++) {
        int64_t from = 0;
        bool filled = false;
        for (int d = 0; d < s.rank; d++) {
            int64_t k = s.source[d] ? s.source[d][index[d]] : index[d];
            filled |= k < 0;
            from = from * s.in_dim[d] + k;
        }
        if (filled)
            array_set(out, i, s.fill);
        else
            elements_copy(out, i, in, from, 1);
        for (int d = s.rank - 1; d >= 0 && ++index[d] == s.dim[d]; d--)
            index[d] = 0;
    }
}

#define SOURCES_FUNCTIONS(op)                                                                      \
    static void op##_shape(C *c, Node *n) {                                                        \
        sources_shape(c, n, op##_sources);                                                         \
    }                                                                                              \
    static void op##_eval(C *c, Node *n) {                                                         \
        sources_eval(c, n, op##_sources);                                                          \
    }

/* ---- repeating ------------------------------------------------------------------------------ */

static bool repeat_by(C *c, const Node *n, Sources *s, int count, const int64_t *times) {
    int rank = movement_input(n)->type.rank > count ? movement_input(n)->type.rank : count;
    if (!sources_open(c, n, rank, s))
        return false;
    for (int i = 0; i < count; i++) {
        int d = rank - count + i;
        int64_t size = 0;
        if (times[i] == 1)
            continue;
        if (times[i] < 0 || __builtin_mul_overflow(s->in_dim[d], times[i], &size))
            return movement_refuse(c, n, "%lld repeats", (long long)times[i]);
        int64_t *source = sources_make(c, n, s, d, size);
        if (!source)
            return false;
        for (int64_t k = 0; k < size; k++)
            source[k] = k % s->in_dim[d];
    }
    return true;
}

static bool repeat_sources(C *c, const Node *n, Sources *s) {
    int64_t times[MAX_RANK];
    int count = node_ints(n, "repeats", times, MAX_RANK);
    if (count > MAX_RANK || count < movement_input(n)->type.rank)
        return movement_refuse(c, n, "%d repeats for rank %d", count, movement_input(n)->type.rank);
    return repeat_by(c, n, s, count, times);
}
SOURCES_FUNCTIONS(repeat)

static bool tile_sources(C *c, const Node *n, Sources *s) {
    int64_t times[MAX_RANK];
    int count = node_ints(n, "dims", times, MAX_RANK);
    if (count > MAX_RANK)
        return movement_refuse(c, n, "%d dims", count);
    return repeat_by(c, n, s, count, times);
}
SOURCES_FUNCTIONS(tile)

/* corten::repeat_each: every element of dim `dim` stands `times` times in a row. */
static bool repeat_each_sources(C *c, const Node *n, Sources *s) {
    int64_t times = node_int(n, "times"), size = 0;
    if (!sources_open(c, n, movement_input(n)->type.rank, s) || s->rank == 0)
        return movement_refuse(c, n, "a tensor of rank 0");
    int d = dim_wrap(c, n, node_int(n, "dim"), s->rank);
    if (times < 0 || __builtin_mul_overflow(s->in_dim[d], times, &size))
        return movement_refuse(c, n, "%lld repeats", (long long)times);
    int64_t *source = sources_make(c, n, s, d, size);
    for (int64_t k = 0; source && k < size; k++)
        source[k] = k / times;
    return source != NULL;
}
SOURCES_FUNCTIONS(repeat_each)

/* Without `dim` the tensor is flattened first. */
static void repeat_interleave_decompose(C *c, Graph *g, Node *n) {
    (void)c;
    Value *x = node_in(n, "self");
    bool flat = !node_has(n, "dim");
    if (flat)
        x = MAKE("aten::view", arg_value(x), arg_ints(g->c, 1, (const int64_t[]){-1}));
    int64_t dim = flat ? 0 : node_int(n, "dim");
    value_replace(
        g, n->out[0],
        MAKE("corten::repeat_each", arg_value(x), arg_int(node_int(n, "repeats")), arg_int(dim)));
}

/* ---- flipping and rolling ------------------------------------------------------------------- */

static bool flip_dim(C *c, const Node *n, Sources *s, int d) {
    int64_t *source = sources_make(c, n, s, d, s->in_dim[d]);
    for (int64_t k = 0; source && k < s->in_dim[d]; k++)
        source[k] = s->in_dim[d] - 1 - k;
    return source != NULL;
}

static bool flip_sources(C *c, const Node *n, Sources *s) {
    int64_t dim[MAX_RANK];
    int count = node_ints(n, "dims", dim, MAX_RANK);
    if (!sources_open(c, n, movement_input(n)->type.rank, s))
        return false;
    if (count > s->rank)
        return movement_refuse(c, n, "%d dims for rank %d", count, s->rank);
    for (int i = 0; i < count; i++)
        if (!flip_dim(c, n, s, dim_wrap(c, n, dim[i], s->rank)))
            return false;
    return true;
}
SOURCES_FUNCTIONS(flip)

static void flip_one_decompose(Graph *g, Node *n, int64_t dim) {
    value_replace(g, n->out[0],
                  MAKE("aten::flip", arg_value(node_in(n, "self")), arg_ints(g->c, 1, &dim)));
}

static void fliplr_decompose(C *c, Graph *g, Node *n) {
    (void)c;
    flip_one_decompose(g, n, 1);
}

static void flipud_decompose(C *c, Graph *g, Node *n) {
    (void)c;
    flip_one_decompose(g, n, 0);
}

/* A quarter turn is a flip and a transpose, a half turn two flips. */
static void rot90_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    int64_t dim[2];
    int rank = x->type.rank;
    if (node_ints(n, "dims", dim, 2) != 2 || rank < 2) {
        movement_refuse(c, n, "two dims of a tensor of rank 2 are needed");
        return;
    }
    int a = dim_wrap(c, n, dim[0], rank), b = dim_wrap(c, n, dim[1], rank);
    int64_t turns = ((node_int(n, "k") % 4) + 4) % 4, both[2] = {a, b}, one;
    if (turns == 2)
        x = MAKE("aten::flip", arg_value(x), arg_ints(c, 2, both));
    if (turns % 2 == 1) {
        one = turns == 1 ? b : a;
        x = MAKE("aten::flip", arg_value(x), arg_ints(c, 1, &one));
        x = MAKE("aten::transpose.int", arg_value(x), arg_int(a), arg_int(b));
    }
    value_replace(g, n->out[0], turns == 0 ? MAKE("aten::clone", arg_value(x)) : x);
}

/* corten::roll_dims has as many shifts as dims. */
static bool roll_sources(C *c, const Node *n, Sources *s) {
    int64_t shift[MAX_RANK], dim[MAX_RANK], by[MAX_RANK] = {0};
    int count = node_ints(n, "shifts", shift, MAX_RANK);
    if (!sources_open(c, n, movement_input(n)->type.rank, s))
        return false;
    if (count > MAX_RANK || node_ints(n, "dims", dim, MAX_RANK) != count)
        return movement_refuse(c, n, "shifts and dims differ in length");
    for (int i = 0; i < count; i++) {
        int d = dim_wrap(c, n, dim[i], s->rank);
        if (s->in_dim[d] > 0)
            by[d] = (by[d] + shift[i] % s->in_dim[d] + s->in_dim[d]) % s->in_dim[d];
    }
    for (int d = 0; d < s->rank; d++) {
        int64_t size = s->in_dim[d], *source = by[d] ? sources_make(c, n, s, d, size) : NULL;
        for (int64_t k = 0; source && k < size; k++)
            source[k] = (k + size - by[d]) % size;
    }
    return true;
}
SOURCES_FUNCTIONS(roll)

/* Without dims the tensor is rolled as if it were flat. */
static void roll_decompose(C *c, Graph *g, Node *n) {
    Value *x = node_in(n, "self");
    const Arg *dims = node_arg(n, "dims");
    Type t = x->type;
    if (dims->kind == ARG_LIST && dims->u.list.count > 0) {
        value_replace(g, n->out[0],
                      MAKE("corten::roll_dims", arg_value(x), *node_arg(n, "shifts"), *dims));
        return;
    }
    x = MAKE("aten::view", arg_value(x), arg_ints(c, 1, (const int64_t[]){-1}));
    x = MAKE("corten::roll_dims", arg_value(x), *node_arg(n, "shifts"),
             arg_ints(c, 1, (const int64_t[]){0}));
    value_replace(g, n->out[0], MAKE("aten::view", arg_value(x), arg_ints(c, t.rank, t.dim)));
}

/* ---- padding -------------------------------------------------------------------------------- */

typedef enum { PAD_CONSTANT, PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR } PadMode;

typedef struct { /* along one dim; a pad below 0 cuts off */
    int64_t size, before, after;
} Pads;

static int64_t pads_kept(const Pads *p) {
    return p->size + (p->before < 0 ? p->before : 0) + (p->after < 0 ? p->after : 0);
}

/* The source of place k, counted from the first element; -1: outside. Only the circle is one of
 * what is kept. */
static int64_t pad_source(PadMode mode, int64_t k, const Pads *p) {
    int64_t last = p->size - 1, first_kept = p->before < 0 ? -p->before : 0;
    if (mode == PAD_CIRCULAR)
        return k < first_kept                   ? k + pads_kept(p)
               : k >= first_kept + pads_kept(p) ? k - pads_kept(p)
                                                : k;
    if (k >= 0 && k <= last)
        return k;
    if (mode == PAD_CONSTANT)
        return -1;
    return mode == PAD_REFLECT ? k < 0 ? -k : 2 * last - k : k < 0 ? 0 : last;
}

/* How far a mode can pad one side. */
static int64_t pad_limit(PadMode mode, const Pads *p) {
    return mode == PAD_REFLECT                   ? p->size - 1
           : mode == PAD_CIRCULAR                ? pads_kept(p)
           : p->size > 0 || mode == PAD_CONSTANT ? INT32_MAX
                                                 : 0;
}

/* `name` has (before, after) of the last dim first; negative ones cut off. */
static bool pad_sources(C *c, const Node *n, Sources *s, const char *name, PadMode mode) {
    int64_t pad[2 * MAX_RANK];
    int count = node_ints(n, name, pad, 2 * MAX_RANK);
    if (!sources_open(c, n, movement_input(n)->type.rank, s))
        return false;
    if (count % 2 != 0 || count > 2 * s->rank)
        return movement_refuse(c, n, "%d pads for a tensor of rank %d", count, s->rank);
    for (int i = 0; i < count / 2; i++) {
        int d = s->rank - 1 - i;
        Pads p = {s->in_dim[d], pad[2 * i], pad[2 * i + 1]};
        int64_t limit = pad_limit(mode, &p);
        if (p.before > limit || p.after > limit || p.before < -p.size || p.after < -p.size ||
            p.size + p.before + p.after < 0)
            return movement_refuse(c, n, "pads %lld and %lld of a dimension of %lld",
                                   (long long)p.before, (long long)p.after, (long long)p.size);
        if (p.before == 0 && p.after == 0)
            continue;
        int64_t total = p.size + p.before + p.after, *source = sources_make(c, n, s, d, total);
        if (!source)
            return false;
        for (int64_t k = 0; k < total; k++)
            source[k] = pad_source(mode, k - p.before, &p);
    }
    return true;
}

static bool constant_pad_sources(C *c, const Node *n, Sources *s) {
    bool ok = pad_sources(c, n, s, "pad", PAD_CONSTANT);
    s->fill = node_double(n, "value");
    return ok;
}
SOURCES_FUNCTIONS(constant_pad)

static bool reflection_pad_sources(C *c, const Node *n, Sources *s) {
    return pad_sources(c, n, s, "padding", PAD_REFLECT);
}
SOURCES_FUNCTIONS(reflection_pad)

static bool replication_pad_sources(C *c, const Node *n, Sources *s) {
    return pad_sources(c, n, s, "padding", PAD_REPLICATE);
}
SOURCES_FUNCTIONS(replication_pad)

static bool circular_pad_sources(C *c, const Node *n, Sources *s) {
    return pad_sources(c, n, s, "pad", PAD_CIRCULAR);
}
SOURCES_FUNCTIONS(circular_pad)

/* aten::pad: the mode by name. */
static void pad_decompose(C *c, Graph *g, Node *n) {
    static const char *const reflect[] = {"aten::reflection_pad1d", "aten::reflection_pad2d",
                                          "aten::reflection_pad3d"};
    static const char *const replicate[] = {"aten::replication_pad1d", "aten::replication_pad2d",
                                            "aten::replication_pad3d"};
    Arg x = arg_value(node_in(n, "self")), pad = *node_arg(n, "pad");
    const char *mode = node_string(n, "mode");
    int dims = pad.kind == ARG_LIST ? pad.u.list.count / 2 : 0;
    Value *y = NULL;
    if (text_equal(mode, "constant"))
        y = MAKE("aten::constant_pad_nd", x, pad,
                 node_has(n, "value") ? *node_arg(n, "value") : arg_float(0));
    else if (text_equal(mode, "circular"))
        y = MAKE("aten::_pad_circular", x, pad);
    else if (dims >= 1 && dims <= 3 && text_equal(mode, "reflect"))
        y = MAKE(reflect[dims - 1], x, pad);
    else if (dims >= 1 && dims <= 3 && text_equal(mode, "replicate"))
        y = MAKE(replicate[dims - 1], x, pad);
    if (y)
        value_replace(g, n->out[0], y);
    else
        movement_refuse(c, n, "mode \"%s\" over %d dims", mode, dims);
}

/* ---- nearest upsampling ---------------------------------------------------------------------- */

/* torch's own float32 arithmetic: which of two neighbours is nearest must not differ. */
static int64_t nearest_source(int64_t k, int64_t size, int64_t out, double scale, bool exact) {
    if (!exact && out == size)
        return k;
    if (!exact && out == 2 * size)
        return k / 2;
    float step = scale > 0 ? (float)(1.0 / scale) : (float)size / (float)out;
    float place = floorf(exact ? ((float)k + 0.5f) * step : (float)k * step);
    return (int64_t)place < size - 1 ? (int64_t)place : size - 1;
}

static bool nearest_sources(C *c, const Node *n, Sources *s, int dims, bool exact) {
    int64_t size[3];
    double scale[3];
    int rank = movement_input(n)->type.rank;
    if (!sources_open(c, n, rank, s) || !upsample_sizes(c, n, dims, size, scale))
        return false;
    for (int i = 0; i < dims; i++) {
        int d = rank - dims + i;
        int64_t *source = sources_make(c, n, s, d, size[i]);
        if (!source)
            return false;
        for (int64_t k = 0; k < size[i]; k++)
            source[k] = nearest_source(k, s->in_dim[d], size[i], scale[i], exact);
    }
    return true;
}

#define NEAREST_FUNCTIONS(op, dims, exact)                                                         \
    static bool op##_sources(C *c, const Node *n, Sources *s) {                                    \
        return nearest_sources(c, n, s, dims, exact);                                              \
    }                                                                                              \
    SOURCES_FUNCTIONS(op)

NEAREST_FUNCTIONS(nearest1d, 1, false)
NEAREST_FUNCTIONS(nearest2d, 2, false)
NEAREST_FUNCTIONS(nearest3d, 3, false)
NEAREST_FUNCTIONS(exact1d, 1, true)
NEAREST_FUNCTIONS(exact2d, 2, true)
NEAREST_FUNCTIONS(exact3d, 3, true)

/* ---- rows ----------------------------------------------------------------------------------- */

#define MOVES(text, op)                                                                            \
    {                                                                                              \
        .schema = text, .traits = OP_MOVES_DATA, .shape = op##_shape, .eval = op##_eval,           \
        .quant = {.out = {Q_SAME}}, .lower = lower_movement                                        \
    }

static const Op rows[] = {
    MOVES("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", repeat),
    MOVES("aten::tile(Tensor self, SymInt[] dims) -> Tensor", tile),
    MOVES("corten::repeat_each(Tensor self, int times, int dim) -> Tensor", repeat_each),
    {.schema = "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, "
               "SymInt? output_size=None) -> Tensor",
     COMPOSITE(repeat_interleave_decompose)},
    MOVES("aten::flip(Tensor self, int[] dims) -> Tensor", flip),
    {.schema = "aten::fliplr(Tensor self) -> Tensor", COMPOSITE(fliplr_decompose)},
    {.schema = "aten::flipud(Tensor self) -> Tensor", COMPOSITE(flipud_decompose)},
    {.schema = "aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
     COMPOSITE(rot90_decompose)},
    MOVES("corten::roll_dims(Tensor self, int[] shifts, int[] dims) -> Tensor", roll),
    {.schema = "aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
     COMPOSITE(roll_decompose)},
    MOVES("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
          constant_pad),
    MOVES("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor", reflection_pad),
    MOVES("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor", reflection_pad),
    MOVES("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", reflection_pad),
    MOVES("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor", replication_pad),
    MOVES("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor", replication_pad),
    MOVES("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor", replication_pad),
    MOVES("aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor", circular_pad),
    {.schema = "aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> "
               "Tensor",
     COMPOSITE(pad_decompose)},
    MOVES("aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> "
          "Tensor",
          nearest1d),
    MOVES("aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? "
          "scale_factors) -> Tensor",
          nearest1d),
    MOVES("aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, "
          "float? scales_w=None) -> Tensor",
          nearest2d),
    MOVES("aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? "
          "scale_factors) -> Tensor",
          nearest2d),
    MOVES("aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, "
          "float? scales_h=None, float? scales_w=None) -> Tensor",
          nearest3d),
    MOVES("aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? "
          "scale_factors) -> Tensor",
          nearest3d),
    MOVES("aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) "
          "-> Tensor",
          exact1d),
    MOVES("aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? "
          "scale_factors) -> Tensor",
          exact1d),
    MOVES("aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? "
          "scales_h=None, float? scales_w=None) -> Tensor",
          exact2d),
    MOVES("aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? "
          "scale_factors) -> Tensor",
          exact2d),
    MOVES("aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? "
          "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
          exact3d),
    MOVES("aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? "
          "scale_factors) -> Tensor",
          exact3d),
};

OPS_FAMILY(movement, rows);
