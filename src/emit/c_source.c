/* The source of an emitted model: constants as one struct, the arguments of each call, and the
 * list of calls. The struct's members stand at the offsets that plan gave them, which the compiler
 * checks by a static assertion. */
#include "emit/names.h"
#include "lower/memory.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 100 };

/* Appends "item," and breaks the line where it would pass column 100. A model has millions of
 * numbers: no formatting here. */
void c_add_item(Text *t, int *column, const char *item) {
    size_t length = strlen(item);
    if (*column + (int)length + 2 > LINE) {
        text_add_bytes(t, "\n        ", 9);
        *column = 8;
    } else if (*column > 8) {
        text_add_bytes(t, " ", 1);
        *column += 1;
    }
    text_add_bytes(t, item, length);
    text_add_bytes(t, ",", 1);
    *column += (int)length + 1;
}

/* ---- constants ----------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b) {
    const Buffer *x = *(Buffer *const *)a, *y = *(Buffer *const *)b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->id - y->id;
}

static int constants_in_order(C *c, const Graph *g, int region, Buffer ***out) {
    *out = NEW_ARRAY(c, Buffer *, g->buffer_count + 1);
    int count = 0;
    for (int i = 0; i < g->buffer_count; i++)
        if (g->buffer[i]->kind == BUFFER_CONSTANT && g->buffer[i]->last_call >= 0 &&
            g->buffer[i]->region == region)
            (*out)[count++] = g->buffer[i];
    qsort(*out, (size_t)count, sizeof **out, by_offset);
    int kept = 0; /* equal constants share one place: the first names it */
    for (int i = 0; i < count; i++)
        if (kept == 0 || (*out)[kept - 1]->offset != (*out)[i]->offset)
            (*out)[kept++] = (*out)[i];
    return kept;
}

/* The first member aligns the struct as all constants are: objects then meet without a gap. */
static void add_member(Text *t, const Buffer *b, bool is_first) {
    int size = dtype_size(b->element), align = b->align;
    if (is_first && align < CONSTANTS_ALIGN)
        align = CONSTANTS_ALIGN;
    text_add(t, "    ");
    if (align > size)
        text_add(t, "CTN_ALIGN(%d) ", align);
    text_add(t, "%s %s[%lld];\n", c_type_name(b->element), b->name, (long long)(b->bytes / size));
}

enum { NUMBER_TEXT = 40 };

static void integer_text(char out[NUMBER_TEXT], int64_t n) {
    char digit[24];
    int count = 0;
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    do
        digit[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (n < 0)
        *out++ = '-';
    while (count > 0)
        *out++ = digit[--count];
    *out = 0;
}

static void number_text(char out[NUMBER_TEXT], const Array *a, int64_t i) {
    if (!dtype_is_float(a->dtype)) {
        integer_text(out, array_get_int(a, i));
        return;
    }
    double x = array_get(a, i);
    if (isfinite(x)) /* %#g: 1 is no float constant with a suffix, 1. is */
        snprintf(out, NUMBER_TEXT, a->dtype == DT_F32 ? "%#.9gF" : "%#.17g", x);
    else
        snprintf(out, NUMBER_TEXT, "%s",
                 isnan(x) ? "__builtin_nanf(\"\")"
                 : x > 0  ? "__builtin_inff()"
                          : "-__builtin_inff()");
}

static void add_array(Text *t, const Array *a) {
    char item[NUMBER_TEXT];
    int column = 8;
    for (int64_t i = 0, count = array_count(a); i < count; i++) {
        number_text(item, a, i);
        c_add_item(t, &column, item);
    }
}

static void add_numbers(Text *t, const Buffer *b) {
    const Array a = {b->element, 1, {b->bytes / dtype_size(b->element)}, (void *)b->data};
    text_add(t, "    .%s = {\n        ", b->name);
    add_array(t, &a);
    text_add(t, "\n    },\n");
}

/* "weights" -> "Weights", "itcm_weights" -> "ItcmWeights" */
static const char *type_name(C *c, const char *name) {
    char *type = c_strdup(c, name), *to = type;
    bool up = true;
    for (const char *p = name; *p; p++) {
        if (*p == '_') {
            up = true;
            continue;
        }
        *to++ = up ? (char)toupper((unsigned char)*p) : *p;
        up = false;
    }
    *to = 0;
    return type;
}

/* The macro that makes a reference to a member: "WEIGHT", "ITCM_WEIGHT". */
static const char *reference_macro(C *c, const MemoryRegion *r) {
    const char *name = upper_name(c, r->name);
    return c_strndup(c, name, strlen(name) - 1);
}

/* What stands before the definition of a region's object; whoever builds may define it anew. */
static void add_section(Text *t, C *c, const Graph *g, const char *upper, int region) {
    const MemoryRegion *r = &g->region[region];
    const char *name = upper_name(c, r->name);
    text_add(t, "#ifndef %s_%s_SECTION\n#define %s_%s_SECTION", upper, name, upper, name);
    if (r->section)
        text_add(t, " __attribute__((section(\"%s\")))", r->section);
    text_add(t, "\n#endif\n");
}

static void add_weights(Text *t, C *c, const Graph *g, const char *upper, int region) {
    const MemoryRegion *r = &g->region[region];
    const char *type = type_name(c, r->name);
    Buffer **constant;
    int count = constants_in_order(c, g, region, &constant);
    if (count == 0)
        return;
    text_add(t, "typedef struct {\n");
    for (int i = 0; i < count; i++)
        add_member(t, constant[i], i == 0);
    text_add(t, "} %s;\n\n", type);
    text_add(t, "CTN_ASSERT(sizeof(%s) == %lld, \"constants must lie as they were planned\");\n\n",
             type, (long long)r->bytes);
    add_section(t, c, g, upper, region);
    text_add(t, "%s_%s_SECTION static const %s %s = {\n", upper, upper_name(c, r->name), type,
             r->name);
    for (int i = 0; i < count; i++)
        add_numbers(t, constant[i]);
    text_add(t, "};\n\n#define %s(member) CTN_REF(%s, offsetof(%s, member))\n\n",
             reference_macro(c, r), region_name(c, g, region), type);
}

/* ---- calls --------------------------------------------------------------------------------- */

static const char *constant_name(const Graph *g, const Buffer *b) {
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *o = g->buffer[i];
        if (o->kind == BUFFER_CONSTANT && o->last_call >= 0 && o->region == b->region &&
            o->offset == b->offset)
            return o->name;
    }
    return b->name;
}

static const char *ref_text(C *c, const Graph *g, const Call *call, const KernelField *field) {
    for (int r = 0; r < call->ref_count; r++) {
        const CallRef *ref = &call->ref[r];
        if (ref->field_offset != field->offset || !ref->buffer)
            continue;
        const Buffer *b = ref->buffer;
        const MemoryRegion *region = &g->region[b->region];
        if (region->kind != REGION_CONSTANTS)
            return c_format(c, "CTN_REF(%s, %lld)", region_name(c, g, b->region),
                            (long long)(b->offset + ref->offset));
        const char *whole = c_format(c, "%s(%s)", reference_macro(c, region), constant_name(g, b));
        return ref->offset == 0 ? whole : c_format(c, "%s + %lld", whole, (long long)ref->offset);
    }
    return "CTN_NONE";
}

static const char *field_text(C *c, const Graph *g, const Call *call, const KernelField *field) {
    if (field->kind == FIELD_REF)
        return c_format(c, ".%s = %s", field->name, ref_text(c, g, call, field));
    const int32_t *value = (const int32_t *)((const char *)call->args + field->offset);
    if (field->kind == FIELD_INT)
        return c_format(c, ".%s = %d", field->name, value[0]);
    Text t = text_new(c);
    for (int i = 0; i < field->count; i++)
        text_add(&t, "%s%d", i ? ", " : "", value[i]);
    return c_format(c, ".%s = {%s}", field->name, text_string(&t));
}

/* "silu_ of stem.2, model.py:41 -> int8[1, 16, 8, 8]" */
static void add_call_comment(Text *t, C *c, const Graph *g, const Call *call) {
    text_add(t, "/* %d: ", call->index);
    for (int i = 0; i < call->origins.count; i++)
        text_add(t, "%s%s", i ? " + " : "", comment_text(c, g->archive[call->origins.id[i]].name));
    if (call->origins.count == 0)
        text_add(t, "%s", comment_text(c, call->name));
    if (call->node && call->node->out_count) {
        const Value *out = node_result(call->node);
        text_add(t, " -> %s%s", dtype_name(value_storage(out)),
                 shape_text(c, out->type.rank, out->type.dim));
    }
    if (call->node && call->node->weight_bits)
        text_add(t, ", weights int%d", call->node->weight_bits);
    if (call->node && call->node->loc.module)
        text_add(t, ", in %s", comment_text(c, call->node->loc.module));
    if (call->node && call->node->loc.file && call->node->loc.line)
        text_add(t, ", %s:%d", comment_text(c, call->node->loc.file), call->node->loc.line);
    text_add(t, " */\n");
}

static void add_call(Text *t, C *c, const Graph *g, const Call *call) {
    const Kernel *k = kernel_at(call->kernel);
    text_add(t, "    ");
    add_call_comment(t, c, g, call);
    text_add(t, "    .call%d = {\n        ", call->index);
    int column = 8;
    for (int i = 0; i < k->field_count; i++)
        c_add_item(t, &column, field_text(c, g, call, &k->field[i]));
    text_add(t, "\n    },\n");
}

/* All in one object: how several would lie beside each other is the compiler's affair. */
static void add_calls(Text *t, C *c, const Graph *g) {
    if (!g->first_call)
        return;
    text_add(t, "/* What kernels are given, and the steps of strips. */\ntypedef struct {\n");
    for (const Call *call = g->first_call; call; call = call->next)
        if (call == g->first_call)
            text_add(t, "    CTN_ALIGN(%d) %s call%d;\n", CONSTANTS_ALIGN,
                     kernel_at(call->kernel)->args_type, call->index);
        else
            text_add(t, "    %s call%d;\n", kernel_at(call->kernel)->args_type, call->index);
    c_add_strip_members(t, g);
    text_add(t, "} Calls;\n\nstatic const Calls calls = {\n");
    for (const Call *call = g->first_call; call; call = call->next)
        add_call(t, c, g, call);
    c_add_strip_tables(t, c, g);
    text_add(t, "};\n\n");
}

/* ---- dispatch ------------------------------------------------------------------------------ */

/* What a call is in the source; NULL where the strip that it belongs to ends later. */
static const char *call_text(C *c, const Graph *g, const Call *call) {
    const Strip *s = strip_of(g, call);
    if (!s)
        return c_format(c, "TRACED(%d, %s(&calls.call%d, &self->frame)); /* %s */", call->index,
                        call->variant->symbol, call->index, comment_text(c, call->name));
    if (call == s->last)
        return c_format(c, "TRACED(%d, strip%d(&self->frame)); /* to %s */", call->index,
                        s->first->index, comment_text(c, call->name));
    return NULL;
}

/* Not a switch: for ARMv6-M its jump table would be constants that nobody counts. */
static void add_dispatch(Text *t, C *c, const Graph *g) {
    text_add(t, "void %s_call(const %s_t *self, int k) {\n", g->name, g->name);
    if (!g->first_call)
        text_add(t, "    (void)self; /* nothing to compute */\n    (void)k;\n");
    for (const Call *call = g->first_call; call; call = call->next)
        if (call_text(c, g, call))
            text_add(t, "    if (k == %d)\n        %s\n", call->index, call_text(c, g, call));
    text_add(t, "}\n\n");
    text_add(t, "void %s_run(%s_t *self) {\n", g->name, g->name);
    for (const Call *call = g->first_call; call; call = call->next)
        if (call_text(c, g, call))
            text_add(t, "    %s\n", call_text(c, g, call));
    text_add(t, "    self->next_call = 0;\n}\n\n");
}

/* A step passes over calls that the one that ends their strip does the work of. */
static void add_step(Text *t, const Graph *g, const char *upper) {
    text_add(t, "int %s_step(%s_t *self) {\n", g->name, g->name);
    for (int i = 0; i < g->strip_count; i++)
        if (g->strip[i].first != g->strip[i].last)
            text_add(
                t,
                "    if (self->next_call == %d)\n"
                "        self->next_call = %d; /* the call that ends a strip does all of it */\n",
                g->strip[i].first->index, g->strip[i].last->index);
    text_add(t,
             "    %s_call(self, self->next_call++);\n"
             "    if (self->next_call < %s_CALL_COUNT)\n        return 1;\n"
             "    self->next_call = 0;\n    return 0;\n}\n\n",
             g->name, upper);
}

/* ---- tracing ------------------------------------------------------------------------------- */

static void add_trace(Text *t, const Graph *g, const char *upper) {
    text_add(t,
             "#ifdef %s_TRACE\n"
             "#define TRACED(k, call) \\\n"
             "    do { \\\n"
             "        %s_trace(self, k, 0); \\\n"
             "        call; \\\n"
             "        %s_trace(self, k, 1); \\\n"
             "    } while (0)\n"
             "#else\n#define TRACED(k, call) call\n#endif\n\n",
             upper, g->name, g->name);
}

/* What the call leaves in memory whole: nothing but its last output when strips cut it in rows. */
static const Value *traced_value(const Graph *g, const Call *call) {
    const Strip *s = strip_of(g, call);
    if (!call->node || call->node->out_count == 0 || (s && call != s->last))
        return NULL;
    const Value *v = node_result(call->node);
    return v->buffer && v->buffer->kind != BUFFER_CONSTANT ? v : NULL;
}

static void add_call_infos(Text *t, C *c, const Graph *g, const char *upper) {
    if (!g->first_call)
        return;
    text_add(t, "#ifdef %s_TRACE\nconst CtnCallInfo %s_call_info[%s_CALL_COUNT] = {\n", upper,
             g->name, upper);
    for (const Call *call = g->first_call; call; call = call->next) {
        const Value *v = traced_value(g, call);
        text_add(t, "    {\"%s\", \"%s\", ", string_text(c, call->name), call->variant->symbol);
        if (v)
            text_add(t, "\"%s\", CTN_REF(%s, %lld), %lldu, %.9gF, %d},\n",
                     dtype_name(value_storage(v)), region_name(c, g, v->buffer->region),
                     (long long)(v->buffer->offset + v->buffer_offset), (long long)value_bytes(v),
                     v->grid ? v->grid->part[0].scale : 1.0,
                     v->grid ? v->grid->part[0].zero_point : 0);
        else
            text_add(t, "\"none\", CTN_NONE, 0u, 1.0F, 0},\n");
    }
    text_add(t, "};\n#endif\n");
}

/* ---- set-up -------------------------------------------------------------------------------- */

static void add_reset(Text *t, C *c, const Graph *g) {
    for (int i = 0; i < g->state_count; i++) {
        const Array *a = state_initial(&g->state[i]);
        if (!a)
            continue;
        text_add(t, "static const CTN_ALIGN(%d) %s initial%d[%lld] = {\n        ", CONSTANTS_ALIGN,
                 c_type_name(a->dtype), i,
                 (long long)(align_up(array_bytes(a), CONSTANTS_ALIGN) / dtype_size(a->dtype)));
        add_array(t, a);
        text_add(t, "\n};\n\n");
    }
    text_add(t, "void %s_reset(%s_t *self) {\n", g->name, g->name);
    if (g->state_count == 0)
        text_add(t, "    (void)self; /* no state */\n");
    for (int i = 0; i < g->state_count; i++) {
        const Value *v = g->state[i].before;
        text_add(t, "    for (uint32_t i = 0; i < %lldu; i++) /* %s */\n",
                 (long long)value_bytes(v),
                 comment_text(c, g->state[i].fqn ? g->state[i].fqn : v->name));
        text_add(t, "        self->frame.base[CTN_STATE][%lldu + i] = ",
                 (long long)(v->buffer->offset + v->buffer_offset));
        if (state_initial(&g->state[i]))
            text_add(t, "((const uint8_t *)initial%d)[i];\n", i);
        else
            text_add(t, "0;\n");
    }
    text_add(t, "}\n\n");
}

/* The arrays of one instance. */
static void add_arrays(Text *t, C *c, const Graph *g, const char *upper) {
    int region[CTN_REGIONS], count = init_regions(g, region);
    for (int i = 0; i < count; i++)
        if (!g->region[region[i]].symbol && strcmp(region_array(c, g, region[i]), "0") != 0)
            add_section(t, c, g, upper, region[i]);
    text_add(t, "#ifndef %s_OWN_MEMORY\n", upper);
    for (int i = 0; i < count; i++) {
        const MemoryRegion *r = &g->region[region[i]];
        const char *name = upper_name(c, r->name), *array = region_array(c, g, region[i]);
        if (r->symbol || strcmp(array, "0") == 0)
            continue;
        if (r->kind == REGION_ARENA)
            text_add(t, "CTN_ASSERT(%s_%s_SIZE >= %s_%s_BYTES, \"the arena is too small\");\n",
                     upper, name, upper, name);
        text_add(t, "%s_%s_SECTION CTN_ALIGN(16) uint8_t %s[%s_%s_%s];\n", upper, name, array,
                 upper, name, r->kind == REGION_ARENA ? "SIZE" : "BYTES");
    }
    text_add(t, "#endif\n\n");
}

/* The compiler takes it for granted that constants are aligned; a linker script can break that. */
static void add_constants_check(Text *t, const Graph *g) {
    bool any = false;
    for (int r = 0; r < CTN_REGIONS; r++) {
        if (!region_is_used(g, r) || g->region[r].kind != REGION_CONSTANTS)
            continue;
        if (!any)
            text_add(t,
                     "#ifndef NDEBUG\n"
                     "    /* the linker may have been told not to align: look where they are */\n"
                     "    volatile uintptr_t constants;\n");
        any = true;
        text_add(t,
                 "    constants = (uintptr_t)&%s;\n    if ((constants & %d) != 0)\n"
                 "        return -1;\n",
                 g->region[r].name, g->region[r].align - 1);
    }
    text_add(t, "%s", any ? "#endif\n" : "");
}

static void add_init(Text *t, C *c, const Graph *g) {
    int region[CTN_REGIONS], count = init_regions(g, region);
    text_add(t, "int %s_init(%s_t *self, %s) {\n    if (((", g->name, g->name,
             init_parameters(c, g));
    for (int i = 0; i < count; i++)
        text_add(t, "%s(uintptr_t)%s", i ? " | " : "", g->region[region[i]].name);
    text_add(t, ") & 15) != 0)\n        return -1;\n");
    add_constants_check(t, g);
    for (int i = 0; i < count; i++)
        text_add(t, "    self->frame.base[%s] = %s;\n", region_name(c, g, region[i]),
                 g->region[region[i]].name);
    for (int r = 0; r < CTN_REGIONS; r++)
        if (region_is_used(g, r) && g->region[r].kind == REGION_CONSTANTS)
            text_add(t, "    self->frame.base[%s] = (uint8_t *)&%s; /* only read */\n",
                     region_name(c, g, r), g->region[r].name);
    text_add(t, "    self->next_call = 0;\n    %s_reset(self);\n    return 0;\n}\n\n", g->name);
}

const char *c_source(C *c, const Graph *g, const Options *o) {
    Text t = text_new(c);
    const char *upper = upper_name(c, g->name);
    text_add(&t, "/* %s for %s (%s), made by corten %s. Do not edit: compile the model again. */\n",
             g->name, o->cpu->name, o->isa, CORTEN_VERSION);
    text_add(&t, "#include \"%s.h\"\n\n", g->name);
    for (int r = 0; r < CTN_REGIONS; r++)
        if (region_is_used(g, r) && g->region[r].kind == REGION_CONSTANTS)
            add_weights(&t, c, g, upper, r);
    add_calls(&t, c, g);
    add_reset(&t, c, g);
    add_arrays(&t, c, g, upper);
    add_init(&t, c, g);
    c_add_strips(&t, c, g);
    add_trace(&t, g, upper);
    add_dispatch(&t, c, g);
    add_step(&t, g, upper);
    add_call_infos(&t, c, g, upper);
    return text_string(&t);
}

/* ---- the files ----------------------------------------------------------------------------- */

static void add_runtime(C *c, FileSet *out, const char *share, const char *name);

/* A header and, if it declares functions of a source of its own, that source. */
static void add_included(C *c, FileSet *out, const char *share, const char *header) {
    const char *source = c_format(c, "%.*s.c", (int)strlen(header) - 2, header);
    add_runtime(c, out, share, header);
    if (access(path_join(c, share, c_format(c, "runtime/%s", source)), R_OK) == 0)
        add_runtime(c, out, share, source);
}

/* A runtime source and, through its quoted includes, what it needs. */
static void add_runtime(C *c, FileSet *out, const char *share, const char *name) {
    const char *member = c_format(c, "runtime/%s", name);
    for (int i = 0; i < out->count; i++)
        if (strcmp(out->file[i].name, member) == 0)
            return;
    size_t bytes;
    const char *text = file_read(c, path_join(c, share, member), &bytes);
    fileset_add(c, out, member, text, bytes);
    char *copy = c_strndup(c, text, bytes);
    for (char *line = copy; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char included[128];
        if (sscanf(line, "#include \"%127[^\"]\"", included) == 1 && !strstr(included, "emul/"))
            add_included(c, out, share, included);
    }
}

void emit_c(C *c, Graph *g, const Options *o, FileSet *out) {
    const char *share = share_folder(c);
    const char *source = c_source(c, g, o);
    g->source_sha256 = bytes_sha256(c, source, strlen(source));
    const char *header = c_header(c, g, o);
    fileset_add(c, out, c_format(c, "%s.h", g->name), header, strlen(header));
    fileset_add(c, out, c_format(c, "%s.c", g->name), source, strlen(source));
    emit_sections(c, g, out);
    add_runtime(c, out, share, "ctn.h");
    for (const Call *call = g->first_call; call; call = call->next)
        add_runtime(c, out, share, call->variant->source);
    if (g->strip_count > 0)
        add_runtime(c, out, share, "move.c");
    for (int i = 0; i < g->npu_count; i++) /* what Vela was given, to be given to it again */
        fileset_add(c, out, c_format(c, "%s.tosa", g->npu[i].name), g->npu[i].tosa,
                    (size_t)g->npu[i].tosa_bytes);
}
