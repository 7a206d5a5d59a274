/* The zip of an archive and the JSON in it. Nothing here trusts the file: member sizes are bounded
 * before they are read, and every access to the JSON names what it needs and what it found. */
#include "import/pt2.h"

#include <string.h>

#define JSON_LIMIT ((size_t)32 << 20)
#define JSON_VALUE_LIMIT 2000000 /* each costs some 50 bytes; a large model has 200,000 */

Loc archive_place(const Pt2 *p) {
    return (Loc){.file = p->path, .member = p->member};
}

void archive_malformed(Pt2 *p, const char *format, ...) {
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    Loc loc = archive_place(p);
    fatal(p->c, DIAG_INPUT, &loc, "%s%s%s", p->what ? p->what : "", p->what ? ": " : "", message);
}

/* The root folder is whatever stands before models/model.json. */
static const char *find_root(Pt2 *p) {
    static const char model[] = "models/model.json";
    for (int i = 0; i < zip_count(p->zip); i++) {
        const char *name = zip_name(p->zip, i);
        if (name && text_ends_with(name, model)) {
            size_t length = strlen(name) - strlen(model);
            if (length == 0 || name[length - 1] == '/') {
                return c_strndup(p->c, name, length);
            }
        }
    }
    Loc loc = {.file = p->path};
    fatal(p->c, DIAG_INPUT, &loc,
          "no models/model.json in the archive: a file written by torch.export.save is needed");
}

/* A big-endian archive would be read wrong in silence. */
static void check_byte_order(Pt2 *p) {
    int index = zip_find(p->zip, c_format(p->c, "%sbyteorder", p->root));
    if (index < 0) {
        return;
    }
    size_t bytes = 0;
    const char *order = zip_member(p->c, p->zip, index, 64, &bytes);
    if (bytes != 6 || memcmp(order, "little", 6) != 0) {
        p->member = "byteorder";
        archive_malformed(p, "only little-endian archives can be read");
    }
}

static void check_version(Pt2 *p) {
    p->what = "schema_version";
    json_t *version = json_object_get(p->model, "schema_version");
    if (!version) {
        return;
    }
    int64_t major = get_int(p, version, "major");
    if (major != 8) {
        archive_malformed(p, "major version %lld is not known: 8 is needed (torch 2.6 or newer)",
                          (long long)major);
    }
    p->what = NULL;
}

void archive_open(Pt2 *p) {
    p->zip = zip_open_bytes(p->c, p->path, p->data, p->bytes);
    p->root = find_root(p);
    check_byte_order(p);
    p->weights = archive_json(p, "data/weights/model_weights_config.json", false);
    p->constants = archive_json(p, "data/constants/model_constants_config.json", false);
    p->model = archive_json(p, "models/model.json", true);
    check_version(p);
}

void archive_close(Pt2 *p) {
    json_decref(p->model);
    json_decref(p->weights);
    json_decref(p->constants);
    json_decref(p->used);
    json_decref(p->node_names);
    json_decref(p->makers);
    json_decref(p->unknown);
    if (p->zip) {
        zip_close_file(p->zip);
    }
}

/* Parsing makes many bytes out of one: what would be too many is refused before. */
static void check_value_count(Pt2 *p, const char *text, size_t bytes) {
    size_t commas = 0;
    for (size_t i = 0; i < bytes; i++)
        commas += text[i] == ',';
    if (commas >= JSON_VALUE_LIMIT) {
        archive_malformed(p, "%zu values of JSON; at most %d are read", commas + 1,
                          JSON_VALUE_LIMIT);
    }
}

json_t *archive_json(Pt2 *p, const char *name, bool needed) {
    p->member = c_strdup(p->c, name);
    int index = zip_find(p->zip, c_format(p->c, "%s%s", p->root, name));
    if (index < 0) {
        if (needed) {
            archive_malformed(p, "the member is missing");
        }
        return NULL;
    }
    size_t bytes = 0;
    const char *text = zip_member(p->c, p->zip, index, JSON_LIMIT, &bytes);
    check_value_count(p, text, bytes);
    json_error_t error;
    json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        Loc loc = archive_place(p);
        loc.byte = error.position;
        fatal(p->c, DIAG_INPUT, &loc, "malformed JSON: %s", error.text);
    }
    if (!json_is_object(json)) {
        json_decref(json);
        archive_malformed(p, "an object is needed at the top");
    }
    return json;
}

const char *json_kind(const json_t *j) {
    if (!j) {
        return "nothing";
    }
    static const char *const kind[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "a list", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a real",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    return kind[json_typeof(j)];
}

static json_t *get_typed(Pt2 *p, const json_t *parent, const char *key, json_type type,
                         const char *needed) {
    json_t *j = json_is_object(parent) ? json_object_get(parent, key) : NULL;
    if (!j || json_typeof(j) != type) {
        archive_malformed(p, "'%s' must be %s, found %s", key, needed, json_kind(j));
    }
    return j;
}

json_t *get_object(Pt2 *p, const json_t *parent, const char *key) {
    return get_typed(p, parent, key, JSON_OBJECT, "an object");
}

json_t *get_array(Pt2 *p, const json_t *parent, const char *key) {
    return get_typed(p, parent, key, JSON_ARRAY, "a list");
}

const char *get_string(Pt2 *p, const json_t *parent, const char *key) {
    return json_string_value(get_typed(p, parent, key, JSON_STRING, "a string"));
}

int64_t get_int(Pt2 *p, const json_t *parent, const char *key) {
    return json_integer_value(get_typed(p, parent, key, JSON_INTEGER, "an integer"));
}

const char *get_union(Pt2 *p, const json_t *u, json_t **content) {
    if (!json_is_object(u) || json_object_size(u) != 1) {
        archive_malformed(p, "an object with one key (as_tensor, as_int ...) is needed, found %s",
                          json_is_object(u) ? "another number of keys" : json_kind(u));
    }
    void *iter = json_object_iter((json_t *)u);
    *content = json_object_iter_value(iter);
    return json_object_iter_key(iter);
}
