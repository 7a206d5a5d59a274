#include "flow/flow.h"

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static C *c;
static char folder[] = "/tmp/corten-test-XXXXXX";

static void bug(const char *what, const char *which) {
    fprintf(stderr, "%s %s: %s\n", what, which, strerror(errno));
    exit(1);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where) {
    (void)st;
    (void)where;
    return kind == FTW_DP ? rmdir(path) : unlink(path);
}

static void flow_end(void) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    c_free(c);
}

void flow_begin(void) {
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    c = c_new();
    if (!mkdtemp(folder))
        bug("cannot make", folder);
    atexit(flow_end);
}

C *flow_c(void) {
    return c;
}

const char *flow_text(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = c_vformat(c, format, args);
    va_end(args);
    return text;
}

const char *flow_path(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *name = c_vformat(c, format, args);
    va_end(args);
    return path_join(c, folder, name);
}

/* ---- commands ------------------------------------------------------------------------------ */

static const char *taken(char *text) {
    const char *copy = c_strdup(c, text);
    free(text);
    return copy;
}

Said flow_run(Entry *command, CortenOptions o) {
    char *results = NULL, *messages = NULL;
    size_t result_bytes, message_bytes;
    o.results = open_memstream(&results, &result_bytes);
    o.messages = open_memstream(&messages, &message_bytes);
    int code = command(&o);
    fclose(o.results);
    fclose(o.messages);
    return (Said){code, taken(results), taken(messages)};
}

Said flow_compile(const char *model, const char *data, const char *target, const char *out) {
    return flow_run(corten_compile, (CortenOptions){.model = model,
                                                    .calibrate = &data,
                                                    .calibrate_count = data != NULL,
                                                    .target = target,
                                                    .out = out});
}

json_t *flow_compiled(const char *model, const char *data, const char *target, const char *out) {
    Said said = flow_compile(model, data, target, out);
    if (said.code != 0) {
        fprintf(stderr, "%s: exit code %d: %s", model, said.code, said.messages);
        return NULL;
    }
    return flow_report(out);
}

static void release(void *json) {
    json_decref(json);
}

static json_t *released_at_the_end(json_t *json) {
    if (json)
        c_defer(c, release, json);
    return json;
}

json_t *flow_report(const char *out) {
    return released_at_the_end(json_load_file(path_join(c, out, "report.json"), 0, NULL));
}

/* Corten's own have this ending, a model's that stayed the name of their node. */
int flow_transposes(const json_t *report) {
    size_t i;
    json_t *call;
    int count = 0;
    json_array_foreach(json_object_get(report, "calls"), i, call) {
        const char *name = json_string_value(json_object_get(call, "name"));
        const char *kernel = json_string_value(json_object_get(call, "kernel"));
        bool moves = strncmp(kernel, "ctn_copy", strlen("ctn_copy")) == 0;
        count += moves && (strstr(name, "_relayout") || strstr(name, "permute") ||
                           strstr(name, "transpose"));
    }
    return count;
}

json_t *flow_json(Said said) {
    return released_at_the_end(json_loads(said.results, 0, NULL));
}

ArrayList flow_outputs(const char *model, const char *data, const char *on) {
    const char *out = flow_path("outputs.npz");
    unlink(out);
    Said said =
        flow_run(corten_run, (CortenOptions){.model = model, .input = data, .out = out, .on = on});
    if (said.code != 0)
        fprintf(stderr, "run %s: exit code %d: %s", model, said.code, said.messages);
    return said.code == 0 ? flow_arrays(out) : (ArrayList){0};
}

ArrayList flow_arrays(const char *path) {
    if (text_ends_with(path, ".npz"))
        return npz_read(c, path);
    size_t bytes;
    NamedArray *one = NEW(c, NamedArray);
    one->name = path_stem(c, path);
    const char *data = file_read(c, path, &bytes);
    one->array = npy_parse(c, path, data, bytes);
    return (ArrayList){1, one};
}

const char *flow_first(const char *npz, int count) {
    const char *out = flow_path("first%d_%s.npz", count, path_stem(c, npz));
    ArrayList list = npz_read(c, npz);
    for (int i = 0; i < list.count; i++)
        list.item[i].array->dim[0] = count;
    npz_write(c, out, &list);
    return out;
}

const Array *flow_array(const ArrayList *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->item[i].name, name) == 0)
            return list->item[i].array;
    return NULL;
}

double flow_sqnr(const Array *want, const Array *got) {
    double signal = 0, noise = 0;
    for (int64_t i = 0, n = array_count(want); i < n; i++) {
        double x = array_get(want, i), d = x - array_get(got, i);
        signal += x * x;
        noise += d * d;
    }
    return noise == 0 ? HUGE_VAL : 10 * log10(signal / noise);
}

Said flow_shell(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *command = c_format(c, "exec 2>&1; %s", c_vformat(c, format, args));
    va_end(args);
    FILE *f = popen(command, "r");
    if (!f)
        bug("cannot run", command);
    Text t = text_new(c);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        text_add_bytes(&t, part, n);
    int status = pclose(f);
    const char *text = text_string(&t);
    return (Said){WIFEXITED(status) ? WEXITSTATUS(status) : -1, text, text};
}

bool flow_has(const char *tool) {
    return flow_shell("command -v %s", tool).code == 0;
}

/* ---- files --------------------------------------------------------------------------------- */

bool file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

const char *file_text(const char *path) {
    size_t bytes;
    const char *data = file_read(c, path, &bytes);
    return c_strndup(c, data, bytes);
}

void text_write(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        bug("cannot write", path);
}

/* Without the lines of the report, which has seconds, and of what commands have added. */
static const char *page_comparable(char *page) {
    static const char *const changing[] = {"{\"report\":", ",\"verify\":", ",\"sensitivity\":"};
    Text rest = text_new(c);
    for (char *line; (line = strsep(&page, "\n"));) {
        bool same = true;
        for (size_t i = 0; i < COUNT_OF(changing); i++)
            same = same && strncmp(line, changing[i], strlen(changing[i])) != 0;
        if (same)
            text_add(&rest, "%s\n", line);
    }
    return text_string(&rest);
}

static const char *comparable(const char *path) {
    size_t bytes;
    char *data = file_read(c, path, &bytes);
    if (text_ends_with(path, "report.html"))
        return page_comparable(data);
    if (!text_ends_with(path, "report.json"))
        return c_format(c, "%zu:%s", bytes, file_sha256(c, path));
    json_t *report = json_loads(data, 0, NULL);
    json_object_del(report, "seconds");
    json_object_del(report, "model");
    char *text = json_dumps(report, JSON_SORT_KEYS);
    json_decref(report);
    return taken(text);
}

const char *folders_differ(const char *a, const char *b) {
    const char **in_a, **in_b;
    int count = folder_list(c, a, &in_a);
    if (count != folder_list(c, b, &in_b))
        return "the number of files";
    for (int i = 0; i < count; i++) {
        if (strcmp(in_a[i], in_b[i]) != 0)
            return in_a[i];
        const char *x = path_join(c, a, in_a[i]), *y = path_join(c, b, in_b[i]);
        const char *inside = path_is_folder(x) ? folders_differ(x, y) : NULL;
        if (inside)
            return inside;
        if (!path_is_folder(x) && strcmp(comparable(x), comparable(y)) != 0)
            return in_a[i];
    }
    return NULL;
}
