/* Descriptions of tensors: dtype, sizes, strides. Sizes and strides are non-negative and their
 * products fit in int64 once meta_read has said true; nothing later has to check them again. */
#include "import/pt2.h"

#include <string.h>

DType dtype_meant(DType stored) {
    return dtype_is_float(stored) ? DT_F32 : stored;
}

static const char *foreign_dtype(int64_t code) {
    static const struct {
        int code;
        const char *name;
    } names[] = {{9, "complex32"},        {10, "complex64"},       {11, "complex128"},
                 {28, "uint16"},          {29, "float8_e4m3fn"},   {30, "float8_e5m2"},
                 {31, "float8_e4m3fnuz"}, {32, "float8_e5m2fnuz"}, {33, "float8_e8m0fnu"},
                 {34, "uint32"},          {35, "uint64"}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return NULL;
}

bool dtype_is_foreign(int64_t code) {
    return foreign_dtype(code) != NULL;
}

bool dtype_read(Pt2 *p, int64_t code, const Loc *loc, const char *what, DType *stored) {
    if ((code >= DT_U8 && code <= DT_F64) || code == DT_BOOL || code == DT_BF16) {
        *stored = (DType)code;
        return true;
    }
    if (foreign_dtype(code)) {
        diag_error(p->c, DIAG_MODEL, loc, "%s: dtype %s is not supported", what,
                   foreign_dtype(code));
    } else {
        diag_error(p->c, DIAG_INPUT, loc, "%s: dtype code %lld is not known", what,
                   (long long)code);
    }
    return false;
}

/* "s77" of "Symbol('s77', positive=True, integer=True)". */
static const char *symbol_name(C *c, const char *expression) {
    const char *quote = strchr(expression, '\'');
    const char *end = quote ? strchr(quote + 1, '\'') : NULL;
    return end ? c_strndup(c, quote + 1, (size_t)(end - quote - 1)) : expression;
}

/* A list of {"as_int": n} or {"as_expr": {...}}; the count, or -1 when something was recorded. */
static int read_sizes(Pt2 *p, const json_t *list, const char *key, const Loc *loc, const char *what,
                      int64_t *out, Meta *m) {
    size_t count = json_array_size(list);
    if (count > MAX_RANK) {
        diag_error(p->c, DIAG_MODEL, loc, "%s: %zu dimensions, at most %d are supported", what,
                   count, MAX_RANK);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        json_t *content;
        const char *kind = get_union(p, json_array_get(list, i), &content);
        if (text_equal(kind, "as_expr")) {
            if (!m->symbol) {
                m->symbol = symbol_name(p->c, c_strdup(p->c, get_string(p, content, "expr_str")));
                m->symbol_dim = (int)i;
            }
            out[i] = 1;
            continue;
        }
        if (!text_equal(kind, "as_int") || !json_is_integer(content)) {
            archive_malformed(p, "%s: '%s' must hold integers, found %s", what, key,
                              json_kind(content));
        }
        out[i] = json_integer_value(content);
        if (out[i] < 0) {
            diag_error(p->c, DIAG_INPUT, loc, "%s: negative number %lld in '%s'", what,
                       (long long)out[i], key);
            return -1;
        }
    }
    return (int)count;
}

/* Neither the element count times the largest element nor the last element's place overflows. */
static bool sizes_fit(const Meta *m) {
    int64_t count = 1, last = m->offset, bytes;
    bool empty = false;
    for (int i = 0; i < m->type.rank; i++) {
        empty |= m->type.dim[i] == 0;
    }
    for (int i = 0; i < m->type.rank; i++) {
        int64_t step;
        if (!empty && (__builtin_mul_overflow(m->type.dim[i] - 1, m->stride[i], &step) ||
                       __builtin_add_overflow(last, step, &last))) {
            return false;
        }
        if (m->type.dim[i] != 0 && __builtin_mul_overflow(count, m->type.dim[i], &count)) {
            return false;
        }
    }
    return !__builtin_mul_overflow(count, (int64_t)8, &bytes) && last < INT64_MAX / 8;
}

bool meta_read(Pt2 *p, const json_t *json, const Loc *loc, const char *what, Meta *out) {
    *out = (Meta){.symbol_dim = -1};
    const json_t *sizes = get_array(p, json, "sizes");
    const json_t *strides = get_array(p, json, "strides");
    if (!dtype_read(p, get_int(p, json, "dtype"), loc, what, &out->stored)) {
        return false;
    }
    out->type.dtype = dtype_meant(out->stored);
    if (out->type.dtype != out->stored)
        p->other_float = out->stored;
    int rank = read_sizes(p, sizes, "sizes", loc, what, out->type.dim, out);
    if (rank < 0) {
        return false;
    }
    out->type.rank = rank;
    Meta stride_symbols = {0}; /* symbolic strides come from symbolic sizes: one message */
    int stride_count = read_sizes(p, strides, "strides", loc, what, out->stride, &stride_symbols);
    if (stride_count < 0) {
        return false;
    }
    if (stride_count != rank) {
        diag_error(p->c, DIAG_INPUT, loc, "%s: %d strides for %d sizes", what, stride_count, rank);
        return false;
    }
    const json_t *offset = json_object_get(json, "storage_offset");
    if (offset) {
        json_t *content;
        const char *kind = get_union(p, offset, &content);
        out->offset = text_equal(kind, "as_int") ? json_integer_value(content) : 0;
    }
    const json_t *layout = json_object_get(json, "layout");
    if (json_is_integer(layout) && json_integer_value(layout) != 7) {
        diag_error(p->c, DIAG_MODEL, loc, "%s: sparse layouts are not supported", what);
        return false;
    }
    if (out->offset < 0 || !sizes_fit(out)) {
        diag_error(p->c, DIAG_INPUT, loc, "%s: size %s is out of range", what,
                   shape_text(p->c, rank, out->type.dim));
        return false;
    }
    return true;
}
