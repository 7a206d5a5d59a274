/* --export: the emitted C as a folder that a build system takes as it is. A kind is a row of the
 * table here and a folder of templates in exports/: they are copied with their @words@ replaced, in
 * names of files too, and a line with @source@ or @header@ is written once for each such file. */
#include "emit/names.h"

#include <ctype.h>
#include <string.h>

const ExportKind export_table[] = {
    {"cmake", "a library for add_subdirectory", "", "runtime/"},
    {"make", "a Makefile that builds a static library", "", "runtime/"},
    {"arduino", "a library for Arduino", "src/", "src/"},
    {"zephyr", "a Zephyr module", "src/", "src/runtime/"},
    {"cmsis-pack", "a pack's description and content", "model/", "runtime/"},
};
const int export_table_count = COUNT_OF(export_table);

typedef struct {
    const char *word, *text;
} Word;

enum { WORDS = 12, RUNTIME = sizeof "runtime/" - 1 };

typedef struct {
    C *c;
    const ExportKind *kind;
    FileSet model; /* by their names in the exported folder */
    Word word[WORDS];
    FileSet *out;
} Export;

/* "cortex-m0plus" as CMSIS writes it: "Cortex-M0+" */
static const char *core_name(C *c, const Cpu *cpu) {
    char *name = c_strdup(c, cpu->name), *plus = strstr(name, "plus");
    name[0] = (char)toupper((unsigned char)name[0]);
    for (char *p = strchr(name, '-'); p && *p && p != plus; p++)
        *p = (char)toupper((unsigned char)*p);
    if (plus)
        memcpy(plus, "+", 2);
    return name;
}

static void fill_words(Export *e, const Graph *g, const Options *o) {
    C *c = e->c;
    const Word words[WORDS] = {
        {"name", g->name},
        {"NAME", upper_name(c, g->name)},
        {"cpu", o->cpu->name},
        {"core", core_name(c, o->cpu)},
        {"isa", o->isa},
        {"flags", o->cpu->gcc_flags},
        {"machine", o->cpu->machine},
        {"board", o->cpu->board},
        {"version", CORTEN_VERSION},
        {"arena", c_format(c, "%lld", (long long)g->arena_bytes)},
        {"state", c_format(c, "%lld", (long long)g->state_bytes)},
        {"weights", c_format(c, "%lld", (long long)g->weights_bytes)},
    };
    memcpy(e->word, words, sizeof words);
}

/* A kind that has model and kernels in one folder cannot have a file of each by one name. */
static void check_place(const Export *e, const char *placed, const char *name) {
    for (int i = 0; i < e->model.count; i++)
        if (strcmp(e->model.file[i].name, placed) == 0)
            fatal(
                e->c, DIAG_USAGE, NULL,
                "--export %s has the model beside the kernels, and %s is one of theirs too; --name "
                "calls the model otherwise",
                e->kind->name, name);
}

/* The files of the model where this kind has them. */
static void place_files(Export *e, const FileSet *emitted) {
    for (int i = 0; i < emitted->count; i++) {
        const char *name = emitted->file[i].name;
        if (!text_ends_with(name, ".c") && !text_ends_with(name, ".h") &&
            !text_ends_with(name, ".ld"))
            continue;
        const char *placed = strncmp(name, "runtime/", RUNTIME) == 0
                                 ? c_format(e->c, "%s%s", e->kind->runtime, name + RUNTIME)
                                 : c_format(e->c, "%s%s", e->kind->model, name);
        check_place(e, placed, name);
        fileset_add(e->c, &e->model, placed, emitted->file[i].data, emitted->file[i].bytes);
    }
}

/* Appends text[0..count) with words replaced; an @ that begins no word stands for itself. */
static void add_replaced(const Export *e, Text *t, const char *text, size_t count,
                         const char *file) {
    for (size_t i = 0; i < count;) {
        const char *end = text[i] == '@' ? memchr(text + i + 1, '@', count - i - 1) : NULL;
        size_t length = end ? (size_t)(end - text) - i - 1 : 0;
        const char *with = NULL;
        for (int w = 0; end && w < WORDS; w++)
            if (strlen(e->word[w].word) == length &&
                memcmp(text + i + 1, e->word[w].word, length) == 0)
                with = e->word[w].text;
        if (file && (length == 6) &&
            (memcmp(text + i, "@source@", 8) == 0 || memcmp(text + i, "@header@", 8) == 0))
            with = file;
        if (with)
            text_add(t, "%s", with);
        else
            text_add_bytes(t, text + i, 1);
        i += with ? length + 2 : 1;
    }
}

static bool has_word(const char *line, size_t count, const char *word) {
    const char *found = strstr(line, word);
    return found && found < line + count;
}

/* A line, or for @source@ and @header@ one for each file that ends so. */
static void add_line(const Export *e, Text *t, const char *line, size_t count) {
    const char *ending = has_word(line, count, "@source@")   ? ".c"
                         : has_word(line, count, "@header@") ? ".h"
                                                             : NULL;
    if (!ending) {
        add_replaced(e, t, line, count, NULL);
        return;
    }
    for (int i = 0; i < e->model.count; i++)
        if (text_ends_with(e->model.file[i].name, ending))
            add_replaced(e, t, line, count, e->model.file[i].name);
}

static void add_template(Export *e, const char *path, const char *name) {
    size_t bytes;
    const char *text = file_read(e->c, path, &bytes);
    Text t = text_new(e->c), to = text_new(e->c);
    for (const char *line = text; *line;) {
        size_t count = strcspn(line, "\n");
        count += line[count] == '\n';
        add_line(e, &t, line, count);
        line += count;
    }
    text_add(&to, "%s/", e->kind->name);
    add_replaced(e, &to, name, strlen(name), NULL);
    fileset_add(e->c, e->out, text_string(&to), t.data, t.length);
}

static void add_templates(Export *e, const char *folder, const char *inside) {
    const char **name;
    int count = folder_list(e->c, folder, &name);
    for (int i = 0; i < count; i++) {
        const char *path = path_join(e->c, folder, name[i]);
        const char *below = c_format(e->c, "%s%s", inside, name[i]);
        if (path_is_folder(path))
            add_templates(e, path, c_format(e->c, "%s/", below));
        else
            add_template(e, path, below);
    }
}

void export_files(C *c, const Graph *g, const Options *o, FileSet *out) {
    const FileSet emitted = *out; /* what the kinds take up: not one another's files */
    for (int k = 0; k < o->export_count; k++) {
        Export e = {.c = c, .kind = &export_table[o->export_kind[k]], .out = out};
        fill_words(&e, g, o);
        place_files(&e, &emitted);
        add_templates(&e, path_join(c, share_folder(c), c_format(c, "exports/%s", e.kind->name)),
                      "");
        for (int i = 0; i < e.model.count; i++)
            fileset_add(c, out, c_format(c, "%s/%s", e.kind->name, e.model.file[i].name),
                        e.model.file[i].data, e.model.file[i].bytes);
    }
}
