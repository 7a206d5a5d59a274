/* --memory: the chip's memories and what must lie where, as JSON. Every fault in the file is told
 * at once, with the memory that has it. */
#include "api/session.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

typedef struct {
    C *c;
    Loc loc;
    Options *options;
} MemoryFile;

/* Letters, digits and `others`. */
static bool is_word(const char *s, const char *others) {
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr(others, *s))
            return false;
    return true;
}

static void wrong(const MemoryFile *f, const char *memory, const char *key, const char *needed) {
    diag_error(f->c, DIAG_INPUT, &f->loc, "memory %s: \"%s\" must be %s", memory, key, needed);
}

/* A text of letters, digits and `others`; NULL if there is none. */
static const char *word(const MemoryFile *f, const json_t *o, const char *memory, const char *key,
                        const char *others) {
    const json_t *value = json_object_get(o, key);
    const char *s = json_string_value(value);
    if (!value)
        return NULL;
    if (s && *s && is_word(s, others))
        return c_strdup(f->c, s);
    wrong(f, memory, key, c_format(f->c, "letters, digits and %s", others));
    return NULL;
}

/* ---- names in the emitted C ---------------------------------------------------------------- */

/* "input0" of "input": the emitted C counts such. */
static bool is_counted(const char *name, const char *word) {
    size_t length = strlen(word);
    return strncasecmp(name, word, length) == 0 && isdigit((unsigned char)name[length]);
}

/* What the emitted C has for other things: in its functions, or behind <name>_ and <NAME>_. */
static bool is_emitted(const char *name) {
    static const char *const own[] = {
        "arena", "bind_inputs", "bind_outputs",  "call",    "call_info",  "calls", "constants",
        "h",     "init",        "inputs",        "outputs", "own_memory", "reset", "run",
        "self",  "setup",       "source_sha256", "state",   "step",       "t",     "trace"};
    static const char *const counted[] = {"input", "output", "strip", "initial"};
    static const char *const ends[] = {"_bytes",   "_count", "_offset", "_scale",
                                       "_section", "_size",  "weights"};
    for (size_t i = 0; i < COUNT_OF(own); i++)
        if (strcasecmp(own[i], name) == 0)
            return true;
    for (size_t i = 0; i < COUNT_OF(counted); i++)
        if (is_counted(name, counted[i]))
            return true;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        size_t length = strlen(name), end = strlen(ends[i]);
        if (length > end && strcasecmp(name + length - end, ends[i]) == 0)
            return true;
    }
    return false;
}

/* Why an array of the program's cannot have this name; NULL: it can. */
static const char *symbol_fault(const char *symbol) {
    return !word_is_identifier(symbol)                      ? "no name of a C array"
           : word_is_reserved(symbol) || is_emitted(symbol) ? "taken in C, C++ or the emitted code"
                                                            : NULL;
}

static const char *symbol(const MemoryFile *f, const json_t *o, const char *memory) {
    const char *s = word(f, o, memory, "symbol", "_"), *fault = s ? symbol_fault(s) : NULL;
    if (fault)
        diag_error(f->c, DIAG_INPUT, &f->loc, "memory %s: \"symbol\" %s is %s", memory, s, fault);
    for (int i = 0; s && i < f->options->memory_count; i++)
        if (text_equal(f->options->memory[i].symbol, s))
            diag_error(f->c, DIAG_INPUT, &f->loc,
                       "memory %s: \"symbol\" %s is memory %s already: their buffers would overlap",
                       memory, s, f->options->memory[i].name);
    return s;
}

static int64_t bytes_of(const MemoryFile *f, const json_t *o, const char *memory) {
    const json_t *value = json_object_get(o, "bytes");
    int64_t n = json_is_integer(value)  ? json_integer_value(value)
                : json_is_string(value) ? text_bytes(json_string_value(value))
                                        : -1;
    if (value && n <= 0)
        wrong(f, memory, "bytes", "a number above 0, or a text such as \"128K\"");
    return n > 0 ? n : 0;
}

static void check_keys(const MemoryFile *f, const json_t *o, const char *what,
                       const char *const *known, int count) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)o, key, value) {
        int i = 0;
        while (i < count && strcmp(known[i], key) != 0)
            i++;
        if (i < count)
            continue;
        const char *near = text_nearest(key, known, count);
        diag_error(f->c, DIAG_INPUT, &f->loc, "%s: unknown key \"%s\"%s%s%s", what, key,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
}

/* Of equal letters and digits: what is left of names in macros and types. */
static bool names_merge(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, "_");
        b += strspn(b, "_");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

/* Why the emitted C cannot call a further memory so; NULL: it can. */
static const char *memory_name_fault(const Options *o, const char *name) {
    if (word_is_reserved(name) || is_emitted(name))
        return "the name is taken in C, C++ or the emitted code";
    for (int i = 0; i < o->memory_count; i++)
        if (strcmp(o->memory[i].name, name) == 0)
            return "the name is taken";
    for (int i = 0; i < o->memory_count; i++)
        if (names_merge(o->memory[i].name, name))
            return "another's name differs in nothing but case and _";
    return NULL;
}

static void take_memory(const MemoryFile *f, const json_t *o, Memory *m) {
    static const char *const keys[] = {"name",        "bytes",     "section", "constants",
                                       "wait_states", "read_only", "symbol",  "load"};
    const char *name = json_string_value(json_object_get(o, "name"));
    if (!name || !word_is_identifier(name)) {
        diag_error(f->c, DIAG_INPUT, &f->loc, "a memory needs a \"name\" of letters, digits and _");
        name = "?";
    }
    const char *fault = memory_name_fault(f->options, name);
    if (fault)
        diag_error(f->c, DIAG_INPUT, &f->loc, "memory %s: %s", name, fault);
    check_keys(f, o, c_format(f->c, "memory %s", name), keys, COUNT_OF(keys));
    const json_t *wait = json_object_get(o, "wait_states"), *only = json_object_get(o, "read_only");
    if (wait &&
        (!json_is_integer(wait) || json_integer_value(wait) < 0 || json_integer_value(wait) > 1000))
        wrong(f, name, "wait_states", "a number of 0 to 1000");
    if (only && !json_is_boolean(only))
        wrong(f, name, "read_only", "true or false");
    *m = (Memory){.name = c_strdup(f->c, name),
                  .bytes = bytes_of(f, o, name),
                  .section = word(f, o, name, "section", "._$"),
                  .constants = word(f, o, name, "constants", "._$"),
                  .symbol = symbol(f, o, name),
                  .load = word(f, o, name, "load", "_"),
                  .wait_states = (int)json_integer_value(wait),
                  .read_only = json_is_true(only)};
    if (m->read_only && (m->symbol || m->constants))
        diag_error(f->c, DIAG_INPUT, &f->loc,
                   "memory %s is read-only: its constants go to its \"section\", and it has no "
                   "\"%s\"",
                   name, m->symbol ? "symbol" : "constants");
    if (m->section && text_equal(m->section, m->constants))
        diag_error(f->c, DIAG_INPUT, &f->loc,
                   "memory %s: no compiler puts what is written and constants into one section, %s",
                   name, m->section);
}

static int memory_named(const Options *o, const char *name) {
    for (int i = 0; name && i < o->memory_count; i++)
        if (strcmp(o->memory[i].name, name) == 0)
            return i;
    return -1;
}

static void unknown_memory(C *c, const Options *o, DiagKind kind, const Loc *loc, const char *what,
                           const char *name) {
    const char **names = NEW_ARRAY(c, const char *, o->memory_count + 1);
    for (int i = 0; i < o->memory_count; i++)
        names[i] = o->memory[i].name;
    const char *near = text_nearest(name, names, o->memory_count);
    diag_error(c, kind, loc, "%s: no memory is called %s%s%s%s", what, name,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Images of constants lie in another memory of the file. */
static void check_loads(const MemoryFile *f) {
    for (int i = 0; i < f->options->memory_count; i++) {
        const Memory *m = &f->options->memory[i];
        const char *what = c_format(f->c, "memory %s: \"load\"", m->name);
        if (m->load && memory_named(f->options, m->load) < 0)
            unknown_memory(f->c, f->options, DIAG_INPUT, &f->loc, what, m->load);
        else if (text_equal(m->load, m->name))
            diag_error(f->c, DIAG_INPUT, &f->loc, "%s must be another memory", what);
    }
}

static void take_placements(const MemoryFile *f, const json_t *place) {
    Placement *list = NEW_ARRAY(f->c, Placement, json_object_size(place) + 1);
    const char *pattern;
    json_t *value;
    if (place && !json_is_object(place))
        diag_error(f->c, DIAG_INPUT, &f->loc,
                   "\"place\" must be an object: {\"GLOB\": \"MEMORY\"}");
    json_object_foreach((json_t *)place, pattern, value) {
        const char *name = json_string_value(value);
        int memory = memory_named(f->options, name);
        if (memory < 0)
            unknown_memory(f->c, f->options, DIAG_INPUT, &f->loc,
                           c_format(f->c, "place %s", pattern), name ? name : "?");
        list[f->options->placement_count++] = (Placement){c_strdup(f->c, pattern), memory};
    }
    f->options->placement = list;
}

static void take_file(const MemoryFile *f, const json_t *root) {
    static const char *const keys[] = {"memories", "place"};
    const json_t *memories = json_object_get(root, "memories");
    int count = (int)json_array_size(memories);
    if (count == 0)
        diag_error(f->c, DIAG_INPUT, &f->loc, "a list \"memories\" is needed");
    if (count > 2 * CTN_REGIONS) /* far more than references reach, whatever they take */
        fatal(f->c, DIAG_INPUT, &f->loc, "too many memories: %d", count);
    check_keys(f, root, "the file", keys, COUNT_OF(keys));
    Memory *memory = NEW_ARRAY(f->c, Memory, count + 1);
    f->options->memory = memory;
    for (int i = 0; i < count; i++) {
        take_memory(f, json_array_get(memories, (size_t)i), &memory[i]);
        f->options->memory_count++;
    }
    check_loads(f);
    if (regions_needed(f->options) > CTN_REGIONS)
        diag_error(f->c, DIAG_INPUT, &f->loc,
                   "too many memories: at most %d besides one that is written and one of constants",
                   CTN_REGIONS - CTN_MORE);
    take_placements(f, json_object_get(root, "place"));
}

/* "dtcm=64K" of --ram and --flash. */
static void take_limit(C *c, Options *o, const char *text) {
    const char *equals = strchr(text, '=');
    const char *name = c_strndup(c, text, equals ? (size_t)(equals - text) : 0);
    int64_t bytes = equals ? text_bytes(equals + 1) : -1;
    int memory = memory_named(o, name);
    if (bytes <= 0)
        diag_error(c, DIAG_USAGE, NULL, "\"%s\": MEMORY=BYTES is needed", text);
    else if (memory < 0)
        unknown_memory(c, o, DIAG_USAGE, NULL, c_format(c, "\"%s\"", text), name);
    else
        ((Memory *)o->memory)[memory].bytes = bytes;
}

void memory_options(C *c, Session *s) {
    const CortenOptions *o = s->o;
    MemoryFile f = {c, {.file = o->memory_file ? o->memory_file : "memory"}, &s->compile};
    if (o->memory_file || o->memory_text) {
        size_t bytes;
        const char *text =
            o->memory_file ? file_read(c, o->memory_file, &bytes) : c_strdup(c, o->memory_text);
        json_error_t error;
        json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        f.loc.line = root ? 0 : error.line;
        if (!root)
            fatal(c, DIAG_INPUT, &f.loc, "not JSON: %s", error.text);
        c_defer(c, json_release, root);
        take_file(&f, root);
        s->compile.memory_text = text;
    }
    for (int i = 0; i < o->limits_count; i++)
        take_limit(c, &s->compile, o->limits[i]);
    s->compile.limit_count = o->limits_count;
    s->compile.limit = o->limits;
    s->compile.arena = o->arena;
    const char *fault = o->arena ? symbol_fault(o->arena) : NULL;
    if (fault)
        diag_error(c, DIAG_USAGE, NULL,
                   "--arena \"%s\" is %s: the name of a C array of yours is needed", o->arena,
                   fault);
    if (o->arena && s->compile.memory_count > 0)
        diag_error(c, DIAG_USAGE, NULL,
                   "--arena does not go with --memory: there each memory can have its \"symbol\"");
}

/* "digits_silu_..." and "DIGITS_SILU_..." are the model's. */
static bool is_models(const char *symbol, const char *model) {
    size_t length = strlen(model);
    return strncasecmp(symbol, model, length) == 0 && symbol[length] == '_';
}

void memory_symbols_check(C *c, const Session *s, const char *model) {
    const Options *o = &s->compile;
    if (o->arena && is_models(o->arena, model))
        diag_error(c, DIAG_USAGE, NULL, "--arena \"%s\": names that begin with %s_ are the model's",
                   o->arena, model);
    for (int i = 0; i < o->memory_count; i++)
        if (o->memory[i].symbol && is_models(o->memory[i].symbol, model))
            diag_error(c, DIAG_INPUT, &(Loc){.file = s->o->memory_file},
                       "memory %s: \"symbol\" %s: names that begin with %s_ are the model's",
                       o->memory[i].name, o->memory[i].symbol, model);
}
