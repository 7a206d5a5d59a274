/* corten compile: archive and data in, a folder of C and its report out. */
#include "api/session.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A dumped graph, as text or as what graph_save writes; anything else is taken for an archive. */
static bool is_saved_graph(C *c, const CortenOptions *o) {
    const char *path = o->model;
    if (o->archive_data)
        return false;
    if (text_ends_with(path, ".corten"))
        return true;
    return !text_ends_with(path, ".pt2") && file_begins(c, path, "corten ");
}

/* --name, and that what the C calls the model does not clash with what else was named. */
static Graph *named(C *c, const Session *s, Graph *g) {
    const char *name = s->o->name;
    if (name && !model_name_is_usable(c, name))
        diag_error(
            c, DIAG_USAGE, NULL,
            "--name \"%s\": a model, its functions and its files cannot be called so in C and "
            "C++",
            name);
    else if (name)
        g->name = c_strdup(c, name);
    memory_symbols_check(c, s, g->name);
    return g;
}

static Graph *load_model(C *c, Session *s) {
    if (is_saved_graph(c, s->o))
        return named(c, s, graph_load(c, s->o->model));
    const CortenOptions *o = s->o;
    Graph *g = import_pt2_partly(c, o->model, o->archive_data, o->archive_bytes);
    if (diag_error_count(c) == 0) {
        states_pair(c, g, o->state_count, o->state);
        pixels_normalize(c, g, o);
    }
    return named(c, s, g);
}

/* Files that an earlier compile into this folder listed in its report. */
static int owned_files(C *c, const char *folder, const char ***owned) {
    *owned = NULL;
    const char *path = path_join(c, folder, "report.json");
    json_error_t error;
    json_t *root = access(path, R_OK) == 0 && file_begins(c, path, "{")
                       ? json_load_file(path, 0, &error)
                       : NULL;
    json_t *files = json_object_get(root, "files");
    int count = (int)json_array_size(files);
    *owned = NEW_ARRAY(c, const char *, count + 1);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(files, (size_t)i));
        if (name)
            (*owned)[kept++] = c_strdup(c, name);
    }
    json_decref(root);
    return kept;
}

/* The quantized graph, as the bytes of <name>.corten. */
static void add_graph_file(C *c, Graph *g, FileSet *files) {
    char path[] = "/tmp/corten-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        fatal(c, DIAG_INPUT, &(Loc){.file = path}, "cannot be made");
    close(fd);
    graph_save(g, path);
    size_t bytes;
    const char *data = file_read(c, path, &bytes);
    unlink(path);
    fileset_add(c, files, c_format(c, "%s.corten", g->name), data, bytes);
}

static void check_folder_writable(C *c, const char *folder) {
    Loc loc = {.file = folder};
    if (access(folder, F_OK) == 0) {
        if (!path_is_folder(folder))
            fatal(c, DIAG_INPUT, &loc, "a file stands where the output folder should be");
        if (access(folder, W_OK | X_OK) != 0)
            fatal(c, DIAG_INPUT, &loc, "the output folder cannot be written");
    }
}

/* A graph dumped behind pass quantize: what DIR keeps of it is resumed where it started here. */
static bool starts_quantized(const char *from) {
    bool behind = false;
    for (int i = 0; from && i < pass_table_count; i++) {
        if (behind && strcmp(pass_table[i].name, from) == 0)
            return true;
        behind |= strcmp(pass_table[i].name, "quantize") == 0;
    }
    return false;
}

/* Runs the passes up to `last`, so that the rest can go on behind it. */
static void run_until(C *c, Session *s, Graph *g, PipelineControl *control, const char *last,
                      const char *next) {
    PipelineControl part = *control;
    part.stop_after = last;
    pipeline_run(c, g, &s->compile, &part);
    memcpy(control->seconds, part.seconds, sizeof control->seconds);
    control->dumped = part.dumped;
    control->from = next;
}

static void add_seconds(PipelineControl *control, const char *timer, double seconds) {
    for (int i = 0; timer_names[i]; i++)
        if (strcmp(timer_names[i], timer) == 0)
            control->seconds[i] += seconds;
}

/* What is lowered against the archive in float. */
static void measure_lowered(C *c, Session *s, Graph *g, PipelineControl *control) {
    double start = now();
    if (s->compile.sample_count == 0 || s->o->from || is_saved_graph(c, s->o))
        return;
    const Comparison *k = measure(c, s, g, archive_float(c, s->o, s->o->model));
    if (k)
        measure_note(c, g, k);
    add_seconds(control, "measure", now() - start);
}

static bool computes_for(const Call *call, const char *name) {
    const Node *n = call->producer ? call->producer : call->node;
    return n && strcmp(n->name, name) == 0;
}

/* What is said of a node that is lowered for the CPU is true of it on the NPU: its numbers are the
 * same. */
static void take_measures(Graph *g, const Graph *on_cpu) {
    for (Node *n = g->first; n; n = n->next) {
        const Node *m;
        for (m = on_cpu->first; m && strcmp(m->name, n->name) != 0;)
            m = m->next;
        n->sqnr_db = m ? m->sqnr_db : n->sqnr_db;
    }
    for (const Call *call = on_cpu->first_call; call; call = call->next)
        for (Node *n = g->first; n && call->macs > 0; n = n->next)
            if (computes_for(call, n->name))
                n->npu_macs += call->macs;
    g->output_sqnr_db = on_cpu->output_sqnr_db;
}

/* The simulator has no NPU: the model is measured as if there were none. */
static void measure_on_cpu(C *c, Session *s, Graph *g, PipelineControl *control) {
    Graph *copy = graph_copy(c, g);
    PipelineControl part = {.from = control->from, .stop_after = "lower"};
    const Npu *npu = s->compile.npu;
    s->compile.npu = NULL;
    pipeline_run(c, copy, &s->compile, &part);
    if (copy->float_wanted_count == 0) {
        measure_lowered(c, s, copy, control);
        take_measures(g, copy);
    }
    s->compile.npu = npu;
}

static void check_budget(C *c, const Session *s) {
    if (s->o->from || is_saved_graph(c, s->o))
        fatal(c, DIAG_USAGE, NULL, "--accuracy-budget needs an archive, not a dumped graph");
    if (s->compile.sample_count == 0)
        fatal(c, DIAG_MODEL, NULL, "--accuracy-budget needs calibration data: give -c");
}

/* The passes up to quantize, then a copy of the graph for DIR, then the rest. */
static void run_passes(C *c, Session *s, Graph *g, PipelineControl *control, FileSet *files) {
    if (control->stop_after) {
        pipeline_run(c, g, &s->compile, control);
        return;
    }
    if (s->compile.accuracy_budget_db > 0) {
        check_budget(c, s);
        run_until(c, s, g, control, "calibrate", "precision");
        double start = now();
        budget_meet(c, s, g, archive_float(c, s->o, s->o->model));
        add_seconds(control, "measure", now() - start);
    }
    if (!starts_quantized(control->from)) {
        run_until(c, s, g, control, "quantize", "layout");
        if (g->float_wanted_count > 0)
            return;
    }
    add_graph_file(c, g, files);
    s->compile.resume = control->from;
    if (s->compile.npu && profile_of(&s->compile)->of_npu)
        measure_on_cpu(c, s, g, control);
    if (strcmp(control->from, "plan") != 0) {
        run_until(c, s, g, control, "lower", "plan");
        if (g->float_wanted_count > 0)
            return;
        if (g->npu_count == 0)
            measure_lowered(c, s, g, control);
    }
    pipeline_run(c, g, &s->compile, control);
}

/* Where the grids are still to be found integers cannot be those of a grid. */
static void warn_of_integers(C *c, const Graph *g, const Samples *samples) {
    for (int k = 0; k < g->input_count && samples->count > 0; k++) {
        const Value *v = g->input[k].kind == ARG_VALUE ? g->input[k].u.value : NULL;
        DType given = v && samples->sample[0][k] ? samples->sample[0][k]->dtype : DT_F32;
        if (v && dtype_is_float(v->type.dtype) && (given == DT_I8 || given == DT_I16))
            diag_warning(c, NULL,
                         "the calibration data of input %s are %s: taken as real numbers; run "
                         "and verify take such arrays as what the chip gets",
                         g->input_name ? g->input_name[k] : "", dtype_name(given));
    }
}

static void read_calibration(C *c, Session *s, Graph *g) {
    const CortenOptions *o = s->o;
    if (o->calibrate_count == 0 && o->calibrate_data_count == 0)
        return;
    Samples samples = samples_read_many(c, g, o->calibrate_count, o->calibrate, &s->scaling);
    ArrayList *list = arrays_take(c, "calibration", o->calibrate_data_count, o->calibrate_data);
    Samples more = samples_take(c, g, "calibration", o->calibrate_data_count, list, &s->scaling);
    samples = samples_join(c, &samples, &more);
    warn_of_integers(c, g, &samples);
    samples = samples_real(c, &samples, g, NULL);
    bool pixels = s->compile.io == IO_UINT8 && s->scaling.channels > 0;
    if (pixels && o->input_scale_count == 0 && g->input_name)
        diag_warning(c, NULL,
                     "--io uint8: bytes of calibration's choice; for those of images give "
                     "--input-scale %s=pixels, which takes --mean and --std into the model",
                     g->input_name[0]);
    s->compile.sample_count = samples.count;
    s->compile.sample = samples.sample;
}

static void warn_of_rule(C *c, const Session *s, const Graph *g, const PrecisionRule *rule) {
    const char **names = NEW_ARRAY(c, const char *, 2 * g->archive_count + 1);
    int count = 0;
    for (int i = 0; i < g->archive_count; i++) {
        names[count++] = g->archive[i].name;
        if (g->archive[i].module)
            names[count++] = g->archive[i].module;
    }
    const char *near = text_nearest(rule->pattern, names, count);
    diag_warning(c, &(Loc){.file = precision_name(s->o), .line = rule->line},
                 "no node and no module of the archive is called %s%s%s%s", rule->pattern,
                 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Globs that no node or module of the archive has are mistakes, seldom meant. */
static void check_precision_rules(C *c, const Session *s, const Graph *g) {
    for (int r = 0; r < s->compile.precision_count; r++) {
        const PrecisionRule *rule = &s->compile.precision[r];
        bool used = false;
        for (int i = 0; i < g->archive_count && !used; i++)
            used = glob_match(rule->pattern, g->archive[i].name) ||
                   (g->archive[i].module && glob_match(rule->pattern, g->archive[i].module));
        if (!used)
            warn_of_rule(c, s, g, rule);
    }
}

/* Returns the text of report.json. */
static const char *write_folder(C *c, Session *s, Graph *g, PipelineControl *control,
                                FileSet *files) {
    double start = now();
    report_settle(c, g);
    if (text_equal(profile_of(&s->compile)->name, "tosa"))
        emit_tosa(c, g, &s->compile, files);
    else if (text_equal(profile_of(&s->compile)->name, "pte"))
        emit_pte(c, g, &s->compile, files);
    else
        emit_c(c, g, &s->compile, files);
    if (s->o->bundle)
        bundle_add(c, s, g, files);
    export_files(c, g, &s->compile, files);
    add_seconds(control, "emit", now() - start);
    if (s->o->archive_data) {
        g->archive_path = c_format(c, "%s.pt2", g->name);
        fileset_add(c, files, g->archive_path, s->o->archive_data, s->o->archive_bytes);
        s->compile.holds_archive = true;
    }
    const char *report = report_json(c, g, &s->compile, control->seconds, files);
    report_page(c, g, report, files);
    const char **owned;
    int owned_count = owned_files(c, s->o->out, &owned);
    fileset_write(c, files, s->o->out, owned_count, owned);
    return report;
}

/* The passes again from behind calibration. */
static Graph *quantized_copy(C *c, Session *s, const Graph *calibrated) {
    Graph *g = graph_copy(c, calibrated);
    PipelineControl control = {.from = "precision", .stop_after = "quantize"};
    pipeline_run(c, g, &s->compile, &control);
    return g;
}

static bool is_quantized_already(const Graph *g) {
    for (const Node *n = g->first; n; n = n->next)
        if (strncmp(n->op->schema, "quantized_decomposed::", 22) == 0)
            return true;
    return false;
}

/* Some fault is none of a node's: inputs may not be what the archive says. */
static bool boundary_is_faulty(const C *c) {
    for (const Diag *d = c->first_diag; d; d = d->next)
        if (!d->warning && !d->loc.node)
            return true;
    return false;
}

/* An archive with faults never comes to the passes: what else is wrong is said together with them.
 */
static void stop_with_all_faults(C *c, Session *s, Graph *g) {
    if (boundary_is_faulty(c))
        diag_stop_if_errors(c);
    if (s->o->calibrate_count > 0 || s->o->calibrate_data_count > 0)
        read_calibration(c, s, g);
    else if (!is_quantized_already(g) && g->input_count > 0)
        diag_error(c, DIAG_MODEL, NULL, "no calibration data: give -c");
    diag_stop_if_errors(c);
}

/* The nodes that the passes found to need float join those of earlier runs. */
static void add_float_nodes(C *c, Options *o, const Graph *g) {
    int count = o->float_node_count;
    FloatNode *all = NEW_ARRAY(c, FloatNode, count + g->float_wanted_count);
    if (count > 0)
        memcpy(all, o->float_node, (size_t)count * sizeof *all);
    memcpy(all + count, g->float_wanted, (size_t)g->float_wanted_count * sizeof *all);
    o->float_node = all;
    o->float_node_count = count + g->float_wanted_count;
}

/* Loads and compiles the archive until no pass asks for more float nodes than it was given. */
static Graph *compile_archive(C *c, Session *s, PipelineControl *control, FileSet *files) {
    const char *from = control->from;
    for (;;) {
        double start = now();
        Graph *g = load_model(c, s);
        control->seconds[0] += now() - start;
        control->from = from;
        if (diag_error_count(c) > 0)
            stop_with_all_faults(c, s, g);
        if (s->compile.float_node_count == 0)
            check_precision_rules(c, s, g);
        if (s->compile.sample_count == 0)
            read_calibration(c, s, g);
        *files = (FileSet){0};
        run_passes(c, s, g, control, files);
        if (g->float_wanted_count == 0)
            return g;
        add_float_nodes(c, &s->compile, g);
    }
}

Graph *session_planned(C *c, Session *s) {
    for (;;) {
        Graph *g = load_model(c, s);
        diag_stop_if_errors(c);
        PipelineControl control = {0};
        pipeline_run(c, g, &s->compile, &control);
        if (g->float_wanted_count == 0)
            return g;
        add_float_nodes(c, &s->compile, g);
    }
}

Graph *session_calibrated(C *c, Session *s, Graph **quantized) {
    for (;;) {
        Graph *g = load_model(c, s);
        diag_stop_if_errors(c);
        if (s->compile.sample_count == 0)
            read_calibration(c, s, g);
        PipelineControl control = {.stop_after = "calibrate"};
        pipeline_run(c, g, &s->compile, &control);
        *quantized = quantized_copy(c, s, g);
        if ((*quantized)->float_wanted_count == 0)
            return g;
        add_float_nodes(c, &s->compile, *quantized);
    }
}

static void compile_body(C *c, Session *s) {
    const CortenOptions *o = s->o;
    bool only_dump = o->dump && !o->out && !o->stop_after;
    PipelineControl control = {
        .dump = o->dump, .stop_after = only_dump ? o->dump : o->stop_after, .from = o->from};
    if (!o->out && !control.stop_after)
        diag_error(c, DIAG_USAGE, NULL, "no output folder: give -o DIR");
    if (o->dump && o->json)
        diag_error(c, DIAG_USAGE, NULL, "--dump prints a graph, --json a report: one of them");
    session_options(c, s);
    if (o->out)
        check_folder_writable(c, o->out);
    FileSet files;
    Graph *g = compile_archive(c, s, &control, &files);
    c_stop_if_asked(c);
    diag_stop_if_errors(c);
    const char *report = control.stop_after ? NULL : write_folder(c, s, g, &control, &files);
    if (control.dumped)
        fputs(control.dumped, s->results);
    else if (report && o->json)
        fprintf(s->results, "%s\n", report);
    else if (o->json)
        fprintf(s->results, "{\"stopped_after\": \"%s\"}\n", control.stop_after);
    else if (report && !o->quiet)
        report_text(c, report, false, s->results);
}

int corten_compile(const CortenOptions *o) {
    return session_run(o, compile_body);
}
