/* corten ops, targets and report: what is there to be shown. */
#include "api/session.h"
#include "lower/float.h"

#include <jansson.h>
#include <string.h>

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

static void ops_body(C *c, Session *s) {
    (void)c;
    json_t *list = json_array();
    for (int i = 0; i < op_count(); i++) {
        const Op *op = op_at(i);
        const Schema *schema = op_schema(op);
        if (strncmp(schema->name, "corten::", 8) == 0)
            continue;
        if (s->o->json)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s?}", "schema", op->schema,
                                                  "integer", integer_form(op), "float",
                                                  float_form(op), "why_none", op->no_integer_form));
        else
            fprintf(s->results, "%-10s %-10s %s\n", integer_form(op), float_form(op), op->schema);
    }
    if (s->o->json) {
        json_dumpf(list, s->results, JSON_INDENT(1));
        fprintf(s->results, "\n");
    }
    json_decref(list);
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
    if (s->o->json) {
        json_dumpf(list, s->results, JSON_INDENT(1));
        fprintf(s->results, "\n");
    }
    json_decref(list);
}

int corten_targets(const CortenOptions *o) {
    return session_run(o, targets_body);
}

static void report_body(C *c, Session *s) {
    Loc loc = {.file = s->o->model};
    if (!path_is_folder(s->o->model))
        fatal(c, DIAG_INPUT, &loc, "not the folder of a compiled model; corten compile makes one");
    size_t bytes;
    const char *path = path_join(c, s->o->model, "report.json");
    const char *text = file_read(c, path, &bytes);
    if (s->o->json)
        fprintf(s->results, "%s\n", text);
    else
        report_text(c, text, s->results);
}

int corten_report(const CortenOptions *o) {
    return session_run(o, report_body);
}
