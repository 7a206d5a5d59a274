/* Text to graph. The text is checked as an archive is: operators exist, arguments are of the
 * schema's kinds, shapes and numbers are in range, and values are defined before they are read.
 *
 *     corten 1
 *     graph NAME STAGE {
 *       archive "PATH" sha256 "HEX"
 *       source "NODE" "OP" module "PATH" at (...) FATE reason "..." into N
 *       value %x float32[1, 3] parameter "fqn" grid int8/8 (SCALE ZERO) data npz
 *       input NAME %x
 *       node NAME %y float32[1, 4] = aten::linear(%x, %w, none) from [0]
 *       state "fqn" %before %after
 *       output NAME %y
 *     }
 *
 * An item's attributes stand on its line. Values are numbered as they appear; "%x#7" gives another
 * number. A body is a graph's items in braces. ";" starts a comment. */
#include <math.h>
#include <string.h>

#include "graph/text.h"

#define BODY_DEPTH 8
#define LIST_DEPTH 8
#define DIM_LIMIT ((int64_t)1 << 40)
#define COUNT_LIMIT ((int64_t)1 << 48) /* elements: times 8 bytes is far from overflow */

typedef struct {
    Scanner *s;
    Graph *g;
    const ArrayList *constants;
    const char *prefix; /* of members beside the text */
    int depth;
    int map_capacity; /* values by name: open addressing, never over half full */
    Value **map;
    int id_capacity;
    int *id; /* the number each value asks for, by order of appearance */
    bool renumbered;
} Parser;

static void parse_items(Parser *p);

/* ---- values by name ----------------------------------------------------------------------- */

static Value **map_slot(Parser *p, const char *name) {
    uint64_t h = 14695981039346656037u, mask = (uint64_t)p->map_capacity - 1;
    for (const char *s = name; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    h &= mask;
    while (p->map[h] && strcmp(p->map[h]->name, name) != 0)
        h = (h + 1) & mask;
    return &p->map[h];
}

static void map_add(Parser *p, Value *v) {
    C *c = p->g->c;
    if (2 * (p->g->value_count + 1) > p->map_capacity) {
        Value **old = p->map;
        int old_capacity = p->map_capacity;
        p->map_capacity = old_capacity ? 2 * old_capacity : 64;
        p->map = NEW_ARRAY(c, Value *, p->map_capacity);
        for (int i = 0; i < old_capacity; i++)
            if (old[i])
                *map_slot(p, old[i]->name) = old[i];
    }
    *map_slot(p, v->name) = v;
}

static Value *parse_reference(Parser *p) {
    scan_need(p->s, '%');
    const char *name = scan_name(p->s);
    Value *v = p->map ? *map_slot(p, name) : NULL;
    if (!v)
        scan_fail(p->s, "%%%s is read before it is defined", name);
    return v;
}

/* ---- types and grids ---------------------------------------------------------------------- */

static DType parse_dtype(Parser *p) {
    const char *name = scan_name(p->s);
    DType t = dtype_from_name(name);
    if (t == DT_NONE)
        scan_fail(p->s, "'%s' is no dtype", name);
    return t;
}

/* "[1, 2]": at most MAX_RANK ints from `low` to `high`. */
static int parse_ints(Parser *p, int64_t low, int64_t high, int64_t *out) {
    int count = 0;
    scan_need(p->s, '[');
    while (!scan_char(p->s, ']')) {
        if (count == MAX_RANK)
            scan_fail(p->s, "more than %d dimensions", MAX_RANK);
        out[count++] = scan_int(p->s, low, high);
        if (!scan_char(p->s, ',') && *p->s->p != ']')
            scan_expected(p->s, "',' or ']'");
    }
    return count;
}

static Type parse_type(Parser *p) {
    Type t = {.dtype = parse_dtype(p)};
    t.rank = parse_ints(p, 0, DIM_LIMIT, t.dim);
    if (dims_count(t.rank, t.dim) > COUNT_LIMIT)
        scan_fail(p->s, "the shape %s is too large", shape_text(p->g->c, t.rank, t.dim));
    return t;
}

static Part parse_part(Parser *p) {
    Part part = {.axis = -1, .scale = scan_float(p->s)};
    if (!(part.scale >= 0) || part.scale > 1e300)
        scan_fail(p->s, "the scale must be a finite number that is not negative");
    part.zero_point = (int32_t)scan_int(p->s, INT32_MIN, INT32_MAX);
    if (scan_attribute(p->s, "axis")) {
        part.axis = (int)scan_int(p->s, -1, MAX_RANK - 1);
        part.start = scan_int(p->s, 0, DIM_LIMIT);
        scan_need(p->s, ':');
        part.stop = scan_int(p->s, 0, DIM_LIMIT);
    }
    return part;
}

/* One part without an axis, or parts that cover the whole axis one after the other. */
static void check_parts(Parser *p, const Grid *grid, const Type *t) {
    const Part *part = grid->part;
    if (grid->part_count == 1 && part->axis == -1)
        return;
    int axis = part[0].axis;
    int64_t next = 0;
    for (int i = 0; i < grid->part_count; i++) {
        if (part[i].axis != axis || axis < 0 || axis >= t->rank || part[i].start != next ||
            part[i].stop <= next)
            scan_fail(p->s, "part %d of the grid does not follow the one before it", i);
        next = part[i].stop;
    }
    if (next != t->dim[axis])
        scan_fail(p->s, "the grid's parts end at %lld, the axis at %lld", (long long)next,
                  (long long)t->dim[axis]);
}

static Grid *parse_grid(Parser *p, const Type *t) {
    Grid *grid = NEW(p->g->c, Grid);
    int capacity = 0;
    grid->dtype = parse_dtype(p);
    if (grid->dtype != DT_I8 && grid->dtype != DT_I16 && grid->dtype != DT_I32)
        scan_fail(p->s, "a grid's numbers are int8, int16 or int32, not %s",
                  dtype_name(grid->dtype));
    scan_need(p->s, '/');
    grid->bits = (int)scan_int(p->s, 2, 32);
    grid->pinned = scan_attribute(p->s, "pinned");
    scan_need(p->s, '(');
    do {
        int k = grid->part_count++;
        grid->part = c_grow(p->g->c, grid->part, k, &capacity, k + 1, sizeof *grid->part);
        grid->part[k] = parse_part(p);
    } while (scan_char(p->s, ','));
    scan_need(p->s, ')');
    check_parts(p, grid, t);
    return grid;
}

/* ---- values ------------------------------------------------------------------------------- */

static Array *find_array(Parser *p, const char *name) {
    for (int i = 0; p->constants && i < p->constants->count; i++)
        if (text_equal(p->constants->item[i].name, name))
            return p->constants->item[i].array;
    scan_fail(p->s, "the array '%s' is missing beside the text", name);
}

/* "scaled AXIS (factor, ...)": one for each index along the axis. */
static void parse_factors(Parser *p, Value *v) {
    int capacity = 0;
    v->factor_axis = (int)scan_int(p->s, 0, MAX_RANK - 1);
    scan_need(p->s, '(');
    do {
        int k = v->factor_count++;
        v->factor = c_grow(p->g->c, v->factor, k, &capacity, k + 1, sizeof *v->factor);
        v->factor[k] = scan_float(p->s);
    } while (scan_char(p->s, ','));
    scan_need(p->s, ')');
    if (v->factor_axis >= v->type.rank || v->factor_count != v->type.dim[v->factor_axis])
        scan_fail(p->s, "%d factors do not fit axis %d", v->factor_count, v->factor_axis);
}

/* As the observers make them, and the search for ranges takes them. */
static bool bins_are_sound(const Observed *o) {
    int exponent;
    return o->bin_count == HISTOGRAM_BINS && frexp(o->bin_width, &exponent) == 0.5 &&
           o->bin_low == -(HISTOGRAM_BINS / 2.0) * o->bin_width && o->min >= o->bin_low &&
           o->max <= -o->bin_low && o->min <= o->max;
}

static Observed *parse_observed(Parser *p, const Value *v) {
    Observed *o = NEW(p->g->c, Observed);
    scan_need(p->s, '(');
    o->min = scan_float(p->s);
    o->max = scan_float(p->s);
    o->count = scan_int(p->s, 0, INT64_MAX);
    if (scan_word(p->s, "bad"))
        o->not_finite = scan_int(p->s, 0, INT64_MAX);
    if (scan_word(p->s, "bins")) {
        o->bin_count = (int)scan_int(p->s, 1, 1 << 24);
        o->bin_low = scan_float(p->s);
        o->bin_width = scan_float(p->s);
        if (!bins_are_sound(o))
            scan_fail(p->s,
                      "a histogram has %d bins of a width 2^k, half of them below zero, around "
                      "the least and the largest number",
                      HISTOGRAM_BINS);
        const char *member = histogram_member(p->g->c, p->prefix, v);
        const Array *bins = find_array(p, member);
        if (bins->dtype != DT_I64 || bins->rank != 1 || bins->dim[0] != o->bin_count)
            scan_fail(p->s, "'%s' must be int64[%d]", member, o->bin_count);
        o->bin = bins->data;
    }
    scan_need(p->s, ')');
    return o;
}

static Array *parse_inline_data(Parser *p, const Type *stored) {
    int64_t count = type_count(stored);
    if (count > 1 << 20)
        scan_fail(p->s, "a constant of this size stands beside the text: data npz is needed");
    Array *a = array_new(p->g->c, stored->dtype, stored->rank, stored->dim);
    scan_need(p->s, '{');
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            scan_need(p->s, ',');
        if (dtype_is_float(stored->dtype))
            array_set(a, i, scan_float(p->s));
        else
            array_set_int(a, i, scan_int(p->s, INT64_MIN, INT64_MAX));
    }
    scan_need(p->s, '}');
    return a;
}

static Array *parse_data(Parser *p, const Value *v) {
    Type stored = type_make(value_storage(v), v->type.rank, v->type.dim);
    if (!scan_word(p->s, "npz"))
        return parse_inline_data(p, &stored);
    const char *member = constant_member(p->g->c, p->prefix, v);
    Array *a = find_array(p, member);
    Type is = type_make(a->dtype, a->rank, a->dim);
    if (!type_equal(&is, &stored))
        scan_fail(p->s, "'%s' is %s%s, %s%s is needed", member, dtype_name(a->dtype),
                  shape_text(p->g->c, a->rank, a->dim), dtype_name(stored.dtype),
                  shape_text(p->g->c, stored.rank, stored.dim));
    return a;
}

static void parse_order(Parser *p, Value *v) {
    int64_t order[MAX_RANK];
    int count = parse_ints(p, 0, v->type.rank - 1, order);
    unsigned seen = 0;
    for (int i = 0; i < count; i++) {
        seen |= 1u << order[i];
        v->order[i] = (int8_t)order[i];
    }
    if (count != v->type.rank || seen != (1u << count) - 1)
        scan_fail(p->s, "the order must name each of the %d dimensions once", v->type.rank);
}

static void parse_value_attributes(Parser *p, Value *v) {
    Scanner *s = p->s;
    for (;;) {
        int role = scan_attribute_of(s, role_words, ROLE_CONSTANT + 1);
        if (role > 0)
            v->role = (Role)role;
        else if (scan_attribute_string(s, &v->fqn))
            ;
        else if (scan_attribute(s, "strides")) {
            if (parse_ints(p, 0, DIM_LIMIT, v->stride) != v->type.rank)
                scan_fail(s, "a stride is needed for each of the %d dimensions", v->type.rank);
        } else if (scan_attribute(s, "storage_offset"))
            v->storage_offset = scan_int(s, 0, DIM_LIMIT);
        else if (scan_attribute(s, "grid"))
            v->grid = parse_grid(p, &v->type);
        else if (scan_attribute(s, "seen"))
            v->observed = parse_observed(p, v);
        else if (scan_attribute(s, "scaled"))
            parse_factors(p, v);
        else if (scan_attribute(s, "bits"))
            v->bits = scan_int(s, 8, 16) == 16 ? 16 : 8;
        else if (scan_attribute(s, "unstored"))
            v->unstored = true;
        else if (scan_attribute(s, "order"))
            parse_order(p, v);
        else if (scan_attribute(s, "data"))
            v->constant = parse_data(p, v);
        else if (scan_attribute(s, "initial"))
            v->initial = parse_data(p, v);
        else
            return;
    }
}

static Value *parse_definition(Parser *p) {
    Graph *g = p->g;
    scan_need(p->s, '%');
    const char *name = scan_name(p->s);
    int index = g->value_count, id = index;
    if (*p->s->p == '#') {
        p->s->p++;
        id = (int)scan_int(p->s, 0, INT32_MAX);
        p->renumbered = true;
    }
    p->id = c_grow(g->c, p->id, index, &p->id_capacity, index + 1, sizeof *p->id);
    p->id[index] = id;
    Value *v = value_new(g, name, parse_type(p));
    if (!text_equal(v->name, name))
        scan_fail(p->s, "%%%s is defined twice", name);
    parse_value_attributes(p, v);
    map_add(p, v);
    return v;
}

/* Puts each value where its number says. */
static void renumber(Parser *p) {
    Graph *g = p->g;
    if (!p->renumbered)
        return;
    Value **value = NEW_ARRAY(g->c, Value *, g->value_count);
    for (int i = 0; i < g->value_count; i++) {
        int id = p->id[i];
        if (id >= g->value_count || value[id])
            scan_fail(p->s, "%%%s#%d: numbers must be unique and below %d", g->value[i]->name, id,
                      g->value_count);
        value[id] = g->value[i];
        value[id]->id = id;
    }
    memcpy(g->value, value, (size_t)g->value_count * sizeof *value);
}

/* ---- places ------------------------------------------------------------------------------- */

static const char *optional_field(Parser *p, const char *key, const char *implied) {
    return scan_word(p->s, key) ? scan_string(p->s) : implied;
}

static Loc parse_loc(Parser *p, const char *file, const char *node, const char *module) {
    Loc loc = {0};
    scan_need(p->s, '(');
    loc.file = optional_field(p, "file", file);
    if (scan_word(p->s, "line"))
        loc.line = (int)scan_int(p->s, 0, INT32_MAX);
    loc.source_text = optional_field(p, "text", NULL);
    loc.node = optional_field(p, "node", node);
    loc.module = optional_field(p, "module", module);
    loc.output = optional_field(p, "output", NULL);
    loc.member = optional_field(p, "member", NULL);
    if (scan_word(p->s, "byte"))
        loc.byte = scan_int(p->s, 0, INT64_MAX);
    scan_need(p->s, ')');
    return loc;
}

static void parse_archive(Parser *p) {
    p->g->archive_path = scan_string(p->s);
    if (scan_attribute(p->s, "sha256"))
        p->g->archive_sha256 = scan_string(p->s);
}

/* "[-1, 0, 3]": nodes of the archive that come before, and inputs. */
static void parse_reads(Parser *p, Origins *reads) {
    int capacity = 0;
    scan_need(p->s, '[');
    do {
        reads->id = c_grow(p->g->c, reads->id, reads->count, &capacity, reads->count + 1,
                           sizeof *reads->id);
        reads->id[reads->count++] = (int)scan_int(p->s, INT32_MIN, p->g->archive_count - 1);
    } while (scan_char(p->s, ','));
    scan_need(p->s, ']');
}

static void parse_source(Parser *p, int *capacity) {
    Graph *g = p->g;
    int k = g->archive_count;
    g->archive = c_grow(g->c, g->archive, k, capacity, k + 1, sizeof *g->archive);
    ArchiveNode *a = &g->archive[k];
    *a = (ArchiveNode){.into = -1};
    a->name = scan_string(p->s);
    a->op = scan_string(p->s);
    if (scan_attribute(p->s, "module"))
        a->module = scan_string(p->s);
    a->loc = (Loc){.file = g->archive_path, .node = a->name, .module = a->module};
    if (scan_attribute(p->s, "at"))
        a->loc = parse_loc(p, g->archive_path, a->name, a->module);
    a->loc.op = operator_bare(p->g->c, a->op);
    int fate = scan_attribute_of(p->s, fate_words, FATE_REMOVED + 1);
    a->fate = fate < 0 ? FATE_LIVE : (Fate)fate;
    if (scan_attribute(p->s, "reason"))
        a->reason = scan_string(p->s);
    if (scan_attribute(p->s, "into"))
        a->into = (int)scan_int(p->s, 0, INT32_MAX);
    if (scan_attribute(p->s, "reads"))
        parse_reads(p, &a->reads);
    g->archive_count++;
}

/* ---- arguments ---------------------------------------------------------------------------- */

static Arg parse_arg(Parser *p, int depth);

static Arg parse_list(Parser *p, int depth) {
    Arg list = {.kind = ARG_LIST};
    int capacity = 0;
    if (depth >= LIST_DEPTH)
        scan_fail(p->s, "lists are nested too deeply");
    while (!scan_char(p->s, ']')) {
        int k = list.u.list.count++;
        list.u.list.item = c_grow(p->g->c, list.u.list.item, k, &capacity, k + 1, sizeof(Arg));
        list.u.list.item[k] = parse_arg(p, depth + 1);
        if (!scan_char(p->s, ',') && *p->s->p != ']')
            scan_expected(p->s, "',' or ']'");
    }
    return list;
}

static Arg parse_arg(Parser *p, int depth) {
    Scanner *s = p->s;
    if (scan_char(s, '['))
        return parse_list(p, depth);
    if (scan_char(s, '@'))
        return arg_dtype(parse_dtype(p));
    scan_space(s);
    if (*s->p == '%')
        return arg_value(parse_reference(p));
    if (*s->p == '"')
        return arg_string(scan_string(s));
    if (scan_is_number(s))
        return scan_number(s);
    if (scan_word(s, "none"))
        return arg_none();
    if (scan_word(s, "true"))
        return arg_bool(true);
    if (scan_word(s, "false"))
        return arg_bool(false);
    scan_expected(s, "an argument");
}

static bool is_number(const Arg *a) {
    return a->kind == ARG_INT || a->kind == ARG_FLOAT || a->kind == ARG_BOOL;
}

static bool item_fits(const SchemaArg *s, const Arg *a, bool pointwise) {
    switch (s->type) {
    case T_TENSOR:
        return a->kind == ARG_VALUE || (pointwise && is_number(a));
    case T_INT:
        return a->kind == ARG_INT;
    case T_BOOL:
        return a->kind == ARG_BOOL;
    case T_FLOAT:
    case T_SCALAR:
        return is_number(a);
    case T_STRING:
    case T_DEVICE:
        return a->kind == ARG_STRING;
    case T_DTYPE:
        return a->kind == ARG_DTYPE;
    case T_LAYOUT:
    case T_MEMORY_FORMAT:
        return a->kind == ARG_INT;
    default:
        return false;
    }
}

static bool arg_fits(const SchemaArg *s, const Arg *a, bool pointwise) {
    if (a->kind == ARG_NONE)
        return s->optional;
    if (!s->list || a->kind != ARG_LIST)
        return item_fits(s, a, pointwise) && !(s->list && s->type == T_TENSOR);
    for (int i = 0; i < a->u.list.count; i++) {
        const Arg *item = &a->u.list.item[i];
        if (!item_fits(s, item, pointwise) && !(item->kind == ARG_NONE && s->item_optional))
            return false;
    }
    return true;
}

/* "(a, b)": missing ones at the end take their defaults. */
static Arg *parse_args(Parser *p, const Op *op) {
    const Schema *schema = op_schema(op);
    Arg *arg = NEW_ARRAY(p->g->c, Arg, schema->arg_count);
    int count = 0;
    scan_need(p->s, '(');
    while (!scan_char(p->s, ')')) {
        if (count == schema->arg_count)
            scan_fail(p->s, "%s has only %d arguments", schema->name, schema->arg_count);
        arg[count] = parse_arg(p, 0);
        if (!arg_fits(&schema->arg[count], &arg[count], op_is_pointwise(op)))
            scan_fail(p->s, "argument '%s' of %s is of another kind", schema->arg[count].name,
                      schema->name);
        count++;
        if (!scan_char(p->s, ',') && *p->s->p != ')')
            scan_expected(p->s, "',' or ')'");
    }
    for (; count < schema->arg_count; count++) {
        if (!schema->arg[count].has_default)
            scan_fail(p->s, "argument '%s' of %s is missing", schema->arg[count].name,
                      schema->name);
        arg[count] = schema->arg[count].default_value;
    }
    return arg;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void parse_origins(Parser *p, Node *n) {
    int capacity = 0;
    n->origins = (Origins){0};
    scan_need(p->s, '[');
    do {
        int k = n->origins.count++;
        n->origins.id = c_grow(p->g->c, n->origins.id, k, &capacity, k + 1, sizeof(int));
        n->origins.id[k] = (int)scan_int(p->s, k ? n->origins.id[k - 1] + 1 : 0, INT32_MAX);
    } while (scan_char(p->s, ','));
    scan_need(p->s, ']');
}

static Graph *parse_body(Parser *p, const Node *n) {
    if (p->depth >= BODY_DEPTH)
        scan_fail(p->s, "bodies are nested too deeply");
    C *c = p->g->c;
    Parser inner = {.s = p->s,
                    .g = graph_new(c, n->name),
                    .constants = p->constants,
                    .prefix = c_format(c, "%s%s/", p->prefix, n->name),
                    .depth = p->depth + 1};
    inner.g->stage = STAGE_CORE; /* bodies stay in float: their node is what is quantized */
    scan_need(p->s, '{');
    parse_items(&inner);
    return inner.g;
}

/* float32[rows, groups, depth] */
static Patches *parse_patches(Parser *p, const Node *n) {
    const char *member = patches_member(p->g->c, p->prefix, n);
    const Array *a = find_array(p, member);
    if (a->dtype != DT_F32 || a->rank != 3 || array_count(a) == 0)
        scan_fail(p->s, "'%s' must be float32[rows, groups, depth]", member);
    Patches *patches = NEW(p->g->c, Patches);
    *patches = (Patches){.rows = a->dim[0],
                         .capacity = a->dim[0],
                         .groups = a->dim[1],
                         .depth = a->dim[2],
                         .data = a->data};
    return patches;
}

static void parse_node_attributes(Parser *p, Node *n) {
    Scanner *s = p->s;
    bool placed = false;
    int out_capacity = 0;
    for (;;) {
        if (scan_attribute(s, "out")) {
            n->out_arg = (Value **)c_grow(p->g->c, (void *)n->out_arg, n->out_arg_count,
                                          &out_capacity, n->out_arg_count + 1, sizeof(Value *));
            n->out_arg[n->out_arg_count++] = parse_reference(p);
            n->writes = true;
        } else if (scan_attribute(s, "writes")) {
            n->written_arg = (int)scan_int(s, 0, n->arg_count - 1);
            n->writes = true;
            if (n->arg[n->written_arg].kind != ARG_VALUE)
                scan_fail(s, "argument %d is written, but is no value", n->written_arg);
        } else if (scan_attribute(s, "copies"))
            n->copies = true;
        else if (scan_attribute(s, "fused"))
            n->fused = true;
        else if (scan_attribute(s, "float"))
            n->float_kept = true;
        else if (scan_attribute(s, "reason"))
            n->float_reason = scan_string(s);
        else if (scan_attribute(s, "weights"))
            n->weight_bits = (int)scan_int(s, 4, 4);
        else if (scan_attribute(s, "sqnr"))
            n->sqnr_db = scan_float(s);
        else if (scan_attribute(s, "patches"))
            n->patches = parse_patches(p, n);
        else if (scan_attribute(s, "npu"))
            n->target = NODE_NPU;
        else if (scan_attribute(s, "stays"))
            n->npu_reason = scan_string(s);
        else if (scan_attribute(s, "from"))
            parse_origins(p, n);
        else if (scan_attribute(s, "at")) {
            n->loc = parse_loc(p, NULL, NULL, NULL);
            placed = true;
        } else if (scan_attribute(s, "body"))
            n->body = parse_body(p, n);
        else
            break;
    }
    if (!placed)
        n->loc = implied_loc(p->g, n);
    n->loc.op = implied_loc(p->g, n).op;
}

static int parse_outputs(Parser *p, Value ***out) {
    int count = 0, capacity = 0;
    *out = NULL;
    while (!scan_char(p->s, '=')) {
        if (count > 0)
            scan_need(p->s, ',');
        *out = (Value **)c_grow(p->g->c, (void *)*out, count, &capacity, count + 1, sizeof **out);
        (*out)[count++] = parse_definition(p);
    }
    return count;
}

static void parse_node(Parser *p) {
    const char *name = scan_name(p->s);
    Value **out;
    int out_count = parse_outputs(p, &out);
    const char *op_name = scan_operator(p->s);
    const Op *op = op_find(op_name);
    if (!op)
        scan_fail(p->s, "operator %s is not known", op_name);
    const Schema *schema = op_schema(op);
    bool list = schema->return_count == 1 && schema->ret[0].list;
    if (!list && out_count != schema->return_count)
        scan_fail(p->s, "%s has %d outputs, not %d", op_name, schema->return_count, out_count);
    Node *n = node_insert(p->g, NULL, op, name, parse_args(p, op), 0, NULL);
    if (!text_equal(n->name, name))
        scan_fail(p->s, "two nodes have the name %s", name);
    n->out = out;
    n->out_count = out_count;
    for (int k = 0; k < out_count; k++) {
        out[k]->def = n;
        out[k]->def_index = k;
    }
    parse_node_attributes(p, n);
}

/* ---- graphs ------------------------------------------------------------------------------- */

static void parse_boundary(Parser *p, int *count, int *capacity, int *name_capacity, Arg **arg,
                           const char ***name, bool values_only) {
    C *c = p->g->c;
    int k = *count;
    *arg = c_grow(c, *arg, k, capacity, k + 1, sizeof **arg);
    *name = (const char **)c_grow(c, (void *)*name, k, name_capacity, k + 1, sizeof **name);
    (*name)[k] = scan_name(p->s);
    (*arg)[k] = parse_arg(p, 0);
    ArgKind kind = (*arg)[k].kind;
    if (kind == ARG_LIST ||
        (values_only && kind != ARG_VALUE && kind != ARG_NONE && kind != ARG_INT))
        scan_fail(p->s, "a value, a number or none is needed");
    ++*count;
}

static void parse_state(Parser *p, int *capacity) {
    Graph *g = p->g;
    int k = g->state_count++;
    g->state = c_grow(g->c, g->state, k, capacity, k + 1, sizeof *g->state);
    g->state[k].fqn = scan_string(p->s);
    g->state[k].before = parse_reference(p);
    g->state[k].after = parse_reference(p);
    g->state[k].slot = -1;
}

static void parse_items(Parser *p) {
    Graph *g = p->g;
    int input[2] = {0}, output[2] = {0}, state = 0, archive = 0;
    while (!scan_char(p->s, '}')) {
        if (scan_word(p->s, "archive"))
            parse_archive(p);
        else if (scan_word(p->s, "source"))
            parse_source(p, &archive);
        else if (scan_word(p->s, "value"))
            parse_definition(p);
        else if (scan_word(p->s, "input"))
            parse_boundary(p, &g->input_count, &input[0], &input[1], &g->input, &g->input_name,
                           false);
        else if (scan_word(p->s, "node"))
            parse_node(p);
        else if (scan_word(p->s, "state"))
            parse_state(p, &state);
        else if (scan_word(p->s, "output"))
            parse_boundary(p, &g->output_count, &output[0], &output[1], &g->output, &g->output_name,
                           true);
        else
            scan_expected(p->s, "value, input, node, state, output or '}'");
    }
    for (const Node *n = g->first; n; n = n->next)
        if (p->depth == 0 && n->origins.count > 0 &&
            n->origins.id[n->origins.count - 1] >= g->archive_count)
            scan_fail(p->s, "node %s stands for source %d of %d", n->name,
                      n->origins.id[n->origins.count - 1], g->archive_count);
    for (int i = 0; i < g->archive_count; i++)
        if (g->archive[i].into >= g->archive_count)
            scan_fail(p->s, "source %s went into source %d of %d", g->archive[i].name,
                      g->archive[i].into, g->archive_count);
    renumber(p);
    graph_index(g);
}

Graph *graph_parse(C *c, const char *file, const char *text, const ArrayList *constants) {
    Scanner s = {.c = c, .file = file, .text = text, .p = text};
    if (!scan_word(&s, "corten"))
        scan_expected(&s, "'corten' (a graph's text)");
    int64_t version = scan_int(&s, 0, INT32_MAX);
    if (version != TEXT_VERSION)
        scan_fail(&s, "version %lld of the text form, %d is needed", (long long)version,
                  TEXT_VERSION);
    if (!scan_word(&s, "graph"))
        scan_expected(&s, "'graph'");
    Parser p = {.s = &s, .g = graph_new(c, scan_name(&s)), .constants = constants, .prefix = ""};
    int stage = scan_attribute_of(&s, stage_words, STAGE_QUANTIZED + 1);
    if (stage < 0)
        scan_expected(&s, "a stage");
    p.g->stage = (Stage)stage;
    scan_need(&s, '{');
    parse_items(&p);
    if (!scan_end(&s))
        scan_expected(&s, "the end");
    return p.g;
}
