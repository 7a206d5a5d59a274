/* The text form of a graph. Whatever a later pass reads is in it, once, and in a fixed order, so
 * that text read back and printed again is the same text. Calls, buffers and offsets of lowered
 * graphs are not: such a graph prints as the quantized graph it was made from. Large constants and
 * histograms are named here and kept beside the text (save.c). The grammar is in parse.c. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "graph/text.h"

typedef struct {
    Text *t;
    const Graph *g;
    int *rank;   /* by id: position among the printed values in the order of ids, -1: not printed */
    int printed; /* values printed so far: the id that a reader would give the next one */
    int depth;
    Stage stage; /* of the outermost graph */
} Printer;

static void print_graph_items(Printer *p);

static void indent(Printer *p) {
    for (int i = 0; i < p->depth; i++)
        text_add(p->t, "  ");
}

/* ---- words and numbers -------------------------------------------------------------------- */

static void print_string(Printer *p, const char *s) {
    text_add_quoted(p->t, s);
}

static void print_name(Printer *p, const char *name) {
    bool plain = *name != 0;
    for (const char *s = name; *s; s++)
        plain &= text_is_word(*s);
    if (plain)
        text_add(p->t, "%s", name);
    else
        print_string(p, name);
}

static void print_float(Printer *p, double f) {
    if (isnan(f))
        text_add(p->t, "nan");
    else if (isinf(f))
        text_add(p->t, f < 0 ? "-inf" : "inf");
    else
        text_add(p->t, "%a", f);
}

static void print_int(Printer *p, int64_t i) {
    text_add(p->t, "%lld", (long long)i);
}

static void print_ints(Printer *p, int count, const int64_t *item) {
    text_add(p->t, "[");
    for (int i = 0; i < count; i++)
        text_add(p->t, "%s%lld", i ? ", " : "", (long long)item[i]);
    text_add(p->t, "]");
}

static void print_value_name(Printer *p, const Value *v) {
    text_add(p->t, "%%");
    print_name(p, v->name);
}

/* ---- values ------------------------------------------------------------------------------- */

static void print_grid(Printer *p, const Grid *grid) {
    text_add(p->t, " grid %s/%d%s (", dtype_name(grid->dtype), grid->bits,
             grid->pinned ? " pinned" : "");
    for (int i = 0; i < grid->part_count; i++) {
        const Part *part = &grid->part[i];
        text_add(p->t, i ? ", " : "");
        print_float(p, part->scale);
        text_add(p->t, " %d", part->zero_point);
        if (part->axis != -1 || part->start != 0 || part->stop != 0)
            text_add(p->t, " axis %d %lld:%lld", part->axis, (long long)part->start,
                     (long long)part->stop);
    }
    text_add(p->t, ")");
}

static void print_factors(Printer *p, const Value *v) {
    text_add(p->t, " scaled %d (", v->factor_axis);
    for (int i = 0; i < v->factor_count; i++) {
        text_add(p->t, i ? ", " : "");
        print_float(p, v->factor[i]);
    }
    text_add(p->t, ")");
}

static void print_observed(Printer *p, const Observed *o) {
    text_add(p->t, " seen(");
    print_float(p, o->min);
    text_add(p->t, " ");
    print_float(p, o->max);
    text_add(p->t, " %lld", (long long)o->count);
    if (o->not_finite)
        text_add(p->t, " bad %lld", (long long)o->not_finite);
    if (o->bin_count > 0 && o->bin) {
        text_add(p->t, " bins %d ", o->bin_count);
        print_float(p, o->bin_low);
        text_add(p->t, " ");
        print_float(p, o->bin_width);
    }
    text_add(p->t, ")");
}

static void print_data(Printer *p, const Value *v) {
    const Array *a = value_data(v);
    text_add(p->t, v->constant ? " data" : " initial");
    if (!constant_is_inline(v)) {
        text_add(p->t, " npz");
        return;
    }
    text_add(p->t, " {");
    for (int64_t i = 0; i < array_count(a); i++) {
        text_add(p->t, i ? ", " : "");
        if (dtype_is_float(a->dtype))
            print_float(p, array_get(a, i));
        else
            print_int(p, array_get_int(a, i));
    }
    text_add(p->t, "}");
}

static bool is_contiguous(const Value *v) {
    int64_t step = 1;
    for (int i = v->type.rank - 1; i >= 0; i--) {
        if (v->stride[i] != step)
            return false;
        step *= v->type.dim[i] > 0 ? v->type.dim[i] : 1;
    }
    return true;
}

static void print_order(Printer *p, const Value *v) {
    bool identity = true;
    for (int i = 0; i < v->type.rank; i++)
        identity &= v->order[i] == i;
    if (identity)
        return;
    int64_t order[MAX_RANK];
    for (int i = 0; i < v->type.rank; i++)
        order[i] = v->order[i];
    text_add(p->t, " order ");
    print_ints(p, v->type.rank, order);
}

/* Where a value is defined: name, number if it is not the next one, type and all that is known. */
static void print_value(Printer *p, const Value *v) {
    print_value_name(p, v);
    if (p->rank[v->id] != p->printed)
        text_add(p->t, "#%d", p->rank[v->id]);
    p->printed++;
    text_add(p->t, " %s", dtype_name(v->type.dtype));
    print_ints(p, v->type.rank, v->type.dim);
    if (p->stage == STAGE_IMPORTED && !is_contiguous(v)) {
        text_add(p->t, " strides ");
        print_ints(p, v->type.rank, v->stride);
    }
    if (p->stage == STAGE_IMPORTED && v->storage_offset > 0)
        text_add(p->t, " storage_offset %lld", (long long)v->storage_offset);
    if (v->role != ROLE_NONE)
        text_add(p->t, " %s", role_words[v->role]);
    if (v->fqn) {
        text_add(p->t, " ");
        print_string(p, v->fqn);
    }
    if (v->grid)
        print_grid(p, v->grid);
    if (v->observed)
        print_observed(p, v->observed);
    if (v->factor_count)
        print_factors(p, v);
    if (v->bits)
        text_add(p->t, " bits %d", v->bits);
    if (v->unstored)
        text_add(p->t, " unstored");
    print_order(p, v);
    if (value_data(v))
        print_data(p, v);
}

/* ---- nodes -------------------------------------------------------------------------------- */

static void print_arg(Printer *p, const Arg *a) {
    switch (a->kind) {
    case ARG_NONE:
        text_add(p->t, "none");
        break;
    case ARG_VALUE:
        print_value_name(p, a->u.value);
        break;
    case ARG_INT:
        print_int(p, a->u.i);
        break;
    case ARG_FLOAT:
        print_float(p, a->u.f);
        break;
    case ARG_BOOL:
        text_add(p->t, a->u.b ? "true" : "false");
        break;
    case ARG_STRING:
        print_string(p, a->u.s);
        break;
    case ARG_DTYPE:
        text_add(p->t, "@%s", dtype_name(a->u.dtype));
        break;
    case ARG_LIST:
        text_add(p->t, "[");
        for (int i = 0; i < a->u.list.count; i++) {
            text_add(p->t, i ? ", " : "");
            print_arg(p, &a->u.list.item[i]);
        }
        text_add(p->t, "]");
        break;
    case ARG_GRAPH: /* import refuses them */
        fatal(p->t->c, DIAG_BUG, NULL, "a graph as an argument has no text form");
    }
}

static void print_field(Printer *p, const char *key, const char *s, const char *implied) {
    if (!s || text_equal(s, implied))
        return;
    text_add(p->t, " %s ", key);
    print_string(p, s);
}

/* Fields that equal what the reader assumes are left out. */
static void print_loc(Printer *p, const Loc *loc, const char *file, const char *node,
                      const char *module) {
    text_add(p->t, " at (");
    print_field(p, "file", loc->file, file);
    if (loc->line)
        text_add(p->t, " line %d", loc->line);
    print_field(p, "text", loc->source_text, NULL);
    print_field(p, "node", loc->node, node);
    print_field(p, "module", loc->module, module);
    print_field(p, "output", loc->output, NULL);
    print_field(p, "member", loc->member, NULL);
    if (loc->byte)
        text_add(p->t, " byte %lld", (long long)loc->byte);
    text_add(p->t, " )");
}

static void print_origins(Printer *p, const Node *n) {
    if (n->origins.count == 0)
        return;
    text_add(p->t, " from [");
    for (int i = 0; i < n->origins.count; i++)
        text_add(p->t, "%s%d", i ? ", " : "", n->origins.id[i]);
    text_add(p->t, "]");
}

static void print_node_loc(Printer *p, const Node *n) {
    Loc implied = implied_loc(p->g, n);
    if (!loc_equal(&n->loc, &implied))
        print_loc(p, &n->loc, NULL, NULL, NULL);
}

static void print_node_attributes(Printer *p, const Node *n) {
    for (int i = 0; i < n->out_arg_count; i++) {
        text_add(p->t, " out ");
        print_value_name(p, n->out_arg[i]);
    }
    if (n->writes && !n->out_arg)
        text_add(p->t, " writes %d", n->written_arg);
    if (n->copies)
        text_add(p->t, " copies");
    if (n->fused)
        text_add(p->t, " fused");
    if (n->float_kept)
        text_add(p->t, " float");
    print_field(p, "reason", n->float_reason, NULL);
    if (n->weight_bits)
        text_add(p->t, " weights %d", n->weight_bits);
    if (!isnan(n->sqnr_db)) {
        text_add(p->t, " sqnr ");
        print_float(p, n->sqnr_db);
    }
    if (n->target == NODE_NPU)
        text_add(p->t, " npu");
    print_field(p, "stays", n->npu_reason, NULL);
    if (has_patches(n))
        text_add(p->t, " patches");
    print_origins(p, n);
    print_node_loc(p, n);
}

static void print_body(Printer *p, const Graph *body) {
    Printer inner = {.t = p->t, .g = body, .depth = p->depth + 1, .stage = p->stage};
    text_add(p->t, " body {\n");
    print_graph_items(&inner);
    indent(p);
    text_add(p->t, "}");
}

static void print_node(Printer *p, const Node *n) {
    const Schema *s = op_schema(n->op);
    indent(p);
    text_add(p->t, "node ");
    print_name(p, n->name);
    for (int k = 0; k < n->out_count; k++) {
        text_add(p->t, k ? ", " : " ");
        print_value(p, n->out[k]);
    }
    text_add(p->t, " = %s%s%s(", s->name, *s->overload ? "." : "", s->overload);
    for (int i = 0; i < n->arg_count; i++) {
        text_add(p->t, i ? ", " : "");
        print_arg(p, &n->arg[i]);
    }
    text_add(p->t, ")");
    print_node_attributes(p, n);
    if (n->body)
        print_body(p, n->body);
    text_add(p->t, "\n");
}

/* ---- graphs ------------------------------------------------------------------------------- */

static void print_archive(Printer *p) {
    const Graph *g = p->g;
    if (g->archive_path) {
        text_add(p->t, "  archive ");
        print_string(p, g->archive_path);
        print_field(p, "sha256", g->archive_sha256, NULL);
        text_add(p->t, "\n");
    }
    for (int i = 0; i < g->archive_count; i++) {
        const ArchiveNode *a = &g->archive[i];
        text_add(p->t, "  source ");
        print_string(p, a->name);
        text_add(p->t, " ");
        print_string(p, a->op);
        print_field(p, "module", a->module, NULL);
        print_loc(p, &a->loc, g->archive_path, a->name, a->module);
        if (a->fate != FATE_LIVE)
            text_add(p->t, " %s", fate_words[a->fate]);
        print_field(p, "reason", a->reason, NULL);
        if (a->into != -1)
            text_add(p->t, " into %d", a->into);
        for (int k = 0; k < a->reads.count; k++)
            text_add(p->t, "%s%d", k ? ", " : " reads [", a->reads.id[k]);
        if (a->reads.count > 0)
            text_add(p->t, "]");
        text_add(p->t, "\n");
    }
}

static void print_boundary(Printer *p, const char *word, int count, const Arg *arg,
                           const char *const *name) {
    for (int i = 0; i < count; i++) {
        indent(p);
        text_add(p->t, "%s ", word);
        print_name(p, name && name[i] ? name[i] : "");
        text_add(p->t, " ");
        print_arg(p, &arg[i]);
        text_add(p->t, "\n");
    }
}

static void print_graph_items(Printer *p) {
    const Graph *g = p->g;
    char *mark = values_marked(p->t->c, g);
    p->rank = NEW_ARRAY(p->t->c, int, g->value_count);
    for (int i = 0, rank = 0; i < g->value_count; i++)
        p->rank[i] = mark[i] ? rank++ : -1;
    for (int i = 0; i < g->value_count; i++) {
        if (mark[i] != VALUE_READ)
            continue;
        indent(p);
        text_add(p->t, "value ");
        print_value(p, g->value[i]);
        text_add(p->t, "\n");
    }
    print_boundary(p, "input", g->input_count, g->input, g->input_name);
    for (const Node *n = g->first; n; n = n->next)
        print_node(p, n);
    for (int i = 0; i < g->state_count; i++) {
        indent(p);
        text_add(p->t, "state ");
        print_string(p, g->state[i].fqn ? g->state[i].fqn : "");
        text_add(p->t, " ");
        print_value_name(p, g->state[i].before);
        text_add(p->t, " ");
        print_value_name(p, g->state[i].after);
        text_add(p->t, "\n");
    }
    print_boundary(p, "output", g->output_count, g->output, g->output_name);
}

const char *graph_print(Graph *g) {
    Text t = text_new(g->c);
    Stage stage = g->stage > STAGE_QUANTIZED ? STAGE_QUANTIZED : g->stage;
    Printer p = {.t = &t, .g = g, .depth = 1, .stage = stage};
    text_add(&t, "corten %d\ngraph ", TEXT_VERSION);
    print_name(&p, g->name);
    text_add(&t, " %s {\n", stage_words[stage]);
    print_archive(&p);
    print_graph_items(&p);
    text_add(&t, "}\n");
    return text_string(&t);
}
