/* Options to a compilation and back to an exit code: the one place where everything unwinds to. */
#include "api/session.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    Session *session;
    void (*body)(C *c, Session *s);
} Job;

static void run_job(C *c, void *user) {
    Job *job = user;
    job->session->scaling = scaling_of(c, job->session->o);
    job->body(c, job->session);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Only work that takes over a second shows a bar. */
static bool show_progress(void *user, const char *what, double fraction) {
    Session *s = user;
    if (now() - s->start < 1)
        return true;
    if (fraction >= 1)
        fprintf(s->messages, "\r%*s\r", 60, "");
    else
        fprintf(s->messages, "\r%-40s %3.0f %%", what, 100 * fraction);
    (void)fflush(s->messages);
    return true;
}

static void choose_progress(C *c, Session *s) {
    const CortenOptions *o = s->o;
    if (o->progress) {
        c->progress = o->progress;
        c->progress_user = o->user;
    } else if (!o->quiet && isatty(fileno(s->messages))) {
        c->progress = show_progress;
        c->progress_user = s;
    }
}

static void tell_diagnostics(const C *c, const Session *s) {
    const CortenOptions *o = s->o;
    if (!o->diagnostic) {
        diag_print(c, s->messages, o->colour, o->quiet);
        return;
    }
    for (const Diag *d = c->first_diag; d; d = d->next) {
        const Loc *at = &d->loc;
        CortenDiagnostic told = {(int)d->kind, d->message,      d->detail, at->file,
                                 at->line,     at->source_text, at->node,  at->module,
                                 at->output,   at->member,      at->byte};
        if ((!d->warning || !o->quiet) && !diag_is_repeated(c, d))
            o->diagnostic(o->user, &told);
    }
}

/* --json of a command that found nothing: why, for scripts that read standard output. */
static void print_errors(const C *c, const Session *s, int code) {
    json_t *root = json_pack("{s:i, s:o}", "exit_code", code, "errors", diag_json(c, false));
    json_dumpf(root, s->results, JSON_INDENT(1));
    fputc('\n', s->results);
    json_decref(root);
}

int session_run_in(C *c, const CortenOptions *o, CortenModel *model,
                   void (*body)(C *c, Session *s)) {
    char *text = NULL;
    size_t bytes = 0;
    bool held = o->result || o->json; /* until it is known whether there is any */
    FILE *memory = held ? open_memstream(&text, &bytes) : NULL;
    FILE *results = o->results ? o->results : stdout;
    Session s = {.o = o,
                 .start = now(),
                 .results = memory ? memory : results,
                 .messages = o->messages ? o->messages : stderr,
                 .model = model};
    Job job = {&s, body};
    c->verbose = o->verbose;
    c->share = o->share;
    choose_progress(c, &s);
    int code = c_try(c, run_job, &job);
    bool closed = memory && fclose(memory) == 0;
    s.results = results;
    if (closed && o->result && code == 0)
        o->result(o->user, text, bytes);
    else if (closed && !o->result && bytes > 0)
        (void)fwrite(text, 1, bytes, results);
    else if (!o->result && o->json && code != 0)
        print_errors(c, &s, code);
    free(text);
    (void)fflush(results); /* where both go to one file, results come first and whole */
    tell_diagnostics(c, &s);
    return code;
}

int session_run(const CortenOptions *o, void (*body)(C *c, Session *s)) {
    C *c = c_new();
    int code = session_run_in(c, o, NULL, body);
    c_free(c);
    return code;
}

const char *corten_version(void) {
    return CORTEN_VERSION;
}

int corten_api_version(void) {
    return CORTEN_API_VERSION;
}

void session_need_folder(C *c, const char *path) {
    if (!path_is_folder(path) || access(path_join(c, path, "report.json"), F_OK) != 0)
        fatal(c, DIAG_INPUT, &(Loc){.file = path},
              "not the folder of a compiled model; corten compile makes one%s",
              path_meant(c, path));
}

/* ---- options ------------------------------------------------------------------------------- */

/* The index of `word` in the list, or -1 and a diagnostic that suggests the nearest. */
static int choose(C *c, const char *option, const char *word, const char *const *list, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i], word) == 0)
            return i;
    const char *near = text_nearest(word, list, count);
    diag_error(c, DIAG_USAGE, NULL, "unknown %s \"%s\"%s%s%s", option, word,
               near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    Text all = text_new(c);
    for (int i = 0; i < count; i++)
        text_add(&all, "%s%s", i ? ", " : "", list[i]);
    diag_detail(c, "one of: %s", text_string(&all));
    return -1;
}

static int choose_or(C *c, const char *option, const char *word, const char *const *list, int count,
                     int otherwise) {
    return word ? choose(c, option, word, list, count) : otherwise;
}

static void choose_profile(C *c, Session *s) {
    const char **names = NEW_ARRAY(c, const char *, profile_table_count);
    int count = 0;
    while (count < profile_table_count && !profile_table[count].of_npu) {
        names[count] = profile_table[count].name;
        count++;
    }
    int kind = choose_or(c, "--emit", s->o->emit, names, count, 0);
    s->compile.profile = &profile_table[kind < 0 ? 0 : kind];
    if (s->compile.npu && text_equal(s->compile.profile->name, "pte"))
        diag_error(c, DIAG_USAGE, NULL, "--emit pte is of the Cortex-M alone: -t %s",
                   s->compile.cpu->name);
    if (s->o->bundle && !text_equal(s->compile.profile->name, "pte"))
        diag_error(c, DIAG_USAGE, NULL, "--bundle is of ExecuTorch programs: it needs --emit pte");
    for (int i = 0; kind == 0 && s->compile.npu && i < profile_table_count; i++)
        if (profile_table[i].of_npu)
            s->compile.profile = &profile_table[i];
    if (kind > 0 && s->o->exports_count > 0)
        diag_error(c, DIAG_USAGE, NULL, "--export is of C: it does not go with --emit %s",
                   s->o->emit);
}

/* "CPU", "NPU" with the CPU that stands beside it, or "CPU+NPU". */
static bool choose_target(C *c, Session *s) {
    const char **names = NEW_ARRAY(c, const char *, cpu_table_count + npu_table_count);
    for (int i = 0; i < cpu_table_count; i++)
        names[i] = cpu_table[i].name;
    for (int i = 0; i < npu_table_count; i++)
        names[cpu_table_count + i] = npu_table[i].name;
    const char *plus = strchr(s->o->target, '+');
    const char *last = plus ? plus + 1 : s->o->target;
    int both = cpu_table_count + npu_table_count;
    int first = plus ? choose(c, "CPU", c_strndup(c, s->o->target, (size_t)(plus - s->o->target)),
                              names, cpu_table_count)
                     : -1;
    int k = plus ? choose(c, "NPU", last, names + cpu_table_count, npu_table_count)
                 : choose(c, "CPU", last, names, both);
    if (k < 0 || (plus && first < 0))
        return false;
    k += plus ? cpu_table_count : 0;
    s->compile.npu = k < cpu_table_count ? NULL : &npu_table[k - cpu_table_count];
    s->compile.cpu = plus             ? &cpu_table[first]
                     : s->compile.npu ? cpu_find(s->compile.npu->cpu)
                                      : &cpu_table[k];
    return true;
}

static void choose_cpu(C *c, Session *s) {
    if (!choose_target(c, s))
        return;
    s->compile.isa = s->compile.cpu->isa;
    const char **levels = NEW_ARRAY(c, const char *, isa_level_count + 1);
    memcpy(levels, isa_levels, (size_t)isa_level_count * sizeof *levels);
    levels[isa_level_count] = "c"; /* below every level: kernels in plain C alone */
    int level = choose_or(c, "ISA level", s->o->isa, levels, isa_level_count + 1, -1);
    if (level < 0)
        return;
    s->compile.isa = levels[level];
    if (level == isa_level_count)
        return;
    for (int own = 0; strcmp(isa_levels[own], s->compile.cpu->isa) != 0; own++)
        if (own == level)
            return;
    if (strcmp(s->compile.isa, s->compile.cpu->isa) != 0)
        diag_error(c, DIAG_USAGE, NULL, "--isa %s: %s has %s only", s->compile.isa,
                   s->compile.cpu->name, s->compile.cpu->isa);
}

const char *precision_name(const CortenOptions *o) {
    return o->precision_file ? o->precision_file : "precision";
}

/* "GLOB = int8|int16|w4|float" a line; # starts a comment. */
static void parse_precision(C *c, Session *s) {
    static const char *const kinds[] = {"int8", "int16", "w4", "float"};
    if (!s->o->precision_file && !s->o->precision_text)
        return;
    size_t bytes;
    char *text = s->o->precision_file ? file_read(c, s->o->precision_file, &bytes)
                                      : c_strdup(c, s->o->precision_text);
    PrecisionRule *rule = NEW_ARRAY(c, PrecisionRule, strlen(text) + 1);
    int line = 0;
    for (char *p; (p = strsep(&text, "\n"));) {
        char pattern[512], kind[16];
        int end = 0;
        Loc loc = {.file = precision_name(s->o), .line = ++line};
        p[strcspn(p, "#")] = 0;
        if (p[strspn(p, " \t\r")] == 0)
            continue;
        if (sscanf(p, " %511[^ =\t] = %15s %n", pattern, kind, &end) != 2 || p[end]) {
            diag_error(c, DIAG_INPUT, &loc, "\"%s\" is no rule: GLOB = int8|int16|w4|float is", p);
            continue;
        }
        int k = choose(c, "precision", kind, kinds, COUNT_OF(kinds));
        if (k >= 0)
            rule[s->compile.precision_count++] =
                (PrecisionRule){c_strdup(c, pattern), kinds[k], loc.file, loc.line};
    }
    s->compile.precision = rule;
}

static void choose_exports(C *c, Session *s) {
    const char **names = NEW_ARRAY(c, const char *, export_table_count);
    int *kinds = NEW_ARRAY(c, int, s->o->exports_count + 1);
    for (int i = 0; i < export_table_count; i++)
        names[i] = export_table[i].name;
    for (int i = 0; i < s->o->exports_count; i++) {
        int kind = choose(c, "--export", s->o->exports[i], names, export_table_count);
        if (kind >= 0)
            kinds[s->compile.export_count++] = kind;
    }
    s->compile.export_kind = kinds;
}

void session_options(C *c, Session *s) {
    static const char *const observers[] = {"minmax", "percentile", "mse"};
    static const char *const ios[] = {"int8", "int16", "float", "uint8"};
    static const char *const layouts[] = {"nchw", "nhwc"};
    static const char *const optimizes[] = {"speed", "size"};
    const CortenOptions *o = s->o;
    Options *k = &s->compile;
    if (!o->target)
        diag_error(c, DIAG_USAGE, NULL, "no CPU: give -t, for example -t cortex-m55");
    else
        choose_cpu(c, s);
    k->observer = (ObserverKind)choose_or(c, "observer", o->observer, observers, 3, OBSERVER_MSE);
    k->io = (IoType)(choose_or(c, "--io", o->io, ios, COUNT_OF(ios), -1) + 1);
    k->io_nhwc = choose_or(c, "--io-layout", o->io_layout, layouts, 2, 0) == 1;
    k->optimize_size = choose_or(c, "--optimize", o->optimize, optimizes, 2, 0) == 1;
    choose_profile(c, s);
    if (!o->io && profile_of(k)->float_io)
        k->io = IO_FLOAT;
    if (profile_of(k)->float_io && (k->io == IO_UINT8 || k->io == IO_INT16))
        diag_error(c, DIAG_USAGE, NULL, "--io %s: ExecuTorch's Cortex-M dialect has float and int8",
                   o->io);
    k->target = o->target;
    k->vela = o->vela;
    k->vela_argument = o->vela_arguments;
    k->vela_argument_count = o->vela_arguments_count;
    k->allow_float = o->allow_float;
    k->keep_inputs = o->keep_inputs;
    k->bind_inputs = o->bind_inputs;
    k->bind_outputs = o->bind_outputs;
    k->ram_limit = o->ram;
    k->flash_limit = o->flash;
    k->accuracy_budget_db = o->accuracy_budget_db;
    k->state_count = o->state_count;
    k->state = o->state;
    k->input_scale_count = o->input_scale_count;
    k->input_scale = o->input_scale;
    k->mean = o->mean;
    k->std = o->std;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    k->threads = o->threads > 0 ? o->threads : cpus > 0 ? (int)cpus : 1;
    choose_exports(c, s);
    parse_precision(c, s);
    memory_options(c, s);
    diag_stop_if_errors(c);
}
