/* A graph as a file: a zip of graph.txt and the arrays that the text names, or the text with the
 * arrays behind it or in an .npz of the same stem beside it. Equal graphs give equal bytes. */
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

static Array *patches_array(C *c, const Patches *p) {
    int64_t dim[] = {p->rows, p->groups, p->depth};
    Array *a = NEW(c, Array);
    *a = (Array){.dtype = DT_F32, .rank = 3, .dim = {dim[0], dim[1], dim[2]}, .data = p->data};
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
        if (has_patches(n))
            collect_one(c, list, capacity, patches_member(c, prefix, n),
                        patches_array(c, n->patches));
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

/* ---- arrays behind the text ---------------------------------------------------------------- */

static void print_array(Text *t, const NamedArray *item) {
    static const char digit[] = "0123456789abcdef";
    const Array *a = item->array;
    const unsigned char *byte = a->data;
    size_t bytes = (size_t)array_bytes(a);
    char *hex = c_alloc(t->c, 2 * bytes + 1);
    for (size_t i = 0; i < bytes; i++) {
        hex[2 * i] = digit[byte[i] >> 4];
        hex[2 * i + 1] = digit[byte[i] & 15];
    }
    text_add(t, "array ");
    text_add_quoted(t, item->name);
    text_add(t, " %s%s ", dtype_name(a->dtype), shape_text(t->c, a->rank, a->dim));
    text_add_bytes(t, hex, 2 * bytes);
    text_add(t, "\n");
}

const char *graph_print_whole(Graph *g) {
    ArrayList list = {0};
    int capacity = 0;
    Text t = text_new(g->c);
    collect(g->c, g, "", &list, &capacity);
    text_add(&t, "%s", graph_print(g));
    for (int i = 0; i < list.count; i++)
        print_array(&t, &list.item[i]);
    return text_string(&t);
}

static int hex_value(char ch) {
    return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* The digits that stand there bound the size. */
static Array *read_array(Scanner *s) {
    int64_t dim[MAX_RANK];
    int rank = 0;
    DType dtype = dtype_from_name(scan_name(s));
    scan_need(s, '[');
    while (!scan_char(s, ']')) {
        if (rank == MAX_RANK)
            scan_fail(s, "at most %d dimensions are taken", MAX_RANK);
        if (rank > 0)
            scan_need(s, ',');
        dim[rank++] = scan_int(s, 0, (int64_t)1 << 40);
    }
    scan_space(s);
    int64_t digits = (int64_t)strcspn(s->p, "\n"), count = dims_count(rank, dim);
    if (dtype == DT_NONE || count > digits || count * dtype_size(dtype) * 2 != digits)
        scan_fail(s, "%lld hex digits do not fit the type", (long long)digits);
    Array *a = array_new(s->c, dtype, rank, dim);
    for (int64_t i = 0; i < digits; i += 2) {
        int high = hex_value(s->p[i]), low = hex_value(s->p[i + 1]);
        if (high < 0 || low < 0)
            scan_fail(s, "hex digits are needed");
        ((unsigned char *)a->data)[i / 2] = (unsigned char)(16 * high + low);
    }
    s->p += digits;
    return a;
}

/* Cuts them off the text. */
static ArrayList arrays_behind(C *c, const char *path, char *text) {
    ArrayList list = {0};
    int capacity = 0;
    char *behind = strstr(text, "\narray ");
    if (!behind)
        return list;
    Scanner s = {.c = c, .file = path, .text = text, .p = behind};
    while (!scan_end(&s)) {
        if (!scan_word(&s, "array"))
            scan_expected(&s, "'array'");
        const char *name = scan_string(&s);
        collect_one(c, &list, &capacity, name, read_array(&s));
    }
    *behind = 0;
    return list;
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
    if (file_begins(c, path, "PK"))
        return load_zip(c, path);
    if (file_size(c, path, "a file") > TEXT_BYTES_LIMIT)
        fatal(c, DIAG_INPUT, &(Loc){.file = path}, "%zu bytes; a graph's text has at most %zu",
              file_size(c, path, "a file"), TEXT_BYTES_LIMIT);
    size_t bytes;
    const char *data = file_read(c, path, &bytes);
    char *text = c_strndup(c, data, bytes);
    ArrayList list = arrays_behind(c, path, text);
    if (list.count == 0)
        list = arrays_beside(c, path);
    return graph_parse(c, path, text, &list);
}
