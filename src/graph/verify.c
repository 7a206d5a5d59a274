/* What must hold between passes: a table of rules, each from the stage where it becomes true on. A
 * broken rule is a bug of the pass that ran last, and is reported with the rule and the node. */
#include <math.h>
#include <string.h>

#include "lower/memory.h"

typedef struct {
    C *c;
    Graph *g;
    const char *pass, *rule;
} Check;

__attribute__((format(printf, 3, 4))) _Noreturn static void broken(const Check *k, const Node *n,
                                                                   const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *what = c_vformat(k->c, format, args);
    va_end(args);
    fatal(k->c, DIAG_BUG, n ? &n->loc : NULL, "after pass %s: rule '%s' is broken%s%s: %s", k->pass,
          k->rule, n ? " at node " : "", n ? n->name : "", what);
}

/* ---- every stage -------------------------------------------------------------------------- */

static void check_links(const Check *k) {
    const Graph *g = k->g;
    const Node *prev = NULL;
    int count = 0;
    for (const Node *n = g->first; n; prev = n, n = n->next, count++) {
        if (n->prev != prev || n->graph != g)
            broken(k, n, "it is not linked into this graph");
        for (int i = 0; i < n->out_count; i++) {
            const Value *v = n->out[i];
            if (!v || v->def != n || v->def_index != i)
                broken(k, n, "output %d does not name it as its definition", i);
            if (v->id < 0 || v->id >= g->value_count || g->value[v->id] != v)
                broken(k, n, "output %d is not a value of the graph", i);
        }
    }
    if (g->last != prev || g->node_count != count)
        broken(k, NULL, "the graph counts %d nodes, its list has %d", g->node_count, count);
}

/* A value that exists before node `at`: no node defines it, or an earlier one does. */
static void check_defined(const Check *k, const Node *at, const char *defined, const Value *v) {
    if (v->id < 0 || v->id >= k->g->value_count || k->g->value[v->id] != v)
        broken(k, at, "it reads %s, which is not a value of the graph", v->name);
    if (v->def ? !defined[v->id] : v->role == ROLE_NONE && !v->constant)
        broken(k, at, "%s is read before it is defined", v->name);
}

static void check_order(const Check *k) {
    const Graph *g = k->g;
    char *defined = NEW_ARRAY(k->c, char, g->value_count);
    for (const Node *n = g->first; n; n = n->next) {
        int count = node_operand_count(n);
        for (int i = 0; i < count; i++)
            check_defined(k, n, defined, node_operand(n, i));
        for (int i = 0; i < n->out_count; i++)
            defined[n->out[i]->id] = 1;
    }
    for (int i = 0; i < g->output_count; i++)
        if (g->output[i].kind == ARG_VALUE)
            check_defined(k, NULL, defined, g->output[i].u.value);
    for (int i = 0; i < g->state_count; i++)
        check_defined(k, NULL, defined, g->state[i].after);
}

static bool item_fits(const SchemaArg *s, const Arg *a) {
    ArgKind kind = a->kind;
    bool number = kind == ARG_INT || kind == ARG_FLOAT || kind == ARG_BOOL || kind == ARG_VALUE;
    switch (s->type) {
    case T_TENSOR:
    case T_SCALAR:
    case T_FLOAT:
        return number;
    case T_INT:
    case T_BOOL:
        return number && kind != ARG_FLOAT;
    case T_STRING:
    case T_DEVICE:
        return kind == ARG_STRING;
    case T_DTYPE:
        return kind == ARG_DTYPE;
    case T_LAYOUT:
    case T_MEMORY_FORMAT:
        return kind == ARG_INT;
    case T_GRAPH:
        return kind == ARG_GRAPH;
    case T_GENERATOR:
    case T_DIMNAME:
        return false;
    }
    return false;
}

static bool arg_fits(const SchemaArg *s, const Arg *a) {
    if (a->kind == ARG_NONE)
        return s->optional;
    if (!s->list)
        return item_fits(s, a);
    if (a->kind != ARG_LIST)
        return s->list_size > 0 && item_fits(s, a);
    for (int i = 0; i < a->u.list.count; i++) {
        const Arg *item = &a->u.list.item[i];
        if (item->kind == ARG_NONE ? !s->item_optional : !item_fits(s, item))
            return false;
    }
    return true;
}

static void check_arguments(const Check *k) {
    for (const Node *n = k->g->first; n; n = n->next) {
        const Schema *s = op_schema(n->op);
        if (!s)
            broken(k, n, "its operator is not in the table");
        if (n->arg_count != s->arg_count)
            broken(k, n, "%s takes %d arguments, it has %d", s->name, s->arg_count, n->arg_count);
        for (int i = 0; i < n->arg_count; i++)
            if (!arg_fits(&s->arg[i], &n->arg[i]))
                broken(k, n, "%s: argument %s has the wrong kind", s->name, s->arg[i].name);
        bool listed = s->return_count == 1 && s->ret[0].list;
        if (!listed && n->out_count != s->return_count)
            broken(k, n, "%s returns %d values, it has %d", s->name, s->return_count, n->out_count);
    }
}

static void check_type(const Check *k, const Node *n, const Value *v) {
    bool right = v->type.dtype != DT_NONE && v->type.rank >= 0 && v->type.rank <= MAX_RANK;
    for (int d = 0; right && d < v->type.rank; d++)
        right = v->type.dim[d] >= 0;
    if (!right)
        broken(k, n, "%s has no type", v->name);
    int seen = 0;
    for (int d = 0; d < v->type.rank; d++)
        if (v->order[d] >= 0 && v->order[d] < v->type.rank)
            seen |= 1 << v->order[d];
    if (seen != (1 << v->type.rank) - 1)
        broken(k, n, "the order of %s is no permutation of its dims", v->name);
    const Array *a = v->constant ? v->constant : v->initial;
    if (a && (a->dtype != value_storage(v) || array_count(a) != type_count(&v->type)))
        broken(k, n, "%s has data of %s %s for %s %s", v->name, dtype_name(a->dtype),
               shape_text(k->c, a->rank, a->dim), dtype_name(value_storage(v)),
               shape_text(k->c, v->type.rank, v->type.dim));
}

/* Calls visit for each value that the graph still uses, with a node that reads or defines it. */
static void each_value(const Check *k, void (*visit)(const Check *, const Node *, const Value *)) {
    for (int i = 0; i < k->g->input_count; i++)
        if (k->g->input[i].kind == ARG_VALUE)
            visit(k, NULL, k->g->input[i].u.value);
    for (const Node *n = k->g->first; n; n = n->next) {
        int count = node_operand_count(n);
        for (int i = 0; i < count; i++)
            visit(k, n, node_operand(n, i));
        for (int i = 0; i < n->out_count; i++)
            visit(k, n, n->out[i]);
    }
}

static void check_types(const Check *k) {
    each_value(k, check_type);
}

static void check_grid(const Check *k, const Node *n, const Value *v) {
    const Grid *grid = v->grid;
    if (!grid)
        return;
    if (!dtype_is_float(v->type.dtype))
        broken(k, n, "%s is %s and has a grid", v->name, dtype_name(v->type.dtype));
    if (grid->part_count < 1 ||
        (grid->dtype != DT_I8 && grid->dtype != DT_I16 && grid->dtype != DT_I32 &&
         grid->dtype != DT_U8)) /* uint8: at the C boundary alone */
        broken(k, n, "the grid of %s has %d parts of %s", v->name, grid->part_count,
               dtype_name(grid->dtype));
    int64_t at = 0;
    for (int i = 0; i < grid->part_count; i++) {
        const Part *p = &grid->part[i];
        if (!(p->scale > 0) || !isfinite(p->scale))
            broken(k, n, "%s has scale %g", v->name, p->scale);
        if (grid->part_count == 1)
            continue;
        if (p->axis < 0 || p->axis >= v->type.rank || p->axis != grid->part[0].axis ||
            p->start != at || p->stop <= p->start)
            broken(k, n, "part %d of %s does not follow the one before", i, v->name);
        at = p->stop;
    }
    if (grid->part_count > 1 && at != v->type.dim[grid->part[0].axis])
        broken(k, n, "the parts of %s end at %lld", v->name, (long long)at);
}

static void check_grids(const Check *k) {
    each_value(k, check_grid);
}

/* Live nodes and recorded removals together are the archive. */
static void check_origins(const Check *k) {
    const Graph *g = k->g;
    if (g->archive_count == 0) /* a body: its node stands for what is in it */
        return;
    char *covered = NEW_ARRAY(k->c, char, g->archive_count);
    for (const Node *n = g->first; n; n = n->next)
        for (int i = 0; i < n->origins.count; i++) {
            int id = n->origins.id[i];
            if (id < 0 || id >= g->archive_count || (i > 0 && id <= n->origins.id[i - 1]))
                broken(k, n, "origin %d is not in order or not in the archive", id);
            covered[id] = 1;
        }
    for (int id = 0; id < g->archive_count; id++)
        if (!covered[id] && g->archive[id].fate == FATE_LIVE)
            broken(k, NULL, "nothing stands for %s of the archive", g->archive[id].name);
}

/* ---- functional and core ------------------------------------------------------------------ */

static void check_no_writes(const Check *k) {
    for (const Node *n = k->g->first; n; n = n->next)
        if (n->writes || n->out_arg)
            broken(k, n, "it writes an operand");
}

static void check_core(const Check *k) {
    for (const Node *n = k->g->first; n; n = n->next)
        if (n->op->decompose)
            broken(k, n, "%s should have been taken apart", op_schema(n->op)->name);
}

/* ---- quantized ---------------------------------------------------------------------------- */

static bool reads_float(const Node *n, const Value *v) {
    if (n->float_kept || node_is(n, "corten::quantize"))
        return true;
    for (int i = 0; i < n->arg_count && i < (int)COUNT_OF(n->op->quant.in); i++)
        if (n->arg[i].kind == ARG_VALUE && n->arg[i].u.value == v && n->op->quant.in[i] == Q_RAW)
            return true;
    return false;
}

static void check_quantized(const Check *k, const Node *n, const Value *v) {
    if (!dtype_is_float(v->type.dtype) || v->grid || v->user_count + v->output_count == 0)
        return;
    if (v->def && !v->def->float_kept && !node_is(v->def, "corten::dequantize"))
        broken(k, v->def, "%s is float", v->name);
    if (n && n != v->def && !reads_float(n, v))
        broken(k, n, "it reads %s, which is float", v->name);
}

static void check_all_quantized(const Check *k) {
    each_value(k, check_quantized);
}

/* ---- lowered and planned ------------------------------------------------------------------ */

static bool read_on_cpu(const Value *v) {
    bool read = v->output_count > 0;
    for (int i = 0; i < v->user_count; i++)
        read |= v->user[i]->target == NODE_CPU;
    return read;
}

/* Every result that is read has memory, but for those that stay within the NPU. */
static void check_placed(const Check *k) {
    for (const Node *n = k->g->first; n; n = n->next) {
        if (n->fused || n->joined)
            continue;
        for (int i = 0; i < n->out_count; i++) {
            const Value *v = i == 0 ? node_result(n) : n->out[i];
            bool read =
                n->target == NODE_NPU ? read_on_cpu(v) : v->user_count + v->output_count > 0;
            if (!v->buffer && read && !v->unstored && type_count(&v->type) > 0)
                broken(k, n, "no call writes %s", v->name);
        }
    }
}

static void check_calls(const Check *k) {
    for (const Call *call = k->g->first_call; call; call = call->next) {
        if (!call->variant || call->variant->kernel != call->kernel)
            broken(k, call->node, "call %s has no variant of its kernel", call->name);
        if (call->args_bytes != kernel_at(call->kernel)->args_bytes)
            broken(k, call->node, "call %s has the arguments of another kernel", call->name);
        for (int i = 0; i < call->ref_count; i++) {
            const CallRef *r = &call->ref[i];
            if (r->field_offset < 0 || r->field_offset + 4 > call->args_bytes || !r->buffer)
                broken(k, call->node, "call %s has a reference to nothing", call->name);
            if (r->offset < 0 || (r->offset >= r->buffer->bytes && r->buffer->bytes > 0))
                broken(k, call->node, "call %s refers to byte %lld of the %lld of %s", call->name,
                       (long long)r->offset, (long long)r->buffer->bytes, r->buffer->name);
            if (r->writes && r->buffer->kind == BUFFER_CONSTANT)
                broken(k, call->node, "call %s writes the constant %s", call->name,
                       r->buffer->name);
        }
    }
}

/* A fused table is given to a call of the node n before it; a fused clamp needs a kernel that has
 * bounds, or a table in their place. */
static bool applies(const Call *call, const Node *n, const Node *epilogue) {
    bool of_sum = call->producer && call->node == n;
    if (call_ref_named(call, of_sum ? "sum_table" : "table") || call_ref_named(call, "piece"))
        return true;
    return !node_is(epilogue, "corten::table") &&
           kernel_field(call->kernel, of_sum ? "sum_clamp_min" : "clamp_min");
}

/* A sum in a store: its call takes up what the producer makes and the other operand. */
static void check_summed(const Check *k, const Node *n) {
    for (const Call *call = k->g->first_call; call; call = call->next)
        if (call->node == n && call->producer && call_ref_named(call, "skip") &&
            call_ref_named(call, "addends"))
            return;
    broken(k, n, "no call of its operand's producer sums");
}

static void check_fused(const Check *k) {
    for (const Node *n = k->g->first; n; n = n->next) {
        const Node *epilogue = node_epilogue(n);
        if (n->summed)
            check_summed(k, n);
        if (!epilogue || type_count(&epilogue->out[0]->type) == 0 || n->target == NODE_NPU)
            continue;
        bool applied = false;
        for (const Call *call = k->g->first_call; call && !applied; call = call->next)
            applied = (call->node == n || call->producer == n) && applies(call, n, epilogue);
        if (!applied)
            broken(k, n, "no call of it applies %s", epilogue->name);
    }
}

static bool is_planned(const Buffer *b) {
    return b->last_call >= 0 && b->first_call <= b->last_call && b->bytes > 0;
}

static void check_regions(const Check *k) {
    const Graph *g = k->g;
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (!is_planned(b))
            continue;
        int64_t size = g->region[b->region].bytes;
        if (b->offset < 0 || b->offset + b->bytes > size)
            broken(k, NULL, "%s reaches beyond its region of %lld bytes", b->name, (long long)size);
        if (b->align > 0 && b->offset % b->align != 0)
            broken(k, NULL, "%s is not aligned to %d", b->name, b->align);
    }
    for (const Call *call = g->first_call; call; call = call->next)
        for (int i = 0; i < call->ref_count; i++) {
            const CallRef *r = &call->ref[i];
            uint32_t field;
            memcpy(&field, (const char *)call->args + r->field_offset, sizeof field);
            if (field != CTN_REF(r->buffer->region, r->buffer->offset + r->offset))
                broken(k, call->node, "call %s does not say where %s is", call->name,
                       r->buffer->name);
        }
}

/* Two buffers that live at once share no byte, but for an output that follows an operand at the
 * distance that plan found safe, and scratch, which holds nothing when its call has ended. */
static void check_overlaps(const Check *k) {
    const Graph *g = k->g;
    for (int i = 0; i < g->buffer_count; i++)
        for (int j = 0; j < i; j++) {
            const Buffer *a = g->buffer[i], *b = g->buffer[j];
            if (!is_planned(a) || !is_planned(b) || a->region != b->region ||
                g->region[a->region].kind == REGION_CONSTANTS)
                continue;
            bool live = g->region[a->region].kind != REGION_ARENA ||
                        (a->first_call <= b->last_call && b->first_call <= a->last_call);
            bool shared = a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
            bool taken_over = (a->over == b && buffer_follows(a, a->offset, b->offset)) ||
                              (b->over == a && buffer_follows(b, b->offset, a->offset));
            bool by_turns = a->kind == BUFFER_SCRATCH && b->kind == BUFFER_SCRATCH;
            if (live && shared && !taken_over && !by_turns)
                broken(k, NULL, "%s and %s share memory and live at once", a->name, b->name);
        }
}

/* ---- the table ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    Stage from;
    void (*check)(const Check *);
} rules[] = {
    {"nodes and values are linked", STAGE_IMPORTED, check_links},
    {"a value is defined before it is read", STAGE_IMPORTED, check_order},
    {"arguments match the schema", STAGE_IMPORTED, check_arguments},
    {"values have types", STAGE_IMPORTED, check_types},
    {"grids are whole", STAGE_IMPORTED, check_grids},
    {"every node of the archive is accounted for", STAGE_IMPORTED, check_origins},
    {"no node writes an operand", STAGE_FUNCTIONAL, check_no_writes},
    {"composites are taken apart", STAGE_CORE, check_core},
    {"float values have grids or are kept", STAGE_QUANTIZED, check_all_quantized},
    {"what is read is computed", STAGE_LOWERED, check_placed},
    {"calls are complete", STAGE_LOWERED, check_calls},
    {"what is fused is applied", STAGE_LOWERED, check_fused},
    {"buffers lie in their regions", STAGE_PLANNED, check_regions},
    {"what lives at once shares no memory", STAGE_PLANNED, check_overlaps},
};

void graph_verify(Graph *g, const char *after_pass) {
    Check k = {g->c, g, after_pass, NULL};
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (g->stage < rules[i].from)
            continue;
        k.rule = rules[i].name;
        rules[i].check(&k);
        if (i == 0)
            graph_index(g); /* readers are counted on a graph that is linked */
    }
    for (const Node *n = g->first; n; n = n->next)
        if (n->body)
            graph_verify(n->body, after_pass);
}
