/* A graph as a file: a zip of graph.txt and the arrays that the text names, or the text alone with
 * an .npz of the same stem beside it. Equal graphs give equal bytes. */
#include <string.h>
#include <zip.h>

#include "graph/text.h"

#define TEXT_MEMBER "graph.txt"
#define TEXT_BYTES_LIMIT ((size_t)256 << 20)

static void collect_one(C *c, ArrayList *list, int *capacity, const char *name, Array *a) {
    list->item = c_grow(c, list->item, list->count, capacity, list->count + 1, sizeof *list->item);
    list->item[list->count++] = (NamedArray){name, a};
}

static Array *histogram_array(C *c, const Observed *o) {
    Array *a = NEW(c, Array);
    *a = (Array){.dtype = DT_I64, .rank = 1, .dim = {o->bin_count}, .data = o->bin};
    return a;
}

static void collect(C *c, const Graph *g, const char *prefix, ArrayList *list, int *capacity) {
    const char *mark = values_marked(c, g);
    for (int i = 0; i < g->value_count; i++) {
        const Value *v = g->value[i];
        if (!mark[i])
            continue;
        if (value_data(v) && !constant_is_inline(v))
            collect_one(c, list, capacity, constant_member(c, prefix, v), value_data(v));
        if (v->observed && v->observed->bin_count > 0 && v->observed->bin)
            collect_one(c, list, capacity, histogram_member(c, prefix, v),
                        histogram_array(c, v->observed));
    }
    for (const Node *n = g->first; n; n = n->next)
        if (n->body)
            collect(c, n->body, c_format(c, "%s%s/", prefix, n->name), list, capacity);
}

/* The text goes into the archive that npz_write made; libzip writes aside and renames. */
static void add_text(C *c, const char *path, const char *text) {
    const zip_uint16_t midnight = 0, new_year_1980 = 1 << 5 | 1;
    Loc loc = {.file = path};
    int code = 0;
    zip_t *z = zip_open(path, ZIP_CREATE, &code);
    if (!z)
        fatal(c, DIAG_INPUT, &loc, "cannot write the file");
    zip_source_t *source = zip_source_buffer(z, text, strlen(text), 0);
    zip_int64_t index = source ? zip_file_add(z, TEXT_MEMBER, source, 0) : -1;
    if (source && index < 0)
        zip_source_free(source);
    if (index >= 0 &&
        zip_file_set_dostime(z, (zip_uint64_t)index, midnight, new_year_1980, 0) == 0 &&
        zip_close(z) == 0)
        return;
    const char *problem = c_strdup(c, zip_strerror(z));
    zip_discard(z);
    fatal(c, DIAG_INPUT, &loc, "cannot write the file: %s", problem);
}

void graph_save(Graph *g, const char *path) {
    ArrayList list = {0};
    int capacity = 0;
    collect(g->c, g, "", &list, &capacity);
    npz_write(g->c, path, &list);
    add_text(g->c, path, graph_print(g));
}

static Graph *load_zip(C *c, const char *path) {
    Zip *z = zip_open_file(c, path);
    int index = zip_find(z, TEXT_MEMBER);
    if (index < 0)
        fatal(c, DIAG_INPUT, &(Loc){.file = path}, "no " TEXT_MEMBER " in the archive");
    size_t bytes;
    const char *text = zip_member(c, z, index, TEXT_BYTES_LIMIT, &bytes);
    zip_close_file(z);
    ArrayList list = npz_read(c, path);
    return graph_parse(c, path, c_strndup(c, text, bytes), &list);
}

/* "dir/net.txt" has its arrays in "dir/net.npz", if it needs any. */
static ArrayList arrays_beside(C *c, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    size_t length = dot ? (size_t)(dot - path) : strlen(path);
    const char *npz = c_format(c, "%.*s.npz", (int)length, path);
    FILE *f = fopen(npz, "rb");
    if (!f)
        return (ArrayList){0};
    fclose(f);
    return npz_read(c, npz);
}

Graph *graph_load(C *c, const char *path) {
    size_t bytes;
    const char *data = file_read(c, path, &bytes);
    if (bytes >= 2 && memcmp(data, "PK", 2) == 0)
        return load_zip(c, path);
    ArrayList list = arrays_beside(c, path);
    return graph_parse(c, path, c_strndup(c, data, bytes), &list);
}
