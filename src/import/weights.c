/* Data of parameters, buffers and constants. A member of the archive is a storage: tensors look
 * into it through sizes, strides and an offset, and several may share one. Every access is checked
 * against the member's real length before it happens. */
#include "import/pt2.h"

#include <string.h>

#define TENSOR_LIMIT ((int64_t)1 << 31) /* bytes: far above any microcontroller's flash */

static const Storage *storage_get(Pt2 *p, const char *member) {
    for (int i = 0; i < p->storage_count; i++) {
        if (text_equal(p->storage[i].member, member)) {
            return &p->storage[i];
        }
    }
    int index = zip_find(p->zip, c_format(p->c, "%s%s", p->root, member));
    if (index < 0) {
        return NULL;
    }
    p->storage = c_grow(p->c, p->storage, p->storage_count, &p->storage_capacity,
                        p->storage_count + 1, sizeof *p->storage);
    Storage *s = &p->storage[p->storage_count++];
    s->member = member;
    s->data = zip_member(p->c, p->zip, index, (size_t)TENSOR_LIMIT, &s->bytes);
    return s;
}

static bool is_contiguous(const Meta *m) {
    int64_t expected = 1;
    for (int i = m->type.rank - 1; i >= 0; i--) {
        if (m->type.dim[i] != 1 && m->stride[i] != expected) {
            return false;
        }
        expected *= m->type.dim[i];
    }
    return true;
}

/* Copies element by element in logical order; `from` is the whole storage as a flat array. */
static void gather(Array *to, const Array *from, const Meta *m) {
    int64_t count = array_count(to), place = m->offset, index[MAX_RANK] = {0};
    int size = dtype_size(to->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (to->dtype == from->dtype) {
            memcpy((char *)to->data + i * size, (const char *)from->data + place * size,
                   (size_t)size);
        } else {
            array_set(to, i, array_get(from, place));
        }
        for (int d = m->type.rank - 1; d >= 0; d--) {
            place += m->stride[d];
            if (++index[d] < m->type.dim[d]) {
                break;
            }
            place -= m->stride[d] * m->type.dim[d];
            index[d] = 0;
        }
    }
}

/* The bytes behind a meta whose storage holds `bytes` bytes: false when it reaches outside. */
static bool reaches_outside(const Meta *m, size_t bytes, int64_t *needed) {
    int64_t last = m->offset;
    for (int i = 0; i < m->type.rank; i++) {
        last += (m->type.dim[i] - 1) * m->stride[i]; /* checked by meta_read */
    }
    *needed = (last + 1) * dtype_size(m->stored);
    return *needed < 0 || (uint64_t)*needed > bytes;
}

static Array *array_of(Pt2 *p, const Storage *s, const Meta *m) {
    int64_t offset = m->offset * dtype_size(m->stored);
    if (m->stored == m->type.dtype && m->stored != DT_BOOL && is_contiguous(m) &&
        offset % 16 == 0) {
        Array *a = NEW(p->c, Array);
        a->dtype = m->stored;
        a->rank = m->type.rank;
        memcpy(a->dim, m->type.dim, sizeof a->dim);
        a->data = (char *)s->data + offset;
        return a;
    }
    Array flat = {.dtype = m->stored, .rank = 1, .data = s->data};
    flat.dim[0] = (int64_t)(s->bytes / (size_t)dtype_size(m->stored));
    Array *a = array_new(p->c, m->type.dtype, m->type.rank, m->type.dim);
    gather(a, &flat, m);
    if (a->dtype == DT_BOOL) { /* any byte may stand in the file; one bit is meant */
        uint8_t *bit = a->data;
        for (int64_t i = 0; i < array_count(a); i++) {
            bit[i] = bit[i] != 0;
        }
    }
    return a;
}

/* Finds the entry of a name: persistent ones lie in weights, the rest in constants. */
static const json_t *find_entry(Pt2 *p, const char *fqn, Role role, const char **folder) {
    bool weights_first = role != ROLE_CONSTANT;
    for (int i = 0; i < 2; i++) {
        bool weights = weights_first == (i == 0);
        const json_t *config = weights ? p->weights : p->constants;
        p->member = weights ? "data/weights/model_weights_config.json"
                            : "data/constants/model_constants_config.json";
        p->what = NULL;
        const json_t *entry = config ? json_object_get(get_object(p, config, "config"), fqn) : NULL;
        if (entry) {
            *folder = weights ? "data/weights/" : "data/constants/";
            return entry;
        }
    }
    return NULL;
}

/* The description beside the data must agree with the one in the graph. */
static bool metas_agree(Pt2 *p, const Loc *loc, const char *what, const Meta *data,
                        const Meta *graph) {
    if (data->symbol || !type_equal(&data->type, &graph->type) || data->stored != graph->stored) {
        diag_error(p->c, DIAG_INPUT, loc, "%s is %s%s, but the graph needs %s%s", what,
                   dtype_name(data->stored), shape_text(p->c, data->type.rank, data->type.dim),
                   dtype_name(graph->stored), shape_text(p->c, graph->type.rank, graph->type.dim));
        return false;
    }
    return true;
}

Array *weight_load(Pt2 *p, const char *fqn, Role role, const Meta *graph_meta) {
    const char *folder;
    const json_t *entry = find_entry(p, fqn, role, &folder);
    Loc loc = {.file = p->path};
    if (!entry) {
        diag_error(p->c, DIAG_INPUT, &loc, "no data for '%s' in the archive", fqn);
        return NULL;
    }
    p->what = c_format(p->c, "config['%s']", fqn);
    const char *member = c_format(p->c, "%s%s", folder, get_string(p, entry, "path_name"));
    loc.member = member;
    if (json_is_true(json_object_get(entry, "use_pickle"))) {
        diag_error(p->c, DIAG_MODEL, &loc,
                   "'%s' is a pickled object: only plain tensors are supported", fqn);
        return NULL;
    }
    Meta meta;
    const char *what = c_format(p->c, "'%s'", fqn);
    if (!meta_read(p, get_object(p, entry, "tensor_meta"), &loc, what, &meta) ||
        !metas_agree(p, &loc, what, &meta, graph_meta)) {
        return NULL;
    }
    int64_t count = type_count(&meta.type), needed;
    if (count == 0) {
        return array_new(p->c, meta.type.dtype, meta.type.rank, meta.type.dim);
    }
    if (count > TENSOR_LIMIT / 8) {
        diag_error(p->c, DIAG_INPUT, &loc, "%s: %lld elements are too many", what,
                   (long long)count);
        return NULL;
    }
    const Storage *storage = storage_get(p, member);
    if (!storage) {
        diag_error(p->c, DIAG_INPUT, &loc, "%s: the member is missing", what);
        return NULL;
    }
    if (reaches_outside(&meta, storage->bytes, &needed)) {
        diag_error(p->c, DIAG_INPUT, &loc, "%s needs %lld bytes, the member has %zu", what,
                   (long long)needed, storage->bytes);
        return NULL;
    }
    return array_of(p, storage, &meta);
}
