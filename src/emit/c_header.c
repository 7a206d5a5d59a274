/* The header of an emitted model: sizes, the boundary's types, and the functions to call. */
#include "emit/emit.h"
#include "emit/names.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *upper_name(C *c, const char *s) {
    char *u = c_strdup(c, s);
    for (char *p = u; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return u;
}

const char *c_type_name(DType t) {
    switch (t) {
    case DT_I8:
        return "int8_t";
    case DT_U8:
    case DT_BOOL:
        return "uint8_t";
    case DT_I16:
    case DT_F16:
    case DT_BF16:
        return "int16_t";
    case DT_I32:
        return "int32_t";
    case DT_I64:
        return "int64_t";
    case DT_F64:
        return "double";
    default:
        return "float";
    }
}

/* "real = 0.0078125 * (q + 128)", a part per line when there are several */
static const char *grid_text(C *c, const Value *v) {
    if (!v->grid)
        return "";
    Text t = text_new(c);
    for (int i = 0; i < v->grid->part_count; i++) {
        const Part *p = &v->grid->part[i];
        text_add(&t, "\n *   real = %.9g * (q %c %d)", p->scale, p->zero_point > 0 ? '-' : '+',
                 p->zero_point > 0 ? p->zero_point : -p->zero_point);
        if (p->axis >= 0)
            text_add(&t, " for indices %lld to %lld of dim %d", (long long)p->start,
                     (long long)p->stop - 1, p->axis);
    }
    return text_string(&t);
}

/* Names come from archives: none may end the comment that it stands in. */
const char *comment_text(C *c, const char *s) {
    char *safe = c_strdup(c, s ? s : "");
    for (char *p = safe; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '\\')
            *p = '?';
        if (p > safe && ((p[-1] == '*' && *p == '/') || (p[-1] == '/' && *p == '*')))
            *p = '?';
    }
    return safe;
}

/* The same for names that stand between quotes. */
const char *string_text(C *c, const char *s) {
    char *safe = c_strdup(c, s ? s : "");
    for (char *p = safe; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '\\' || *p == '"' || *p == '?')
            *p = '_';
    return safe;
}

const char *region_name(C *c, const Graph *g, int region) {
    static const char *const names[CTN_MORE] = {
        [CTN_ARENA] = "CTN_ARENA",   [CTN_STATE] = "CTN_STATE",     [CTN_WEIGHTS] = "CTN_WEIGHTS",
        [CTN_INPUTS] = "CTN_INPUTS", [CTN_OUTPUTS] = "CTN_OUTPUTS",
    };
    return region < CTN_MORE ? names[region]
                             : c_format(c, "%s_%s", upper_name(c, g->name),
                                        upper_name(c, g->region[region].name));
}

bool region_is_used(const Graph *g, int region) {
    return g->region[region].name &&
           (g->region[region].bytes > 0 || (region == CTN_ARENA && g->arena_bytes == 0));
}

int init_regions(const Graph *g, int region[CTN_REGIONS]) {
    int count = 0;
    for (int r = 0; r < CTN_REGIONS; r++)
        if (region_is_used(g, r) && g->region[r].kind == REGION_ARENA)
            region[count++] = r;
    region[count++] = CTN_STATE;
    return count;
}

/* "arena, state" with something before each name. */
static const char *init_names(C *c, const Graph *g, const char *before) {
    Text t = text_new(c);
    int region[CTN_REGIONS], count = init_regions(g, region);
    for (int i = 0; i < count; i++)
        text_add(&t, "%s%s%s", i ? ", " : "", before, g->region[region[i]].name);
    return text_string(&t);
}

const char *region_array(C *c, const Graph *g, int region) {
    const MemoryRegion *r = &g->region[region];
    if (r->bytes == 0 && r->kind == REGION_STATE)
        return "0";
    return r->symbol ? r->symbol : c_format(c, "%s_%s", g->name, r->name);
}

const char *init_parameters(C *c, const Graph *g) {
    return init_names(c, g, "void *");
}

static void add_boundary(Text *t, C *c, const Graph *g, const char *kind, int k, const Arg *arg,
                         const char *name) {
    if (arg->kind != ARG_VALUE)
        return;
    const Value *v = arg->u.value;
    name = comment_text(c, name);
    if (!v->buffer) {
        text_add(t, "/* %s %d, \"%s\": nothing reads it */\n\n", kind, k, name);
        return;
    }
    const char *upper = upper_name(c, g->name), *KIND = upper_name(c, kind);
    const char *type = c_type_name(value_storage(v));
    bool moved = !value_order_is_identity(v);
    text_add(t, "/* %s %d, \"%s\": %s%s%s%s */\n", kind, k, name, dtype_name(value_storage(v)),
             shape_text(c, v->type.rank, v->type.dim), moved ? ", stored channels last" : "",
             grid_text(c, v));
    text_add(t, "#define %s_%s%d_OFFSET %lldu\n", upper, KIND, k,
             (long long)(v->buffer->offset + v->buffer_offset));
    text_add(t, "#define %s_%s%d_BYTES %lldu\n", upper, KIND, k, (long long)value_bytes(v));
    text_add(t, "#define %s_%s%d_COUNT %lldu\n", upper, KIND, k, (long long)type_count(&v->type));
    if (v->grid && v->grid->part_count == 1) {
        text_add(t, "#define %s_%s%d_SCALE %.9gf\n", upper, KIND, k, v->grid->part[0].scale);
        text_add(t, "#define %s_%s%d_ZERO_POINT (%d)\n", upper, KIND, k,
                 v->grid->part[0].zero_point);
    }
    text_add(t, "static inline %s *%s_%s%d(const %s_t *self) {\n", type, g->name, kind, k, g->name);
    text_add(t, "    return (%s *)(void *)(self->frame.base[%s] + %s_%s%d_OFFSET);\n}\n\n", type,
             region_name(c, g, v->buffer->region), upper, KIND, k);
}

/* The same for arenas that are arrays: one that is too small does not compile. */
static void add_checked_init(Text *t, C *c, const Graph *g, const char *upper) {
    int region[CTN_REGIONS], count = init_regions(g, region);
    text_add(
        t,
        "/* The same for an arena that is an array: one that is too small does not compile. */\n"
        "#define %s_INIT(self, %s) \\\n    (",
        upper, init_names(c, g, ""));
    for (int i = 0; i + 1 < count; i++) {
        const char *name = g->region[region[i]].name;
        text_add(t, "(void)sizeof(char[sizeof(%s) >= %s_%s_BYTES ? 1 : -1]), \\\n     ", name,
                 upper, upper_name(c, name));
    }
    text_add(t, "%s_init(self, %s))\n\n", g->name, init_names(c, g, ""));
}

static void add_functions(Text *t, C *c, const Graph *g, const char *upper, bool keeps) {
    const char *n = g->name;
    int region[CTN_REGIONS], count = init_regions(g, region);
    text_add(t, "/* Binds an instance to its memory, 16-byte aligned:\n");
    for (int i = 0; i < count; i++)
        text_add(t, " * %s of at least %s_%s_BYTES%s\n", g->region[region[i]].name, upper,
                 upper_name(c, g->region[region[i]].name), i + 1 < count ? "," : ".");
    text_add(
        t,
        " * Instances that never run at the same time may share all but the state, which is\n"
        " * reset. Returns 0, or -1 when the memory is not aligned: then nothing is bound. */\n");
    text_add(t, "int %s_init(%s_t *self, %s);\n\n", n, n, init_parameters(c, g));
    add_checked_init(t, c, g, upper);
    text_add(t, "/* The state as it was before the first run. */\nvoid %s_reset(%s_t *self);\n\n",
             n, n);
    text_add(t,
             "/* One inference. Write the inputs before, read the outputs after; the memory of\n"
             " * an input %s during the run. */\nvoid %s_run(%s_t *self);\n\n",
             keeps ? "is left as it is" : "may be reused", n, n);
    text_add(
        t,
        "/* A run in steps, for schedulers that cannot spare the time of a whole one: does the\n"
        " * next call and returns 1 while calls are left, or 0 when the outputs are there.\n"
        " * %s_init() and a whole run start over. */\nint %s_step(%s_t *self);\n\n",
        n, n, n);
    text_add(t, "/* Call k of %s_CALL_COUNT alone: a run is all of them in order. */\n", upper);
    text_add(t, "void %s_call(const %s_t *self, int k);\n\n", n, n);
}

static void add_bind(Text *t, const Graph *g, int region, const char *comment) {
    const char *name = g->region[region].name;
    if (g->region[region].bytes == 0)
        return;
    text_add(t, "%s Returns 0, or -1 when it is not\n * aligned: then nothing is bound. */\n",
             comment);
    text_add(t,
             "static inline int %s_bind_%s(%s_t *self, void *%s) {\n"
             "    if (((uintptr_t)%s & 15) != 0)\n        return -1;\n"
             "    self->frame.base[CTN_%s] = (uint8_t *)%s;\n    return 0;\n}\n\n",
             g->name, name, g->name, name, name, region == CTN_INPUTS ? "INPUTS" : "OUTPUTS", name);
}

static void add_binding(Text *t, C *c, const Graph *g, const char *upper) {
    add_bind(
        t, g, CTN_INPUTS,
        c_format(c,
                 "/* Where the inputs of the next run are: %s_INPUTS_BYTES of yours, 16-byte\n"
                 " * aligned, which a run only reads. Fill one buffer while the model runs on\n"
                 " * another.",
                 upper));
    add_bind(t, g, CTN_OUTPUTS,
             c_format(c,
                      "/* Where the next run leaves its outputs: %s_OUTPUTS_BYTES of yours,\n"
                      " * 16-byte aligned, which nothing else is kept in.",
                      upper));
}

static void add_tracing(Text *t, const Graph *g, const char *upper) {
    text_add(t,
             "/* Defined for the .c file, %s_TRACE has every call reported to this\n"
             " * function of yours: done is 0 before and 1 behind call k. Without it nothing of\n"
             " * this is compiled. %s_call_info says what a call is and where its output lies:\n"
             " * valid when it is done, until later calls reuse the memory. */\n"
             "#ifdef %s_TRACE\n"
             "void %s_trace(const %s_t *self, int k, int done);\n",
             upper, g->name, upper, g->name, g->name);
    if (g->first_call)
        text_add(t, "extern const CtnCallInfo %s_call_info[%s_CALL_COUNT];\n", g->name, upper);
    text_add(t, "#endif\n\n");
}

/* The arrays that the .c file defines, or the program's own. A larger arena may be asked for, a
 * smaller one is refused when the .c file is compiled. */
static void add_array(Text *t, C *c, const Graph *g, const char *upper, int region) {
    const MemoryRegion *r = &g->region[region];
    const char *name = upper_name(c, r->name);
    if (r->symbol)
        text_add(t, "extern uint8_t %s[]; /* yours, CTN_ALIGN(16), of at least %s_%s_BYTES */\n",
                 r->symbol, upper, name);
    else if (r->kind == REGION_ARENA)
        text_add(t,
                 "#ifndef %s_%s_SIZE /* may be larger than what is needed */\n"
                 "#define %s_%s_SIZE %s_%s_BYTES\n#endif\n"
                 "extern uint8_t %s[%s_%s_SIZE];\n",
                 upper, name, upper, name, upper, name, region_array(c, g, region), upper, name);
    else if (r->bytes > 0)
        text_add(t, "extern uint8_t %s[%s_%s_BYTES];\n", region_array(c, g, region), upper, name);
}

static void add_memory(Text *t, C *c, const Graph *g, const char *upper) {
    int region[CTN_REGIONS], count = init_regions(g, region);
    text_add(t, "/* Memory for one instance, unless %s_OWN_MEMORY is defined for the .c file. */\n",
             upper);
    for (int i = 0; i < count; i++)
        add_array(t, c, g, upper, region[i]);
    text_add(t, "/* Binds an instance to it. */\n#define %s_SETUP(self) %s_INIT(self", upper,
             upper);
    for (int i = 0; i < count; i++)
        text_add(t, ", %s", region_array(c, g, region[i]));
    text_add(t, ")\n\n");
}

/* Of the calls that have weights, how many have them in 4 bits. */
static void add_weight_bits(Text *t, const Graph *g) {
    int all = 0, int4 = 0;
    for (const Call *call = g->first_call; call; call = call->next) {
        const Node *n = call->node;
        const Value *w = n && node_takes(n, "weight") ? node_in(n, "weight") : NULL;
        if (!w || !w->constant || !w->grid || n->op->quant.in[1] != Q_WEIGHT)
            continue;
        all++;
        int4 += w->grid->bits == 4;
    }
    if (int4 > 0)
        text_add(t, "/* Weights are int4 in %d of %d layers that have any, else int8. */\n", int4,
                 all);
}

/* In all, and of each memory where there are several. */
static void add_sizes(Text *t, C *c, const Graph *g, const char *upper) {
    text_add(t, "#define %s_ARENA_BYTES %lld\n", upper, (long long)g->arena_bytes);
    text_add(t, "#define %s_STATE_BYTES %lld\n", upper, (long long)g->state_bytes);
    text_add(t, "#define %s_WEIGHTS_BYTES %lld\n", upper, (long long)g->weights_bytes);
    for (int r = 0; r < CTN_REGIONS; r++) {
        bool known = !g->region[r].name || strcmp(g->region[r].name, "arena") == 0 ||
                     strcmp(g->region[r].name, "weights") == 0 || r == CTN_STATE;
        if (!known && region_is_used(g, r))
            text_add(t, "#define %s_%s_BYTES %lld\n", upper, upper_name(c, g->region[r].name),
                     (long long)g->region[r].bytes);
    }
}

/* The places of further memories in the frame. */
static void add_places(Text *t, C *c, const Graph *g) {
    bool any = false;
    for (int r = CTN_MORE; r < CTN_REGIONS; r++) {
        if (!region_is_used(g, r))
            continue;
        text_add(t, "%s    %s = CTN_MORE + %d,\n",
                 any ? "" : "/* Further memories, in the frame. */\nenum {\n", region_name(c, g, r),
                 r - CTN_MORE);
        any = true;
    }
    text_add(t, "%s", any ? "};\n\n" : "");
}

const char *c_header(C *c, const Graph *g, const Options *o) {
    Text t = text_new(c);
    const char *upper = upper_name(c, g->name);
    text_add(&t, "/* %s for %s (%s), made by corten %s. Do not edit: compile the model again. */\n",
             g->name, o->cpu->name, o->isa, CORTEN_VERSION);
    text_add(&t, "#ifndef %s_H\n#define %s_H\n\n#include \"ctn.h\"\n\n", upper, upper);
    text_add(&t,
             "#if CTN_INTERFACE != %d\n"
             "#error \"runtime/ is of another corten than this file\"\n#endif\n\n",
             CTN_INTERFACE);
    text_add(&t, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text_add(&t, "#define %s_SOURCE_SHA256 \"%s\"\n", upper, g->source_sha256);
    add_sizes(&t, c, g, upper);
    add_weight_bits(&t, g);
    text_add(&t, "#define %s_CALL_COUNT %d\n", upper, g->call_count);
    text_add(&t, "#define %s_INPUT_COUNT %d\n", upper, g->input_count);
    text_add(&t, "#define %s_OUTPUT_COUNT %d\n\n", upper, g->output_count);
    text_add(&t,
             "/* One instance; there is no other memory that a run writes. */\ntypedef struct {\n  "
             "  CtnFrame frame;\n    int next_call; /* of %s_step */\n} %s_t;\n\n",
             g->name, g->name);
    add_places(&t, c, g);
    add_functions(&t, c, g, upper, o->keep_inputs || o->bind_inputs);
    add_binding(&t, c, g, upper);
    add_tracing(&t, g, upper);
    add_memory(&t, c, g, upper);
    for (int i = 0; i < g->input_count; i++)
        add_boundary(&t, c, g, "input", i, &g->input[i], g->input_name ? g->input_name[i] : NULL);
    for (int i = 0; i < g->output_count; i++)
        add_boundary(&t, c, g, "output", i, &g->output[i],
                     g->output_name ? g->output_name[i] : NULL);
    text_add(&t, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
    return text_string(&t);
}
