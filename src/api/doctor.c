/* corten doctor: what is installed, what is missing and how to get it. A row is one thing that a
 * command or a test uses; needed are those without which a command of corten ends with exit code 4.
 */
#include "api/session.h"
#include "run/process.h"

#include <cblas.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBE_SECONDS = 20 };

typedef struct {
    const char *name, *purpose;
    const char *how; /* to get it, where it is missing */
    bool needed;
    const char *(*find)(C *c, const Session *s, const char *name); /* its version; NULL: missing */
} Thing;

/* What a command prints; NULL: it is missing, or fails. */
static const char *output_of(C *c, const char *command) {
    char log[] = "/tmp/corten-XXXXXX";
    int fd = mkstemp(log);
    if (fd < 0)
        fatal(c, DIAG_INPUT, &(Loc){.file = log}, "cannot be made");
    close(fd);
    Words words = words_new(c);
    words_split(&words, command);
    Process p = process_start(c, &words, "/", log, PROBE_SECONDS);
    int code = process_wait(&p);
    size_t bytes = 0;
    const char *text = file_read(c, log, &bytes);
    unlink(log);
    return code == 0 ? c_strndup(c, text, bytes) : NULL;
}

static const char *first_line(C *c, const char *text) {
    return text ? c_strndup(c, text, strcspn(text, "\n")) : NULL;
}

static const char *find_tool(C *c, const Session *s, const char *name) {
    (void)s;
    return first_line(c, output_of(c, c_format(c, "%s --version", name)));
}

/* Wrappers of the browser say other things before it says its version. */
static const char *find_chromium(C *c, const Session *s, const char *name) {
    (void)s;
    static const char *const names[] = {NULL, "chromium-browser", "google-chrome"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *said = output_of(c, c_format(c, "%s --version", i ? names[i] : name));
        const char *version = said ? strstr(said, "Chrom") : NULL;
        if (version)
            return first_line(c, version);
    }
    return NULL;
}

/* The simulator, if it has the boards of all CPUs. */
static const char *find_qemu(C *c, const Session *s, const char *name) {
    const char *version = find_tool(c, s, name);
    const char *machines = version ? output_of(c, c_format(c, "%s -machine help", name)) : NULL;
    for (int i = 0; machines && i < cpu_table_count; i++)
        if (!strstr(machines, cpu_table[i].machine))
            return NULL;
    return machines ? version : NULL;
}

/* gcc prints a path for what it has, and the bare name otherwise. */
static const char *find_newlib(C *c, const Session *s, const char *name) {
    (void)s, (void)name;
    const char *path = output_of(c, "arm-none-eabi-gcc -print-file-name=rdimon.specs");
    return path && path[0] == '/' ? first_line(c, path) : NULL;
}

static const char *find_share(C *c, const Session *s, const char *name) {
    (void)s;
    const char *path = path_join(c, share_folder(c), name);
    return path_is_folder(path) ? path : NULL;
}

static const char *find_blas(C *c, const Session *s, const char *name) {
    (void)s, (void)name;
    return c_strdup(c, openblas_get_config());
}

#define REINSTALL "install Corten again, or let CORTEN_SHARE name its folder"

static const Thing things[] = {
    {"runtime", "compile: the kernels' sources", REINSTALL, true, find_share},
    {"boards", "--on qemu: start-up code", REINSTALL, true, find_share},
    {"openblas", "calibration", "apt-get install libopenblas0", true, find_blas},
    {"qemu-system-arm", "--on qemu: the simulated chip", "apt-get install qemu-system-arm", true,
     find_qemu},
    {"arm-none-eabi-gcc", "--on qemu: builds what was written", "apt-get install gcc-arm-none-eabi",
     true, find_tool},
    {"newlib", "--on qemu: the C library of the simulated chip",
     "apt-get install libnewlib-arm-none-eabi", true, find_newlib},
    {"vela", "-t ethos-u...: Arm's compiler for the NPU", "pip install ethos-u-vela", false,
     find_tool},
    {"cc", "tests: emitted C on the host", "apt-get install gcc", false, find_tool},
    {"cmake", "folders of --export cmake", "apt-get install cmake", false, find_tool},
    {"chromium", "tests: report.html in a browser", "apt-get install chromium", false,
     find_chromium},
};

static void print_thing(FILE *f, const Thing *t, const char *version) {
    fprintf(f, "%-8s %-18s %s\n",
            version     ? "found"
            : t->needed ? "missing"
                        : "absent",
            t->name, version ? version : t->purpose);
    if (!version)
        fprintf(f, "%27s %s\n", "", t->how);
}

static void doctor_body(C *c, Session *s) {
    json_t *list = json_array();
    c_defer(c, json_release, list);
    if (!s->o->json)
        fprintf(s->results, "corten %s\n", CORTEN_VERSION);
    for (size_t i = 0; i < COUNT_OF(things); i++) {
        const Thing *t = &things[i];
        const char *version = t->find(c, s, t->name);
        if (!version && t->needed)
            diag_error(c, DIAG_TOOL, NULL, "%s is missing (%s): %s", t->name, t->purpose, t->how);
        if (!s->o->json)
            print_thing(s->results, t, version);
        json_array_append_new(list, json_pack("{s:s, s:s?, s:b, s:s, s:s?}", "name", t->name,
                                              "found", version, "needed", t->needed, "for",
                                              t->purpose, "how", version ? NULL : t->how));
    }
    if (!s->o->json)
        return;
    json_dumpf(list, s->results, JSON_INDENT(1));
    fprintf(s->results, "\n");
}

int corten_doctor(const CortenOptions *o) {
    return session_run(o, doctor_body);
}
