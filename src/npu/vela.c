/* Arm's Vela, run on a TOSA file: its raw output, an .npz, and its summary, a .csv, are read back.
 * Nothing that they claim is believed unseen: they are files that anyone may have written. */
#include "npu/npu.h"
#include "run/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VELA_SECONDS = 1800, SAID = 4000 };
#define MEMBER_LIMIT ((size_t)1 << 28) /* references have 28 bits */

/* ---- running it ---------------------------------------------------------------------------- */

static Words command(C *c, const Options *o, const NpuProgram *p) {
    Words w = words_new(c);
    const char *word[] = {o->vela ? o->vela : "vela",
                          c_format(c, "%s.tosa", p->name),
                          "--accelerator-config",
                          o->npu->name,
                          "--system-config",
                          o->npu->system,
                          "--memory-mode",
                          o->npu->memory_mode,
                          "--output-format",
                          "raw",
                          "--output-dir",
                          "."};
    for (size_t i = 0; i < COUNT_OF(word); i++)
        words_add(&w, word[i]);
    for (int i = 0; i < o->vela_argument_count; i++) /* the last of two alike counts */
        words_add(&w, o->vela_argument[i]);
    return w;
}

static void run(C *c, const Options *o, const NpuProgram *p, const char *work) {
    Words w = command(c, o, p);
    const char *log = path_join(c, work, "vela.log");
    Process process = process_start(c, &w, work, log, VELA_SECONDS);
    int code = process_wait(&process);
    if (code == PROCESS_MISSING)
        fatal(c, DIAG_TOOL, NULL,
              "%s was not found: Arm's compiler for %s, pip install ethos-u-vela; --vela PATH says "
              "where it is",
              w.item[0], o->npu->name);
    if (code == PROCESS_TIMEOUT)
        fatal(c, DIAG_TOOL, NULL, "%s did not end in time", w.item[0]);
    if (code == 0)
        return;
    size_t bytes = 0;
    const char *said = file_read(c, log, &bytes);
    size_t skipped = bytes > SAID ? bytes - SAID : 0;
    diag_error(c, DIAG_TOOL, NULL, "%s refused %s with code %d", w.item[0], p->name, code);
    diag_detail(c, "%s", c_strndup(c, said + skipped, bytes - skipped));
    diag_stop_if_errors(c);
}

/* ---- reading its output -------------------------------------------------------------------- */

typedef struct {
    C *c;
    Zip *zip;
    const char *path;
} Raw;

static _Noreturn void not_raw(const Raw *r, const char *what) {
    fatal(r->c, DIAG_INPUT, &(Loc){.file = r->path}, "not what this version of Corten reads: %s",
          what);
}

static const char *member(const Raw *r, const char *name, size_t *bytes) {
    int index = zip_find(r->zip, c_format(r->c, "%s.npy", name));
    if (index < 0)
        not_raw(r, c_format(r->c, "no %s", name));
    return zip_member(r->c, r->zip, index, MEMBER_LIMIT, bytes);
}

/* A byte string: what stands behind the header of its .npy. */
static const void *bytes_of(const Raw *r, const char *name, int64_t *count) {
    enum { MAGIC = 10 }; /* six bytes, version 1.0, length of the header */
    size_t bytes;
    const unsigned char *data = (const unsigned char *)member(r, name, &bytes);
    size_t header = bytes > MAGIC ? MAGIC + data[8] + 256u * data[9] : bytes + 1;
    if (bytes <= MAGIC || data[6] != 1 || header > bytes)
        not_raw(r, c_format(r->c, "%s is no byte string", name));
    *count = (int64_t)(bytes - header);
    return data + header;
}

static const Array *numbers(const Raw *r, const char *name) {
    size_t bytes;
    const char *data = member(r, name, &bytes);
    return npy_parse(r->c, name, data, bytes);
}

static int64_t number(const Raw *r, const char *name) {
    const Array *a = numbers(r, name);
    int64_t n = array_count(a) == 1 ? array_get_int(a, 0) : -1;
    if (n < 0 || n >= (int64_t)MEMBER_LIMIT)
        not_raw(r, c_format(r->c, "%s is no number of bytes", name));
    return n;
}

/* Where the values lie in scratch: region 1, which holds each of them whole. */
static int64_t *offsets(const Raw *r, const char *side, int count, Value *const *value,
                        int64_t scratch) {
    const Array *offset = numbers(r, c_format(r->c, "%s_offset", side));
    const Array *region = numbers(r, c_format(r->c, "%s_region", side));
    const Array *size = numbers(r, c_format(r->c, "%s_elem_size", side));
    const Array *shape = numbers(r, c_format(r->c, "%s_shape", side));
    int64_t *at = NEW_ARRAY(r->c, int64_t, count + 1);
    if (array_count(offset) != count || array_count(region) != count || array_count(size) != count)
        not_raw(r, c_format(r->c, "other %ss than the program's", side));
    int64_t rank = array_count(shape) / count;
    for (int i = 0; i < count; i++) {
        int64_t bytes = array_get_int(size, i);
        for (int64_t d = 0; d < rank; d++)
            bytes *= array_get_int(shape, i * rank + d);
        at[i] = array_get_int(offset, i);
        if (array_get_int(region, i) != 1 || bytes != value_bytes(value[i]) || at[i] < 0 ||
            at[i] > scratch - bytes)
            not_raw(r, c_format(r->c, "%s %d lies elsewhere, or is of another size", side, i));
    }
    return at;
}

static void read_raw(C *c, NpuProgram *p, const char *path) {
    Raw r = {c, zip_open_file(c, path), path};
    p->commands = bytes_of(&r, "cmd_data", &p->command_bytes);
    p->weights = bytes_of(&r, "weight_data", &p->weight_bytes);
    p->scratch_bytes = number(&r, "scratch_size");
    p->fast_bytes = number(&r, "scratch_fast_size");
    if (number(&r, "weight_region") != 0 || number(&r, "scratch_region") != 1 ||
        (p->fast_bytes > 0 && number(&r, "scratch_fast_region") != 2))
        not_raw(&r, "regions are not weights, scratch, fast scratch");
    p->input_offset = offsets(&r, "input", p->input_count, p->input, p->scratch_bytes);
    p->output_offset = offsets(&r, "output", p->output_count, p->output, p->scratch_bytes);
    zip_close_file(r.zip);
}

/* Two lines, names and values; values that are no numbers are left out. */
static void read_summary(C *c, NpuProgram *p, const char *path) {
    size_t bytes;
    char *values = file_read(c, path, &bytes);
    char *names = strsep(&values, "\r\n");
    values += values && *values == '\n';
    int capacity = 0;
    while (names && values) {
        const char *name = strsep(&names, ","), *value = strsep(&values, ",\r\n");
        char *end;
        double number = strtod(value, &end);
        if (end == value || *end)
            continue;
        p->figure = c_grow(c, p->figure, p->figure_count, &capacity, p->figure_count + 1,
                           sizeof *p->figure);
        p->figure[p->figure_count++] = (NpuFigure){name, number};
    }
}

void vela_compile(C *c, const Options *o, NpuProgram *p) {
    const char *work = folder_temporary(c), **file;
    file_write(c, path_join(c, work, c_format(c, "%s.tosa", p->name)), p->tosa,
               (size_t)p->tosa_bytes);
    run(c, o, p, work);
    read_raw(c, p, path_join(c, work, c_format(c, "%s_vela.npz", p->name)));
    for (int i = 0, count = folder_list(c, work, &file); i < count; i++)
        if (strstr(file[i], "_summary_"))
            read_summary(c, p, path_join(c, work, file[i]));
}
