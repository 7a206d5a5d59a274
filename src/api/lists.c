/* corten ops, targets and report: what is there to be shown. */
#include "api/session.h"
#include "lower/float.h"

#include <jansson.h>
#include <string.h>

static void print_list(const Session *s, json_t *list) {
    if (s->o->json) {
        json_dumpf(list, s->results, JSON_INDENT(1));
        fprintf(s->results, "\n");
    }
    json_decref(list);
}

/* How a row becomes integer C, in a word. */
static const char *integer_form(const Op *op) {
    if (op->decompose && !op->lower)
        return "decomposes";
    if (op->lower)
        return "kernel";
    if (op->map)
        return "table";
    if (op->traits & (OP_ASSERTS | OP_CREATES | OP_EFFECT_FREE_IDENTITY))
        return "vanishes";
    return "none";
}

/* How it runs in float32, where that is asked for. */
static const char *float_form(const Op *op) {
    const char *form = op_float_form(op), *other = integer_form(op);
    bool same = strcmp(other, "decomposes") == 0 || strcmp(other, "vanishes") == 0;
    return form ? form : same ? other : "none";
}

/* "aten::silu" is asked for by its name, by "aten.silu", as an archive has it, or by a part. */
static bool op_is_asked(C *c, const Session *s, const Schema *schema) {
    if (!s->o->model)
        return true;
    char *want = c_strdup(c, s->o->model), *dot = strncmp(want, "aten.", 5) == 0 ? want + 4 : NULL;
    if (dot)
        want = c_format(c, "aten::%s", dot + 1);
    const char *full =
        *schema->overload ? c_format(c, "%s.%s", schema->name, schema->overload) : schema->name;
    return strstr(full, want) != NULL;
}

static _Noreturn void unknown_op(C *c, const Session *s) {
    const char **names = NEW_ARRAY(c, const char *, op_count());
    for (int i = 0; i < op_count(); i++) {
        const char *name = op_schema(op_at(i))->name, *colons = strstr(name, "::");
        names[i] = colons ? colons + 2 : name;
    }
    const char *near = text_nearest(s->o->model, names, op_count());
    fatal(c, DIAG_USAGE, NULL, "no operator is called %s%s%s%s", s->o->model,
          near ? "; did you mean " : "; corten ops lists them", near ? near : "", near ? "?" : "");
}

static void ops_body(C *c, Session *s) {
    json_t *list = json_array();
    int count = 0;
    for (int i = 0; i < op_count(); i++) {
        const Op *op = op_at(i);
        const Schema *schema = op_schema(op);
        if (strncmp(schema->name, "corten::", 8) == 0 || !op_is_asked(c, s, schema))
            continue;
        count++;
        if (s->o->json)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "schema", op->schema,
                                                  "integer", integer_form(op), "float",
                                                  float_form(op), "why_none", op->no_integer_form));
        else
            fprintf(s->results, "%-10s %-10s %s\n", integer_form(op), float_form(op), op->schema);
    }
    if (count == 0) {
        json_decref(list);
        unknown_op(c, s);
    }
    print_list(s, list);
}

int corten_ops(const CortenOptions *o) {
    return session_run(o, ops_body);
}

static void targets_body(C *c, Session *s) {
    (void)c;
    json_t *list = json_array();
    for (int i = 0; i < cpu_table_count; i++) {
        const Cpu *cpu = &cpu_table[i];
        if (s->o->json)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", cpu->name, "isa",
                                                  cpu->isa, "gcc_flags", cpu->gcc_flags,
                                                  "qemu_machine", cpu->machine));
        else
            fprintf(s->results, "%-15s %-4s %-12s %s\n", cpu->name, cpu->isa, cpu->machine,
                    cpu->gcc_flags);
    }
    for (int i = 0; i < npu_table_count; i++) {
        const Npu *npu = &npu_table[i];
        if (s->o->json)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "name", npu->name, "cpu",
                                                  npu->cpu, "vela_system_config", npu->system,
                                                  "vela_memory_mode", npu->memory_mode));
        else
            fprintf(s->results, "%-15s beside a %s; Vela's %s, %s\n", npu->name, npu->cpu,
                    npu->system, npu->memory_mode);
    }
    print_list(s, list);
}

int corten_targets(const CortenOptions *o) {
    return session_run(o, targets_body);
}

static void passes_body(C *c, Session *s) {
    (void)c;
    json_t *list = json_array();
    for (int i = 0; i < pass_table_count; i++)
        if (s->o->json)
            json_array_append_new(list, json_pack("{s:s, s:s}", "name", pass_table[i].name,
                                                  "purpose", pass_table[i].purpose));
        else
            fprintf(s->results, "%-13s %s\n", pass_table[i].name, pass_table[i].purpose);
    print_list(s, list);
}

int corten_passes(const CortenOptions *o) {
    return session_run(o, passes_body);
}

static void report_body(C *c, Session *s) {
    session_need_folder(c, s->o->model);
    size_t bytes;
    const char *path = path_join(c, s->o->model, "report.json");
    const char *text = file_read(c, path, &bytes);
    if (s->o->json)
        fprintf(s->results, "%s\n", text);
    else
        report_text(c, text, true, s->results);
}

int corten_report(const CortenOptions *o) {
    return session_run(o, report_body);
}
