/* A model that an earlier compile left in a folder, taken up again: report.json says for which CPU
 * and options, <name>.corten holds the quantized graph, and lowering it again gives the very calls
 * that were emitted. */
#include "api/session.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

static const char *member(C *c, const Loc *loc, const json_t *root, const char *key) {
    const char *s = json_string_value(json_object_get(root, key));
    if (!s)
        fatal(c, DIAG_INPUT, loc, "no \"%s\" in this report; compile the model again", key);
    return c_strdup(c, s);
}

static const char *optional(const json_t *root, const char *key) {
    return json_string_value(json_object_get(root, key));
}

static const char *const *strings(C *c, const json_t *list, int *count) {
    *count = (int)json_array_size(list);
    const char **all = NEW_ARRAY(c, const char *, *count + 1);
    for (int i = 0; i < *count; i++) {
        const char *s = json_string_value(json_array_get(list, (size_t)i));
        all[i] = c_strdup(c, s ? s : "");
    }
    return all;
}

static const char *copy_or_null(C *c, const char *text) {
    return text ? c_strdup(c, text) : NULL;
}

/* Images are normalized as they were then, unless other numbers are given; inputs that are pixels
 * always are. `then` has the numbers of the compile. */
static void keep_scaling(C *c, CortenOptions *o, const CortenOptions *then) {
    o->input_scale = then->input_scale;
    o->input_scale_count = then->input_scale_count;
    if ((o->mean || o->std) && scaling_of(c, o).pixels_count == 0)
        return;
    o->mean = then->mean;
    o->std = then->std;
}

static void take_scaling(C *c, const json_t *options, CortenOptions *o) {
    CortenOptions then = {.mean = copy_or_null(c, optional(options, "mean")),
                          .std = copy_or_null(c, optional(options, "std"))};
    then.input_scale = strings(c, json_object_get(options, "input_scale"), &then.input_scale_count);
    keep_scaling(c, o, &then);
    o->mean = copy_or_null(c, o->mean); /* for later runs of a model that is held */
    o->std = copy_or_null(c, o->std);
}

void compiled_scaling(C *c, Session *s, const Compiled *m) {
    CortenOptions o = *s->o;
    keep_scaling(c, &o, m->o);
    s->scaling = scaling_of(c, &o);
}

/* The options of the earlier compile that lowering depends on. */
static void take_options(C *c, Session *s, const json_t *root, const Loc *loc, CortenOptions *o) {
    o->target = member(c, loc, root, "target");
    o->isa = member(c, loc, root, "isa");
    const json_t *options = json_object_get(root, "options");
    o->io = optional(options, "io") ? c_strdup(c, optional(options, "io")) : NULL;
    o->io_layout =
        optional(options, "io_layout") ? c_strdup(c, optional(options, "io_layout")) : NULL;
    o->optimize = optional(options, "optimize") ? c_strdup(c, optional(options, "optimize")) : NULL;
    s->compile.resume =
        optional(options, "from") ? c_strdup(c, optional(options, "from")) : "layout";
    o->keep_inputs = json_is_true(json_object_get(options, "keep_inputs"));
    o->bind_inputs = json_is_true(json_object_get(options, "bind_inputs"));
    o->bind_outputs = json_is_true(json_object_get(options, "bind_outputs"));
    o->memory_file = NULL;
    o->memory_text = optional(options, "memory") ? c_strdup(c, optional(options, "memory")) : NULL;
    o->limits = strings(c, json_object_get(options, "limits"), &o->limits_count);
    o->arena = optional(options, "arena") ? c_strdup(c, optional(options, "arena")) : NULL;
    o->allow_float = json_is_true(json_object_get(options, "allow_float"));
    o->ram = json_integer_value(json_object_get(options, "ram")); /* as many strips as then */
    o->flash = 0;
    o->exports_count = 0;
    o->state = strings(c, json_object_get(options, "state"), &o->state_count);
    take_scaling(c, options, o);
    s->scaling = scaling_of(c, o);
    s->o = o;
    session_options(c, s);
    if (s->compile.npu && (text_equal(o->on, "qemu") || text_equal(o->on, "board")))
        fatal(
            c, DIAG_USAGE, NULL,
            "--on %s: this folder's C needs an %s and its driver, which are not there; compile for "
            "%s alone to check the CPU's kernels there",
            o->on, s->compile.npu->name, s->compile.cpu->name);
    s->compile.npu = NULL; /* nor has the simulator one: the CPU's kernels are what it runs */
}

/* An archive that lies with the model has its bare name in the report. */
static const char *archive_place_in(C *c, const char *folder, const char *name) {
    return strchr(name, '/') ? name : path_join(c, folder, name);
}

/* The report lives as long as c. */
static json_t *report_parse(C *c, const char *folder, Loc *loc, const char **text) {
    session_need_folder(c, folder);
    *loc = (Loc){.file = path_join(c, folder, "report.json")};
    size_t bytes;
    *text = file_read(c, loc->file, &bytes);
    json_error_t error;
    json_t *root = json_loads(*text, 0, &error);
    if (!root) {
        loc->line = error.line;
        fatal(c, DIAG_INPUT, loc, "not a report: %s", error.text);
    }
    c_defer(c, json_release, root);
    return root;
}

static void check_archive(C *c, const char *path, const char *wanted) {
    Loc loc = {.file = path};
    const char *found = file_sha256(c, path);
    if (strcmp(found, wanted) != 0)
        fatal(c, DIAG_INPUT, &loc,
              "this archive is not the one that was compiled: sha256 %s, needed %s (--model names "
              "another path)",
              found, wanted);
}

void compiled_options(C *c, Session *s, const char *folder) {
    Loc loc;
    const char *text;
    json_t *root = report_parse(c, folder, &loc, &text);
    const json_t *options = json_object_get(root, "options");
    CortenOptions *o = c_memdup(c, s->o, sizeof *s->o);
    o->model =
        o->archive ? o->archive : archive_place_in(c, folder, member(c, &loc, root, "model"));
    check_archive(c, o->model, member(c, &loc, root, "model_sha256"));
    o->observer = optional(options, "observer") ? c_strdup(c, optional(options, "observer")) : NULL;
    if (!o->precision_file && optional(options, "precision"))
        o->precision_text = c_strdup(c, optional(options, "precision"));
    take_options(c, s, root, &loc, o);
}

Compiled compiled_load(C *c, Session *s, const char *folder) {
    Compiled m = {.folder = folder};
    Loc loc;
    json_t *root = report_parse(c, folder, &loc, &m.report);
    CortenOptions *o = c_memdup(c, s->o, sizeof *s->o);
    take_options(c, s, root, &loc, o);
    const char *name = member(c, &loc, root, "name");
    m.archive =
        o->archive ? o->archive : archive_place_in(c, folder, member(c, &loc, root, "model"));
    m.o = o;
    m.archive_sha256 = member(c, &loc, root, "model_sha256");
    const char *source = optional(root, "source_sha256");
    source = source ? c_strdup(c, source) : NULL;
    m.planned = graph_load(c, path_join(c, folder, c_format(c, "%s.corten", name)));
    m.planned->source_sha256 = source;
    PipelineControl control = {.from = s->compile.resume};
    pipeline_run(c, m.planned, &s->compile, &control);
    return m;
}

void compiled_page_add(C *c, const char *folder, const char *part, const char *found) {
    const char *path = path_join(c, folder, "report.html");
    size_t bytes;
    if (access(path, R_OK | W_OK) != 0 || access(folder, W_OK | X_OK) != 0)
        return;
    const char *page = report_page_with(c, file_read(c, path, &bytes), part, found);
    if (page)
        file_write(c, path, page, strlen(page));
}

Graph *archive_import(C *c, const CortenOptions *o, const char *path) {
    Graph *g = import_pt2_bytes(c, path, o->archive_data, o->archive_bytes);
    states_pair(c, g, o->state_count, o->state);
    pixels_normalize(c, g, o);
    return g;
}

Graph *archive_float(C *c, const CortenOptions *o, const char *path) {
    Graph *g = archive_import(c, o, path);
    Options none = {0};
    PipelineControl control = {.stop_after = "functionalize"};
    pipeline_run(c, g, &none, &control);
    return g;
}

Graph *compiled_float(C *c, const Compiled *m) {
    check_archive(c, m->archive, m->archive_sha256);
    return archive_float(c, m->o, m->archive);
}
