/* corten verify: the integer model against float, node by node and at the outputs; the chip
 * against the host, bit for bit; instructions per call; top-1 with labels. */
#include "api/session.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    Compiled model;
    Graph *reference; /* float */
    Samples samples, real_samples;
    Array ***integer, ***real; /* [sample][output] */
    Comparison *compared;
    ChipRun chip;
    bool on_chip, on_board, bit_exact; /* the chip is QEMU's or a board's */
    double top1_float, top1_integer, agreement;
    bool has_labels;
} Verify;

/* ---- what calibration has seen -------------------------------------------------------------- */

static void know_seen(C *c, Noise *n, const json_t *o) {
    const json_t *seen = json_object_get(o, "calibrated");
    if (json_array_size(seen) != 2)
        return;
    double *ends = NEW_ARRAY(c, double, 2);
    for (size_t i = 0; i < 2; i++)
        ends[i] = json_number_value(json_array_get(seen, i));
    n->seen = ends;
}

/* The report of the compile knows it. */
static void know_all_seen(C *c, Verify *v) {
    const Graph *g = v->model.planned;
    json_error_t error;
    json_t *root = json_loads(v->model.report, 0, &error),
           *inputs = json_object_get(root, "inputs"), *outputs = json_object_get(root, "outputs"),
           *calls = json_object_get(root, "calls");
    for (int k = 0; k < g->input_count; k++)
        know_seen(c, comparison_input(v->compared, k), json_array_get(inputs, (size_t)k));
    for (int k = 0; k < g->output_count; k++)
        know_seen(c, comparison_output(v->compared, k), json_array_get(outputs, (size_t)k));
    for (const Call *call = g->first_call; call; call = call->next)
        for (size_t i = 0; i < json_array_size(calls); i++) {
            const json_t *o = json_array_get(calls, i);
            if (text_equal(json_string_value(json_object_get(o, "name")), call->name))
                know_seen(c, comparison_call(v->compared, call), o);
        }
    json_decref(root);
}

/* ---- the runs ------------------------------------------------------------------------------ */

static void run_both(C *c, Verify *v) {
    Graph *g = v->model.planned;
    Simulator *simulator = simulator_new(c, g);
    v->integer = NEW_ARRAY(c, Array **, v->samples.count + 1);
    v->real = NEW_ARRAY(c, Array **, v->samples.count + 1);
    simulator_keep(simulator, true);
    v->compared = comparison_new(c, g, v->reference, simulator);
    know_all_seen(c, v);
    for (int i = 0; i < v->samples.count; i++) {
        v->integer[i] = NEW_ARRAY(c, Array *, g->output_count + 1);
        v->real[i] = NEW_ARRAY(c, Array *, g->output_count + 1);
        comparison_run(c, v->compared, v->samples.sample[i], v->real_samples.sample[i],
                       v->integer[i], v->real[i]);
        c_progress(c, "verify", (double)(i + 1) / v->samples.count);
        c_stop_if_asked(c);
    }
}

/* A strip is counted as a whole, with its last call: each call's part is what it was estimated to
 * be of that. */
static void share_strip(const Graph *g, const Options *o, ChipRun *chip, const Strip *strip) {
    uint64_t counted = 0, given = 0;
    double estimated = 0;
    for (int i = 0; i < strip->call_count; i++) {
        counted += chip->call_instructions[strip->call[i]->index];
        estimated += call_instructions(g, strip->call[i], o);
    }
    if (strip->call_count == 1 || !(estimated > 0)) /* of unknown cost */
        return;
    for (int i = 0; i < strip->call_count; i++) {
        const Call *call = strip->call[i];
        double part = (double)counted * call_instructions(g, call, o) / estimated;
        uint64_t n = call == strip->last ? counted - given : (uint64_t)part;
        chip->call_instructions[call->index] = n;
        chip->shared[call->index] = true;
        given += n;
    }
}

static void share_strips(C *c, const Graph *g, const Options *o, ChipRun *chip) {
    chip->shared = NEW_ARRAY(c, bool, g->call_count + 1);
    for (int i = 0; i < g->strip_count; i++)
        share_strip(g, o, chip, &g->strip[i]);
}

static void compare_chip(C *c, Session *s, Verify *v) {
    Graph *g = v->model.planned;
    const CortenOptions *o = s->o;
    if (v->on_board)
        v->chip = board_run(c, g, o->port, o->baud ? o->baud : 115200, &v->samples);
    else
        v->chip = qemu_run(c, g, &s->compile, v->model.folder, &v->samples);
    if (v->on_chip)
        share_strips(c, g, &s->compile, &v->chip);
    v->bit_exact = true;
    for (int i = 0; i < v->samples.count; i++)
        for (int k = 0; k < g->output_count; k++) {
            const Array *host = v->integer[i][k], *chip = v->chip.outputs[i][k];
            if (host && memcmp(host->data, chip->data, (size_t)array_bytes(host)) != 0)
                v->bit_exact = false;
        }
}

/* ---- labels -------------------------------------------------------------------------------- */

static int64_t arg_max(const Array *a) {
    int64_t best = 0;
    for (int64_t i = 1, n = array_count(a); i < n; i++)
        if (array_get(a, i) > array_get(a, best))
            best = i;
    return best;
}

static void count_top1(C *c, Session *s, Verify *v) {
    Array *labels = session_labels(c, s);
    if (!labels)
        return;
    Loc loc = {.file = s->o->input ? s->o->input : "labels"};
    if (array_count(labels) < v->samples.count ||
        (array_count(labels) > v->samples.count && s->o->limit != v->samples.count))
        fatal(c, DIAG_INPUT, &loc, "%lld labels for %d samples", (long long)array_count(labels),
              v->samples.count);
    int scores = 0; /* the first output that has any */
    while (scores < v->model.planned->output_count &&
           v->model.planned->output[scores].kind != ARG_VALUE)
        scores++;
    if (scores == v->model.planned->output_count)
        fatal(c, DIAG_INPUT, &loc, "no output to compare with the labels");
    int real = 0, integer = 0, agree = 0;
    for (int i = 0; i < v->samples.count; i++) {
        int64_t label = array_get_int(labels, i), f = arg_max(v->real[i][scores]),
                q = arg_max(v->integer[i][scores]);
        real += f == label;
        integer += q == label;
        agree += f == q;
    }
    v->has_labels = true;
    v->top1_float = (double)real / v->samples.count;
    v->top1_integer = (double)integer / v->samples.count;
    v->agreement = (double)agree / v->samples.count;
}

/* ---- what is said -------------------------------------------------------------------------- */

static double clipped(const Noise *n) {
    return noise_share(n, &n->clipped);
}

static double unseen(const Noise *n) {
    return noise_share(n, &n->unseen);
}

static json_t *inputs_json(const Verify *v, double (*share)(const Noise *)) {
    json_t *inputs = json_array();
    for (int k = 0; k < v->model.planned->input_count; k++)
        json_array_append_new(inputs, json_real(share(comparison_input(v->compared, k))));
    return inputs;
}

static json_t *call_json(const Call *call, const Noise *n) {
    return json_pack("{s:s, s:o, s:f, s:f, s:f}", "call", call->name, "sqnr_db",
                     report_db(noise_db(n)), "clipped", clipped(n), "unseen", unseen(n),
                     "clipped_cost", noise_cost(n, &n->clipped));
}

static json_t *outputs_json(const Verify *v, double (*db)(const Noise *)) {
    json_t *outputs = json_array();
    for (int k = 0; k < v->model.planned->output_count; k++)
        if (v->model.planned->output[k].kind == ARG_VALUE)
            json_array_append_new(outputs, report_db(db(comparison_output(v->compared, k))));
    return outputs;
}

static json_t *verify_json(const Verify *v) {
    const Graph *g = v->model.planned;
    json_t *root = json_object(), *nodes = json_array();
    json_object_set_new(root, "output_sqnr_db", outputs_json(v, noise_db));
    json_object_set_new(root, "output_about_mean_db", outputs_json(v, noise_varying_db));
    json_object_set_new(root, "samples", json_integer(v->samples.count));
    json_object_set_new(root, "bit_exact",
                        v->on_chip || v->on_board ? json_boolean(v->bit_exact) : json_null());
    if (v->on_board)
        json_object_set_new(root, "cycles", json_integer(v->chip.cycles));
    for (const Call *call = g->first_call; call; call = call->next)
        if (comparison_call(v->compared, call)->signal > 0)
            json_array_append_new(nodes, call_json(call, comparison_call(v->compared, call)));
    json_object_set_new(root, "calls_sqnr", nodes);
    json_object_set_new(root, "inputs_clipped", inputs_json(v, clipped));
    json_object_set_new(root, "inputs_unseen", inputs_json(v, unseen));
    if (v->has_labels)
        json_object_set_new(root, "top1",
                            json_pack("{s:f, s:f, s:f}", "float", v->top1_float, "integer",
                                      v->top1_integer, "agreement", v->agreement));
    if (v->on_chip) {
        json_t *calls = json_array();
        for (const Call *call = g->first_call; call; call = call->next)
            json_array_append_new(calls,
                                  json_pack("{s:s, s:I, s:b}", "name", call->name, "n",
                                            (json_int_t)v->chip.call_instructions[call->index],
                                            "shared", v->chip.shared[call->index]));
        json_object_set_new(root, "instructions",
                            json_pack("{s:I, s:o}", "total", (json_int_t)v->chip.total_instructions,
                                      "calls", calls));
        json_object_set_new(root, "stack_bytes", json_integer(v->chip.stack_bytes));
        json_object_set_new(root, "image_flash_bytes", json_integer(v->chip.image_flash_bytes));
        json_object_set_new(root, "image_ram_bytes", json_integer(v->chip.image_ram_bytes));
    }
    return root;
}

/* The call that comes next when all are taken from the worst SQNR on; NULL: no more. */
static const Call *next_worst(const Verify *v, const Call *after) {
    const Call *next = NULL;
    double floor = after ? noise_db(comparison_call(v->compared, after)) : -HUGE_VAL,
           best = HUGE_VAL;
    for (const Call *call = v->model.planned->first_call; call; call = call->next) {
        const Noise *n = comparison_call(v->compared, call);
        double db = noise_db(n);
        bool later = db > floor || (db == floor && after && call->index > after->index);
        if (n->signal > 0 && later && db < best) {
            best = db;
            next = call;
        }
    }
    return next;
}

enum { WORST = 5 };

static void print_worst(C *c, FILE *f, const Verify *v) {
    const Call *call = next_worst(v, NULL);
    if (!call)
        return;
    fprintf(f, "worst calls:");
    for (int i = 0; i < WORST && call; i++, call = next_worst(v, call))
        fprintf(f, "%s %s %s", i ? "," : "", call->name,
                db_text(c, noise_db(comparison_call(v->compared, call))));
    fprintf(f, "\n");
}

/* Clipped numbers are worth a line if there are many of them, or if they are most of the error. */
#define CLIPPED 0.01
#define COSTLY 0.5

static void print_clipped_part(FILE *f, const Noise *n, const NoisePart *part, const char *what,
                               const char *how) {
    double cost = noise_cost(n, part), share = noise_share(n, part);
    if (share <= CLIPPED && cost <= COSTLY)
        return;
    fprintf(f, "clipped: %.3g %% of %s is beyond %s", 100 * share, what, how);
    if (cost > COSTLY)
        fprintf(f, ": %.0f %% of its error", 100 * cost);
    fprintf(f, "\n");
}

/* Numbers of these samples that the grids cannot hold: what calibration has missed, and what it has
 * seen and the observer gave up for finer steps. */
static void print_clipped_one(FILE *f, const Noise *n, const char *what) {
    NoisePart chosen = {n->clipped.count - n->unseen.count, n->clipped.noise - n->unseen.noise};
    print_clipped_part(f, n, &n->unseen, what, "what calibration has seen");
    print_clipped_part(f, n, &chosen, what,
                       n->seen ? "the range that the observer chose of what calibration has seen"
                               : "its grid");
}

static void print_clipped(C *c, FILE *f, const Verify *v) {
    const Graph *g = v->model.planned;
    for (int k = 0; k < g->input_count; k++)
        print_clipped_one(f, comparison_input(v->compared, k), g->input_name[k]);
    for (const Call *call = g->first_call; call; call = call->next)
        print_clipped_one(f, comparison_call(v->compared, call), call->name);
    for (int k = 0; k < g->output_count; k++)
        print_clipped_one(f, comparison_output(v->compared, k), c_format(c, "output %d", k));
}

/* What an output keeps of its changes is worth telling where the mean makes most of its SQNR. */
#define MOSTLY_MEAN_DB 6

static void print_output(C *c, FILE *f, int k, const Noise *n) {
    fprintf(f, "output %d: SQNR %s", k, db_text(c, noise_db(n)));
    if (noise_varying_db(n) < noise_db(n) - MOSTLY_MEAN_DB)
        fprintf(f, ", %s about its mean", db_text(c, noise_varying_db(n)));
    if (n->left_out > 0)
        fprintf(f, " without %lld numbers that are not finite in float", (long long)n->left_out);
    fprintf(f, "\n");
}

static const char *instructions_text(C *c, const ChipRun *chip, const Call *call) {
    return c_format(c, "%s%llu", chip->shared[call->index] ? "~" : "",
                    (unsigned long long)chip->call_instructions[call->index]);
}

static void print_text(C *c, Session *s, const Verify *v) {
    const Graph *g = v->model.planned;
    FILE *f = s->results;
    fprintf(f, "%-28s %-32s %9s%s\n", "call", "kernel", "sqnr dB",
            v->on_chip ? "  instructions" : "");
    for (const Call *call = g->first_call; call; call = call->next) {
        const Noise *n = comparison_call(v->compared, call);
        fprintf(f, "%-28s %-32s ", call->name, call->variant->symbol);
        fprintf(f, "%9s", n->signal > 0 ? db_figure(c, noise_db(n)) : "-");
        if (v->on_chip)
            fprintf(f, "%14s", instructions_text(c, &v->chip, call));
        fprintf(f, "\n");
    }
    if (v->on_chip && v->model.planned->strip_count > 0)
        fprintf(f, "~ a part of what was counted for a strip as a whole, as estimated\n");
    fprintf(f, "\n%d samples\n", v->samples.count);
    for (int k = 0; k < g->output_count; k++)
        if (g->output[k].kind == ARG_VALUE)
            print_output(c, f, k, comparison_output(v->compared, k));
    print_worst(c, f, v);
    print_clipped(c, f, v);
    if (v->has_labels)
        fprintf(f, "top-1: float %.2f %%, integer %.2f %%, agreement %.2f %%\n",
                100 * v->top1_float, 100 * v->top1_integer, 100 * v->agreement);
    if (!v->on_chip && !v->on_board)
        return;
    fprintf(f, "host and chip agree bit for bit: %s\n", v->bit_exact ? "yes" : "NO");
    if (v->on_board && v->chip.cycles > 0)
        fprintf(f, "cycles of the last inference: %u\n", v->chip.cycles);
    if (v->on_board)
        return;
    fprintf(f, "instructions per inference: %llu on %s\n",
            (unsigned long long)v->chip.total_instructions, s->compile.cpu->name);
    fprintf(f, "arena %lld bytes, stack %u bytes, whole image: flash %lld, ram %lld bytes\n",
            (long long)g->arena_bytes, v->chip.stack_bytes, (long long)v->chip.image_flash_bytes,
            (long long)v->chip.image_ram_bytes);
}

static void verify_body(C *c, Session *s) {
    const char *on = s->o->on ? s->o->on : "host";
    if (strcmp(on, "host") != 0 && strcmp(on, "qemu") != 0 && strcmp(on, "board") != 0)
        fatal(c, DIAG_USAGE, NULL, "unknown --on \"%s\"; one of: host, qemu, board", on);
    if (strcmp(on, "board") == 0 && !s->o->port)
        fatal(c, DIAG_USAGE, NULL,
              "--on board: which serial line? give --port, as in "
              "--port /dev/ttyACM0");
    Verify v = {0};
    v.model = compiled_load(c, s, s->o->model);
    v.reference = compiled_float(c, &v.model);
    v.samples = session_samples(c, s, v.reference);
    v.real_samples = samples_real(c, &v.samples, v.reference, v.model.planned);
    run_both(c, &v);
    count_top1(c, s, &v);
    v.on_chip = strcmp(on, "qemu") == 0;
    v.on_board = strcmp(on, "board") == 0;
    if (v.on_chip || v.on_board)
        compare_chip(c, s, &v);
    json_t *root = verify_json(&v);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    if (!text)
        fatal(c, DIAG_BUG, NULL, "what was found cannot be written as text");
    c_defer(c, free, text);
    if (s->o->json)
        fprintf(s->results, "%s\n", text);
    else
        print_text(c, s, &v);
    compiled_page_add(c, v.model.folder, "verify", text);
    if ((v.on_chip || v.on_board) && !v.bit_exact)
        fatal(c, DIAG_BUG, NULL, "the chip's outputs differ from the host's");
}

int corten_verify(const CortenOptions *o) {
    return session_run(o, verify_body);
}
