/* report.json as text for a terminal. It reads the file, so that `corten report DIR` and the end of
 * `corten compile` show the same, but for warnings, which compile has said as messages. */
#include "report/report.h"
#include "run/run.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { ESTIMATE_TEXT = 24 };

static long long number(const json_t *o, const char *key) {
    return (long long)json_integer_value(json_object_get(o, key));
}

static const char *string(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "-";
}

static void print_boundary(const json_t *list, const char *kind, FILE *f) {
    size_t i;
    json_t *o;
    json_array_foreach(list, i, o) {
        if (!json_is_array(json_object_get(o, "shape"))) {
            fprintf(f, "%s %zu  %s: no tensor: a constant, or kept as state\n", kind, i,
                    string(o, "name"));
            continue;
        }
        char *shape = json_dumps(json_object_get(o, "shape"), JSON_COMPACT);
        fprintf(f, "%s %zu  %s: %s%s", kind, i, string(o, "name"), string(o, "dtype"), shape);
        if (json_is_real(json_object_get(o, "scale")))
            fprintf(f, "  scale %.6g, zero point %lld",
                    json_real_value(json_object_get(o, "scale")), number(o, "zero_point"));
        fprintf(f, "\n");
        free(shape);
    }
}

static void print_nodes(const json_t *nodes, FILE *f) {
    size_t i;
    json_t *o;
    fprintf(f, "\n%-28s %-34s %-8s %-7s %-7s %s\n", "node", "operator", "fate", "numeric",
            "weights", "source");
    json_array_foreach(nodes, i, o) {
        fprintf(f, "%-28s %-34s %-8s %-7s %-7s %s\n", string(o, "name"), string(o, "op"),
                string(o, "fate"), string(o, "numeric"), string(o, "weights"), string(o, "source"));
    }
}

/* "~12345", or "?" where the kernel was never measured. */
static const char *estimate_text(const json_t *o, char text[ESTIMATE_TEXT]) {
    if (json_is_integer(json_object_get(o, "instructions_estimate")))
        snprintf(text, ESTIMATE_TEXT, "~%lld", number(o, "instructions_estimate"));
    else
        snprintf(text, ESTIMATE_TEXT, "?");
    return text;
}

static void print_calls(const json_t *calls, FILE *f) {
    char estimate[ESTIMATE_TEXT];
    size_t i;
    json_t *o;
    fprintf(f, "\n%-28s %-34s %12s %12s %9s %9s\n", "call", "kernel", "macs", "instructions",
            "scratch", "weights");
    json_array_foreach(calls, i, o) {
        fprintf(f, "%-28s %-34s %12lld %12s %9lld %9lld\n", string(o, "name"), string(o, "kernel"),
                number(o, "macs"), estimate_text(o, estimate), number(o, "scratch_bytes"),
                number(o, "weights_bytes"));
    }
}

static void print_instructions(const json_t *calls, FILE *f) {
    long long sum = 0, unknown = 0;
    size_t i;
    json_t *o;
    json_array_foreach(calls, i, o) {
        sum += number(o, "instructions_estimate");
        unknown += !json_is_integer(json_object_get(o, "instructions_estimate"));
    }
    fprintf(f, "~%lld instructions", sum);
    if (unknown > 0)
        fprintf(f, " without %lld calls of unknown cost", unknown);
    fprintf(f, "\n");
}

static void print_accuracy(C *c, const json_t *root, FILE *f) {
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(root, "outputs"), i, o) {
        const json_t *db = json_object_get(o, "sqnr_db");
        double is = json_real_value(db);
        if (json_is_real(db))
            fprintf(f, "output %zu  SQNR %s over the calibration samples\n", i,
                    db_text(c, fabs(is) < DB_EXACT ? is : copysign(HUGE_VAL, is)));
    }
    json_t *raised = json_object_get(json_object_get(root, "accuracy_budget"), "raised");
    json_array_foreach(raised, i, o)
        fprintf(f, "%s%s%s", i ? ", " : "raised to int16: ", json_string_value(o),
                i + 1 == json_array_size(raised) ? "\n" : "");
}

static void print_warnings(const json_t *warnings, FILE *f) {
    size_t i;
    json_t *o;
    json_array_foreach(warnings, i, o) {
        const char *node = json_string_value(json_object_get(o, "node"));
        fprintf(f, "warning: %s%s%s\n", string(o, "message"), node ? ", node " : "",
                node ? node : "");
    }
}

void report_text(C *c, const char *json, bool warnings, FILE *f) {
    json_error_t error;
    json_t *root = json_loads(json, 0, &error);
    if (!root) {
        Loc loc = {.file = "report.json", .line = error.line};
        fatal(c, DIAG_INPUT, &loc, "not a report: %s", error.text);
    }
    fprintf(f, "%s for %s (%s)\n", string(root, "name"), string(root, "target"),
            string(root, "isa"));
    print_boundary(json_object_get(root, "inputs"), "input", f);
    print_boundary(json_object_get(root, "outputs"), "output", f);
    print_nodes(json_object_get(root, "nodes"), f);
    print_calls(json_object_get(root, "calls"), f);
    report_print_strips(root, f);
    report_print_npu(root, f);
    report_print_timeline(root, f);
    report_print_memories(root, f);
    report_print_totals(root, f);
    fprintf(f, "\n%lld of %zu nodes in float, %lld MACs, ", number(root, "float_nodes"),
            json_array_size(json_object_get(root, "nodes")), number(root, "macs"));
    print_instructions(json_object_get(root, "calls"), f);
    print_accuracy(c, root, f);
    fprintf(f, "arena %lld bytes (lower bound %lld, peak at %s), state %lld, constants %lld\n",
            number(root, "arena_bytes"), number(root, "arena_lower_bound_bytes"),
            string(root, "peak_node"), number(root, "state_bytes"), number(root, "weights_bytes"));
    if (warnings)
        print_warnings(json_object_get(root, "warnings"), f);
    fprintf(f, "report.html beside it shows all of this, and the network, on one page\n");
    json_decref(root);
}
