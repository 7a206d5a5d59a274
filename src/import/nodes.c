/* Nodes of the archive's graphs, one for one and in their order. A name is defined once and read
 * only afterwards, so the result has no cycles. Nodes that work on sizes alone define nothing here.
 */
#include "import/pt2.h"

#include <string.h>

const char *name_clean(C *c, const char *name) {
    char *clean = c_strdup(c, *name ? name : "_");
    for (char *s = clean; *s; s++) {
        bool keep = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                    (*s >= '0' && *s <= '9') || *s == '_' || *s == '.';
        *s = keep ? *s : '_';
    }
    return clean;
}

/* "aten.add.Tensor" of "torch.ops.aten.add.Tensor", "aten.relu" of "torch.ops.aten.relu.default".
 */
static const char *target_text(C *c, const char *target) {
    static const char prefix[] = "torch.ops.", suffix[] = ".default";
    if (strncmp(target, prefix, strlen(prefix)) == 0) {
        target += strlen(prefix);
    }
    size_t length = strlen(target);
    if (text_ends_with(target, suffix)) {
        length -= strlen(suffix);
    }
    return c_strndup(c, target, length);
}

/* ---- names that are read ------------------------------------------------------------------ */

typedef void Reader(Pt2 *p, void *user, const char *name);

static void read_tensor(Pt2 *p, const json_t *tensor, Reader *reader, void *user) {
    const char *name = json_string_value(json_object_get(tensor, "name"));
    if (name) {
        reader(p, user, name);
    }
}

/* Hands on each tensor that an argument names. */
static void read_union(Pt2 *p, const json_t *u, Reader *reader, void *user) {
    json_t *content;
    const char *kind = get_union(p, u, &content);
    if (text_equal(kind, "as_tensor")) {
        read_tensor(p, content, reader, user);
    } else if (text_equal(kind, "as_optional_tensor")) {
        read_union(p, content, reader, user);
    } else if (json_is_array(content)) {
        for (size_t i = 0; i < json_array_size(content); i++) {
            const json_t *item = json_array_get(content, i);
            read_tensor(p,
                        text_equal(kind, "as_optional_tensors") ? json_object_get(item, "as_tensor")
                                                                : item,
                        reader, user);
        }
    }
}

static void use_name(Pt2 *p, void *user, const char *name) {
    (void)user;
    json_object_set_new(p->used, name, json_true());
}

void names_used(Pt2 *p, const json_t *graph) {
    const json_t *nodes = get_array(p, graph, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        p->what = c_format(p->c, "graph.nodes[%zu]", i);
        const json_t *inputs = get_array(p, json_array_get(nodes, i), "inputs");
        for (size_t k = 0; k < json_array_size(inputs); k++) {
            read_union(p, get_object(p, json_array_get(inputs, k), "arg"), use_name, NULL);
        }
    }
    p->what = "graph";
    const json_t *outputs = get_array(p, graph, "outputs");
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        read_union(p, json_array_get(outputs, i), use_name, NULL);
    }
}

/* ---- values ------------------------------------------------------------------------------- */

void scope_open(Pt2 *p, Scope *scope) {
    scope->values = json_object();
    c_defer(p->c, json_release, scope->values);
}

Value *scope_define(Pt2 *p, Scope *scope, const char *name, const Loc *loc, const Meta *meta) {
    if (json_object_get(scope->values, name)) {
        diag_error(p->c, DIAG_INPUT, loc, "'%s' is defined twice", name);
        return NULL;
    }
    Value *v = value_new(p->g, name_clean(p->c, name), meta->type);
    memcpy(v->stride, meta->stride, sizeof v->stride);
    v->storage_offset = meta->offset;
    json_object_set_new(scope->values, name, json_integer(v->id));
    return v;
}

static void names_add(Pt2 *p, Names *names, const char *name) {
    names->name = (const char **)c_grow(p->c, (void *)names->name, names->count, &names->capacity,
                                        names->count + 1, sizeof *names->name);
    names->name[names->count++] = name;
}

static void names_of_outputs(Pt2 *p, const json_t *outputs, Names *out) {
    *out = (Names){0};
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        json_t *content;
        const char *kind = get_union(p, json_array_get(outputs, i), &content);
        if (text_equal(kind, "as_tensor")) {
            names_add(p, out, get_string(p, content, "name"));
        } else if (text_equal(kind, "as_tensors") && json_is_array(content)) {
            for (size_t k = 0; k < json_array_size(content); k++) {
                names_add(p, out, get_string(p, json_array_get(content, k), "name"));
            }
        } else if (text_equal(kind, "as_none")) {
            names_add(p, out, NULL);
        } else if (strncmp(kind, "as_sym_", 7) == 0) {
            out->symbolic = true;
        } else {
            archive_malformed(p, "an output of kind %s is not known", kind);
        }
    }
}

static Meta meta_of_nothing(void) {
    return (Meta){.type = {.dtype = DT_F32, .rank = 1}, .stored = DT_F32, .stride = {1}};
}

static Meta meta_made_up(Pt2 *p) {
    Meta meta = meta_of_nothing();
    p->made_up = meta.made_up = true;
    return meta;
}

/* What the archive says of an output; a placeholder after a diagnostic, so that readers of the
 * name are no follow-up errors. `refused`: the node gets a diagnostic of its own, which says enough
 * of an output that nothing here can hold. */
static Meta meta_of_output(Pt2 *p, const Scope *scope, const char *name, const Loc *loc,
                           bool refused) {
    Meta meta;
    if (!name) {
        return meta_of_nothing();
    }
    const json_t *json = json_object_get(scope->tensors, name);
    if (!json) {
        diag_error(p->c, DIAG_INPUT, loc, "output '%s' has no entry in tensor_values", name);
        return meta_made_up(p);
    }
    if (refused && dtype_is_foreign(json_integer_value(json_object_get(json, "dtype"))))
        return meta_made_up(p);
    const char *what = c_format(p->c, "output '%s'", name);
    if (!meta_read(p, json, loc, what, &meta)) {
        return meta_made_up(p);
    }
    if (meta.symbol && json_object_get(p->used, name)) {
        report_run_time_number(p, loc, c_format(p->c, "dimension %d of %s", meta.symbol_dim, what),
                               meta.symbol);
    }
    return meta;
}

static const char *type_text(C *c, const Type *t) {
    return c_format(c, "%s%s", dtype_name(t->dtype), shape_text(c, t->rank, t->dim));
}

/* ---- nodes -------------------------------------------------------------------------------- */

void define_outputs(Pt2 *p, Scope *scope, Source *s, Node *n) {
    bool known = s->outputs.count > 0;
    Value **out = NEW_ARRAY(p->c, Value *, s->outputs.count);
    for (int k = 0; k < s->outputs.count; k++) {
        Meta meta = meta_of_output(p, scope, s->outputs.name[k], &s->loc, s->refused);
        const char *name = s->outputs.name[k];
        Value *v = name ? scope_define(p, scope, name, &s->loc, &meta) : NULL;
        if (!v) {
            v = value_new(p->g, c_format(p->c, "%s_none", name_clean(p->c, s->name)), meta.type);
        }
        known &= !meta.made_up;
        out[k] = v;
        v->def = n;
        v->def_index = k;
    }
    s->loc.output = known ? type_text(p->c, &out[0]->type) : NULL;
    if (s->archive >= 0)
        p->g->archive[s->archive].loc = s->loc;
    if (n) {
        n->out = out;
        n->out_count = s->outputs.count;
        n->loc = s->loc;
    }
}

static int written_argument(const OpMatch *match) {
    for (int i = 0; i < match->schema->arg_count; i++) {
        if (match->schema->arg[i].write) {
            return i;
        }
    }
    return match->inplace ? schema_written_in_place(match->schema) : -1;
}

static bool output_count_fits(Pt2 *p, const Source *s, const OpMatch *match) {
    const Schema *schema = match->schema;
    bool list = schema->return_count == 1 && schema->ret[0].list;
    bool nothing = match->out && s->outputs.count == 0; /* "Tensor(a!)[] out) -> ()" */
    if (list || nothing || s->outputs.count == schema->return_count) {
        return true;
    }
    diag_error(p->c, DIAG_INPUT, &s->loc, "%s has %d outputs in the archive, not %d", s->op,
               s->outputs.count, schema->return_count);
    return false;
}

/* An archive could claim any sizes for an output, and later passes would trust them: they must be
 * those that the operator gives. A written operand keeps its type, whatever would be promoted. */
static void check_types(Pt2 *p, const Source *s, Node *n) {
    C *c = p->c;
    int count = n->out_count, errors = diag_error_count(c);
    bool malformed = errors > 0 && diag_exit_code(c) != DIAG_MODEL;
    if (count == 0 || p->made_up || p->dynamic_inputs > 0 ||
        malformed) /* errors would only follow from errors */
        return;
    Type *claimed = NEW_ARRAY(c, Type, count);
    for (int k = 0; k < count; k++)
        claimed[k] = n->out[k]->type;
    bool inplace = n->writes && !n->out_arg && !(n->op->traits & OP_VIEW_INPLACE);
    int out_args = n->out_arg_count;
    n->out_arg_count = 0; /* out= takes the result's shape, but keeps the target's dtype */
    if (inplace)
        n->out[0]->type = n->arg[n->written_arg].u.value->type;
    else
        node_infer(c, n);
    n->out_arg_count = out_args;
    for (int k = 0; k < out_args && k < n->out_count; k++)
        n->out[k]->type.dtype = n->out_arg[k]->type.dtype;
    if (diag_error_count(c) > errors) { /* the next are compared with what the archive says */
        for (int k = 0; k < count && k < n->out_count; k++)
            n->out[k]->type = claimed[k];
        return;
    }
    for (int k = 0; k < count && k < n->out_count; k++) {
        Type *is = &n->out[k]->type;
        is->dtype = dtype_meant(is->dtype);
        if (s->outputs.name[k] && !type_equal(is, &claimed[k]))
            diag_error(c, DIAG_INPUT, &s->loc,
                       "output %d of %s is %s in the archive, but must be %s", k, s->op,
                       type_text(c, &claimed[k]), type_text(c, is));
    }
    if (count != n->out_count)
        diag_error(c, DIAG_INPUT, &s->loc, "%s has %d outputs in the archive, but must have %d",
                   s->op, count, n->out_count);
}

static void build_node(Pt2 *p, Scope *scope, Source *s, const OpMatch *match) {
    CallArgs args;
    bool good = args_read(p, scope, s->inputs, match, &s->loc, s->op, &args);
    int written = written_argument(match);
    if (good && written >= 0 && args.arg[written].kind != ARG_VALUE) {
        diag_error(p->c, DIAG_INPUT, &s->loc, "argument '%s' of %s is written, but is no tensor",
                   match->schema->arg[written].name, s->op);
        good = false;
    }
    if (!good || !output_count_fits(p, s, match)) {
        define_outputs(p, scope, s, NULL);
        return;
    }
    Node *n = node_insert(p->g, NULL, match->op, name_clean(p->c, s->name), args.arg, 0, NULL);
    n->origins = s->origins;
    n->writes = written >= 0 || args.out_count > 0;
    n->written_arg = written >= 0 ? written : 0;
    n->out_arg_count = args.out_count;
    n->out_arg = args.out;
    n->copies = match->copy;
    define_outputs(p, scope, s, n);
    check_types(p, s, n);
}

/* One message per operator, with all its nodes. */
static void report_unknown(Pt2 *p, const Source *s) {
    const char *why = op_excluded(p->c, s->target), *known = op_namesakes(p->c, s->target);
    const char *message =
        why     ? c_format(p->c, "%s has no integer form: %s", s->op, why)
        : known ? c_format(p->c, "operator %s with these arguments is not known: known are %s",
                           s->op, known)
                : c_format(p->c, "operator %s is not known", s->op);
    if (s->archive >= 0)
        p->g->archive[s->archive].reason = message;
    json_t *seen = json_object_get(p->unknown, s->target);
    if (seen) {
        Diag *d = (Diag *)(intptr_t)json_integer_value(seen);
        const char *place =
            s->loc.line > 0 ? c_format(p->c, " (%s:%d)", s->loc.file, s->loc.line) : "";
        d->detail = c_format(p->c, "%s%salso node %s%s", d->detail ? d->detail : "",
                             d->detail ? "\n" : "", s->name, place);
        return;
    }
    diag_error(p->c, DIAG_MODEL, &s->loc, "%s", message);
    json_object_set_new(p->unknown, s->target, json_integer((intptr_t)p->c->last_diag));
}

void record_removed(Pt2 *p, const Source *s, const char *reason) {
    if (s->archive >= 0) {
        p->g->archive[s->archive].fate = FATE_REMOVED;
        p->g->archive[s->archive].reason = reason;
    }
}

/* ---- one node ----------------------------------------------------------------------------- */

/* Whether the node only works on numbers known at run time: it has no tensor output. */
static bool reads_symbols_only(const json_t *inputs) {
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *u = json_object_get(json_array_get(inputs, i), "arg");
        if (json_object_get(u, "as_sym_bool") || json_object_get(u, "as_sym_int") ||
            json_object_get(u, "as_sym_float")) {
            return true;
        }
    }
    return false;
}

static const char *source_name(Pt2 *p, const Scope *scope, const json_t *json, const Source *s) {
    const char *name = json_string_value(json_object_get(json, "name"));
    if (!name) { /* archives before schema 8.9 or so have none */
        name = s->outputs.count > 0 && s->outputs.name[0] ? s->outputs.name[0] : s->op;
    }
    name = c_strdup(p->c, name);
    if (scope->depth == 0 && json_object_get(p->node_names, name) &&
        json_object_get(json, "name")) {
        Loc loc = {.file = p->path, .member = p->member};
        diag_error(p->c, DIAG_INPUT, &loc, "%s: two nodes have the name '%s'", p->what, name);
    }
    json_object_set_new(p->node_names, name, json_true());
    return name;
}

static void record_source(Pt2 *p, const Scope *scope, Source *s) {
    Graph *g = p->g;
    s->archive = -1;
    if (scope->origins) {
        s->origins = *scope->origins;
        return;
    }
    s->archive = g->archive_count++;
    s->origins = (Origins){.count = 1, .id = NEW(p->c, int)};
    s->origins.id[0] = s->archive;
    g->archive[s->archive] = (ArchiveNode){
        .name = s->name, .op = s->op, .module = s->loc.module, .loc = s->loc, .into = -1};
}

/* A read of what another node or an input has made: weights come from none. */
static void add_read(Pt2 *p, void *user, const char *name) {
    Origins *reads = user;
    const json_t *maker = json_object_get(p->makers, name);
    int id = (int)json_integer_value(maker), at = reads->count;
    if (!maker || origins_have(reads, id))
        return;
    int *all = NEW_ARRAY(p->c, int, reads->count + 1);
    while (at > 0 && reads->id[at - 1] > id)
        at--;
    for (int i = 0; i < reads->count; i++)
        all[i + (i >= at)] = reads->id[i];
    all[at] = id;
    reads->id = all;
    reads->count++;
}

/* Who reads whom, as the archive has it: for the report's picture of the network. */
static void record_reads(Pt2 *p, const Source *s) {
    if (s->archive < 0)
        return;
    Origins *reads = &p->g->archive[s->archive].reads;
    for (size_t i = 0; i < json_array_size(s->inputs); i++)
        read_union(p, get_object(p, json_array_get(s->inputs, i), "arg"), add_read, reads);
    for (int k = 0; k < s->outputs.count; k++)
        if (s->outputs.name[k])
            json_object_set_new(p->makers, s->outputs.name[k], json_integer(s->archive));
}

/* What an in-place node has written is from now on its own, under the old name too. */
static void record_write(Pt2 *p, const Source *s) {
    json_t *content;
    if (s->archive < 0 || json_array_size(s->inputs) == 0)
        return;
    const json_t *first = get_object(p, json_array_get(s->inputs, 0), "arg");
    if (!text_equal(get_union(p, first, &content), "as_tensor"))
        return;
    const char *name = json_string_value(json_object_get(content, "name"));
    if (name && json_object_get(p->makers, name))
        json_object_set_new(p->makers, name, json_integer(s->archive));
}

static void node_read(Pt2 *p, Scope *scope, const json_t *json) {
    Source s = {.inputs = get_array(p, json, "inputs")};
    s.target = c_strdup(p->c, get_string(p, json, "target"));
    s.op = target_text(p->c, s.target);
    if (!*s.op)
        archive_malformed(p, "'target' is empty");
    names_of_outputs(p, get_array(p, json, "outputs"), &s.outputs);
    s.name = source_name(p, scope, json, &s);
    s.loc = loc_read(p, json_object_get(json, "metadata"), s.name);
    s.loc.op = operator_bare(p->c, s.op);
    record_source(p, scope, &s);
    record_reads(p, &s);
    OpMatch match;
    if (region_read(p, scope, &s)) {
    } else if (s.outputs.symbolic || (s.outputs.count == 0 && reads_symbols_only(s.inputs))) {
        record_removed(p, &s, "works on sizes only"); /* whoever reads its result is refused */
        define_outputs(p, scope, &s, NULL);
    } else if (op_match(p->c, s.target, (int)json_array_size(s.inputs), args_given(p, s.inputs),
                        &match)) {
        if (match.inplace)
            record_write(p, &s);
        build_node(p, scope, &s, &match);
    } else {
        s.refused = true;
        define_outputs(p, scope, &s, NULL);
        report_unknown(p, &s);
    }
}

void nodes_read(Pt2 *p, Scope *scope, const json_t *nodes) {
    const char *outer = p->what;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        p->what = c_format(p->c, "%s.nodes[%zu]", scope->depth ? outer : "graph", i);
        node_read(p, scope, json_array_get(nodes, i));
    }
    p->what = outer;
}
