/* What the report says of an NPU: its programs with what Vela's summary holds, and the nodes that
 * stay on the CPU with the reason. */
#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { KIB = 1024 };

static double figure(const NpuProgram *p, const char *name) {
    for (int i = 0; i < p->figure_count; i++)
        if (strcmp(p->figure[i].name, name) == 0)
            return p->figure[i].value;
    return 0;
}

static json_t *program_nodes(const NpuProgram *p) {
    json_t *nodes = json_array();
    for (const Node *n = p->first; n != p->last->next; n = n->next)
        json_array_append_new(nodes, json_string(n->name));
    return nodes;
}

/* Tensors of a program, as they lie in its scratch memory. */
static json_t *places(int count, Value *const *value, const int64_t *offset) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        const Value *v = value[i];
        json_t *stored = json_array();
        for (int k = 0; k < v->type.rank; k++)
            json_array_append_new(stored, json_integer(v->type.dim[v->order[k]]));
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:I, s:I}", "name", v->name, "stored_shape", stored,
                            "offset", (json_int_t)offset[i], "bytes", (json_int_t)value_bytes(v)));
    }
    return list;
}

static json_t *program_json(const NpuProgram *p) {
    json_t *vela = json_object();
    for (int i = 0; i < p->figure_count; i++)
        json_object_set_new(vela, p->figure[i].name, json_real(p->figure[i].value));
    return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "name", p->name, "nodes",
                     program_nodes(p), "inputs", places(p->input_count, p->input, p->input_offset),
                     "outputs", places(p->output_count, p->output, p->output_offset),
                     "command_bytes", (json_int_t)p->command_bytes, "weight_bytes",
                     (json_int_t)p->weight_bytes, "scratch_bytes", (json_int_t)p->scratch_bytes,
                     "fast_scratch_bytes", (json_int_t)p->fast_bytes, "vela", vela);
}

static json_t *on_cpu_json(C *c, const Graph *g) {
    json_t *list = json_array();
    for (const Node *n = g->first; n; n = n->next) {
        if (!n->npu_reason)
            continue;
        const char *source =
            n->loc.file && n->loc.line ? c_format(c, "%s:%d", n->loc.file, n->loc.line) : NULL;
        json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:s}", "node", n->name, "op",
                                              node_operator(n), "source", source, "reason",
                                              n->npu_reason));
    }
    return list;
}

/* Cycles one after the other; the memory of the program that needs most, and all constants. */
json_t *report_npu(C *c, const Graph *g, const Options *o) {
    if (!o->npu || g->npu_count == 0)
        return json_null();
    json_t *programs = json_array();
    double cycles = 0, sram = 0, dram = 0, flash = 0;
    for (int i = 0; i < g->npu_count; i++) {
        const NpuProgram *p = &g->npu[i];
        json_array_append_new(programs, program_json(p));
        cycles += figure(p, "cycles_total");
        sram = fmax(sram, KIB * figure(p, "sram_memory_used"));
        dram = fmax(dram, KIB * figure(p, "dram_memory_used"));
        flash += KIB * figure(p, "off_chip_flash_memory_used");
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "name", o->npu->name,
                     "cpu", o->cpu->name, "system_config", o->npu->system, "memory_mode",
                     o->npu->memory_mode, "cycles", (json_int_t)llround(cycles), "sram_bytes",
                     (json_int_t)llround(sram), "dram_bytes", (json_int_t)llround(dram),
                     "flash_bytes", (json_int_t)llround(flash), "programs", programs, "on_cpu",
                     on_cpu_json(c, g));
}

static const char *text_of(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "-";
}

static long long integer_of(const json_t *o, const char *key) {
    return (long long)json_integer_value(json_object_get(o, key));
}

void report_print_npu(const json_t *root, FILE *f) {
    const json_t *npu = json_object_get(root, "npu");
    size_t i;
    json_t *p;
    if (!json_is_object(npu))
        return;
    fprintf(f, "\n%-28s %6s %12s %9s %9s %9s\n", text_of(npu, "name"), "nodes", "cycles",
            "commands", "weights", "scratch");
    json_array_foreach(json_object_get(npu, "programs"), i, p) {
        const json_t *cycles = json_object_get(json_object_get(p, "vela"), "cycles_total");
        fprintf(f, "%-28s %6zu %12.0f %9lld %9lld %9lld\n", text_of(p, "name"),
                json_array_size(json_object_get(p, "nodes")), json_number_value(cycles),
                integer_of(p, "command_bytes"), integer_of(p, "weight_bytes"),
                integer_of(p, "scratch_bytes") + integer_of(p, "fast_scratch_bytes"));
    }
    fprintf(f, "by Vela: %lld cycles, SRAM %lld bytes, DRAM %lld, flash %lld\n",
            integer_of(npu, "cycles"), integer_of(npu, "sram_bytes"), integer_of(npu, "dram_bytes"),
            integer_of(npu, "flash_bytes"));
    json_array_foreach(json_object_get(npu, "on_cpu"), i, p)
        fprintf(f, "on the %s: %s (%s), %s\n", text_of(npu, "cpu"), text_of(p, "node"),
                text_of(p, "op"), text_of(p, "reason"));
}
