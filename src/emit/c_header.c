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

const char *region_name(int region) {
    static const char *const names[CTN_REGIONS] = {
        [CTN_ARENA] = "CTN_ARENA",
        [CTN_STATE] = "CTN_STATE",
        [CTN_WEIGHTS] = "CTN_WEIGHTS",
        [CTN_INPUTS] = "CTN_INPUTS",
    };
    return names[region];
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
             region_name(v->buffer->region), upper, KIND, k);
}

static void add_functions(Text *t, const Graph *g, const char *upper) {
    const char *n = g->name;
    text_add(
        t,
        "/* Binds an instance to its memory: arena and state, 16-byte aligned, of at least\n"
        " * %s_ARENA_BYTES and %s_STATE_BYTES. Instances that never run at the\n"
        " * same time may share an arena. The state is reset. Returns 0, or -1 when the memory\n"
        " * is not aligned: then nothing is bound. */\n",
        upper, upper);
    text_add(t, "int %s_init(%s_t *self, void *arena, void *state);\n\n", n, n);
    text_add(
        t,
        "/* The same for an arena that is an array: one that is too small does not compile. */\n"
        "#define %s_INIT(self, arena, state) \\\n"
        "    ((void)sizeof(char[sizeof(arena) >= %s_ARENA_BYTES ? 1 : -1]), \\\n"
        "     %s_init(self, arena, state))\n\n",
        upper, upper, n);
    text_add(t, "/* The state as it was before the first run. */\nvoid %s_reset(%s_t *self);\n\n",
             n, n);
    text_add(t,
             "/* One inference. Write the inputs before, read the outputs after; the memory of\n"
             " * an input may be reused during the run. */\nvoid %s_run(%s_t *self);\n\n",
             n, n);
    text_add(
        t,
        "/* A run in steps, for schedulers that cannot spare the time of a whole one: does the\n"
        " * next call and returns 1 while calls are left, or 0 when the outputs are there.\n"
        " * %s_init() and a whole run start over. */\nint %s_step(%s_t *self);\n\n",
        n, n, n);
    text_add(t, "/* Call k of %s_CALL_COUNT alone: a run is all of them in order. */\n", upper);
    text_add(t, "void %s_call(const %s_t *self, int k);\n\n", n, n);
}

/* A run only reads them, so that the next can be filled meanwhile. */
static void add_binding(Text *t, const Graph *g, const char *upper) {
    if (g->input_bytes == 0)
        return;
    text_add(
        t,
        "/* Where the inputs of the next run are: %s_INPUTS_BYTES of yours, 16-byte\n"
        " * aligned, which a run only reads. Fill one buffer while the model runs on another. */\n"
        "static inline void %s_bind_inputs(%s_t *self, void *inputs) {\n"
        "    self->frame.base[CTN_INPUTS] = (uint8_t *)inputs;\n}\n\n",
        upper, g->name, g->name);
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

/* The arrays that the .c file defines. A larger arena may be asked for, a smaller one is refused
 * when the .c file is compiled. */
static void add_memory(Text *t, const Graph *g, const char *upper) {
    text_add(t,
             "/* Memory for one instance, unless %s_OWN_MEMORY is defined for the .c file.\n"
             " * %s_ARENA_SIZE may be defined larger than what is needed. */\n",
             upper, upper);
    text_add(t, "#ifndef %s_ARENA_SIZE\n#define %s_ARENA_SIZE %s_ARENA_BYTES\n#endif\n", upper,
             upper, upper);
    text_add(t, "extern uint8_t %s_arena[%s_ARENA_SIZE];\n", g->name, upper);
    if (g->state_bytes)
        text_add(t, "extern uint8_t %s_state[%s_STATE_BYTES];\n", g->name, upper);
    text_add(t, "\n");
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
    text_add(&t, "#define %s_ARENA_BYTES %lld\n", upper, (long long)g->arena_bytes);
    text_add(&t, "#define %s_STATE_BYTES %lld\n", upper, (long long)g->state_bytes);
    if (g->input_bytes)
        text_add(&t, "#define %s_INPUTS_BYTES %lld\n", upper, (long long)g->input_bytes);
    add_weight_bits(&t, g);
    text_add(&t, "#define %s_WEIGHTS_BYTES %lld\n", upper, (long long)g->weights_bytes);
    text_add(&t, "#define %s_CALL_COUNT %d\n", upper, g->call_count);
    text_add(&t, "#define %s_INPUT_COUNT %d\n", upper, g->input_count);
    text_add(&t, "#define %s_OUTPUT_COUNT %d\n\n", upper, g->output_count);
    text_add(&t,
             "/* One instance; there is no other memory that a run writes. */\ntypedef struct {\n  "
             "  CtnFrame frame;\n    int next_call; /* of %s_step */\n} %s_t;\n\n",
             g->name, g->name);
    add_functions(&t, g, upper);
    add_binding(&t, g, upper);
    add_tracing(&t, g, upper);
    add_memory(&t, g, upper);
    for (int i = 0; i < g->input_count; i++)
        add_boundary(&t, c, g, "input", i, &g->input[i], g->input_name ? g->input_name[i] : NULL);
    for (int i = 0; i < g->output_count; i++)
        add_boundary(&t, c, g, "output", i, &g->output[i],
                     g->output_name ? g->output_name[i] : NULL);
    text_add(&t, "#ifdef __cplusplus\n}\n#endif\n#endif\n");
    return text_string(&t);
}
