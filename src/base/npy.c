/* NumPy's .npy arrays and .npz archives. A header is text written by anyone: it is parsed within
 * its bounds, and the shape it claims is compared with the bytes that follow before an array is
 * made. What the parser returns is always row-major and little-endian. */
#include "base/base.h"

#include <string.h>
#include <zip.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define DATA_ALIGNMENT 64
#define NPZ_MEMBER_LIMIT ((size_t)8 << 30)

typedef struct {
    C *c;
    const Loc *loc;
    const char *at, *end;
} Parser;

typedef struct { /* what the header says of the elements that follow */
    DType dtype; /* that of the array made from them */
    char kind;   /* 'b', 'i', 'u', 'f' */
    int size;    /* bytes of an element in the file */
    bool big_endian, fortran;
    int rank;
    int64_t dim[MAX_RANK];
} Header;

/* ---- the header: a Python dictionary --------------------------------------------------------- */

static _Noreturn void malformed(Parser *p, const char *needed) {
    fatal(p->c, DIAG_INPUT, p->loc, "malformed .npy header: %s is needed", needed);
}

static char peek(Parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
    if (p->at == p->end)
        return '\0';
    return *p->at;
}

static bool accept(Parser *p, char ch) {
    if (peek(p) != ch || ch == '\0')
        return false;
    p->at++;
    return true;
}

static void expect(Parser *p, char ch, const char *needed) {
    if (!accept(p, ch))
        malformed(p, needed);
}

static bool accept_word(Parser *p, const char *word) {
    size_t length = strlen(word);
    peek(p);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* A quoted word of fewer than `capacity` bytes. */
static void parse_string(Parser *p, char *word, size_t capacity, const char *needed) {
    char quote = peek(p);
    if (quote != '\'' && quote != '"')
        malformed(p, needed);
    p->at++;
    size_t length = 0;
    while (p->at < p->end && *p->at != quote) {
        if (length + 1 == capacity || *p->at == '\0')
            malformed(p, needed);
        word[length++] = *p->at++;
    }
    word[length] = '\0';
    expect(p, quote, needed);
}

static int64_t parse_dimension(Parser *p) {
    if (peek(p) == '-')
        fatal(p->c, DIAG_INPUT, p->loc, "malformed .npy header: a dimension is negative");
    if (peek(p) < '0' || peek(p) > '9')
        malformed(p, "a tuple of whole numbers as 'shape'");
    int64_t value = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value))
            fatal(p->c, DIAG_INPUT, p->loc, "malformed .npy header: a dimension is too large");
    }
    accept(p, 'L'); /* as Python 2 wrote them */
    return value;
}

static void parse_shape(Parser *p, Header *h) {
    expect(p, '(', "a tuple as 'shape'");
    while (!accept(p, ')')) {
        if (h->rank == MAX_RANK)
            fatal(p->c, DIAG_INPUT, p->loc, "more than %d dimensions", MAX_RANK);
        h->dim[h->rank++] = parse_dimension(p);
        if (!accept(p, ',') && peek(p) != ')')
            malformed(p, "a comma or ')' in 'shape'");
    }
}

static DType element_dtype(char kind, int size) {
    static const struct {
        char kind;
        int size;
        DType dtype;
    } known[] = {
        {'b', 1, DT_BOOL}, {'i', 1, DT_I8},  {'i', 2, DT_I16}, {'i', 4, DT_I32},
        {'i', 8, DT_I64},  {'u', 1, DT_U8},  {'u', 2, DT_I32}, {'u', 4, DT_I64},
        {'f', 2, DT_F16},  {'f', 4, DT_F32}, {'f', 8, DT_F64},
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (known[i].kind == kind && known[i].size == size)
            return known[i].dtype;
    }
    return DT_NONE;
}

static void parse_descr(Parser *p, Header *h) {
    const char *const needed = "a plain element type as 'descr'";
    char descr[16];
    parse_string(p, descr, sizeof descr, needed);
    if (descr[0] == '\0' || strchr("<>|=", descr[0]) == NULL || descr[1] == '\0')
        malformed(p, needed);
    h->big_endian = descr[0] == '>';
    h->kind = descr[1];
    h->size = descr[2] >= '1' && descr[2] <= '8' && descr[3] == '\0' ? descr[2] - '0' : 0;
    h->dtype = element_dtype(h->kind, h->size);
    if (h->dtype == DT_NONE)
        fatal(p->c, DIAG_INPUT, p->loc,
              "element type '%s'; bool, integers (but not uint64) or float16, 32 or 64 are needed",
              descr);
}

static Header parse_header(Parser *p) {
    Header h = {0};
    bool has_descr = false, has_order = false, has_shape = false;
    expect(p, '{', "a dictionary");
    while (!accept(p, '}')) {
        char key[16];
        parse_string(p, key, sizeof key, "a key 'descr', 'fortran_order' or 'shape'");
        expect(p, ':', "':' after a key");
        if (text_equal(key, "descr") && !has_descr) {
            parse_descr(p, &h);
            has_descr = true;
        } else if (text_equal(key, "fortran_order") && !has_order) {
            h.fortran = accept_word(p, "True");
            if (!h.fortran && !accept_word(p, "False"))
                malformed(p, "True or False as 'fortran_order'");
            has_order = true;
        } else if (text_equal(key, "shape") && !has_shape) {
            parse_shape(p, &h);
            has_shape = true;
        } else {
            malformed(p, "each of the keys 'descr', 'fortran_order' and 'shape' once, no other");
        }
        if (!accept(p, ',') && peek(p) != '}')
            malformed(p, "',' or '}' after a value");
    }
    if (!has_descr || !has_order || !has_shape)
        malformed(p, "each of the keys 'descr', 'fortran_order' and 'shape' once");
    return h;
}

/* Sets *data to what follows the header. */
static Header read_header(C *c, const Loc *loc, const unsigned char *bytes, size_t count,
                          const unsigned char **data) {
    if (count < MAGIC_BYTES + 2 || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        fatal(c, DIAG_INPUT, loc, "not a .npy array: its first bytes differ");
    int major = bytes[MAGIC_BYTES];
    if (major < 1 || major > 3)
        fatal(c, DIAG_INPUT, loc, ".npy version %d; 1, 2 or 3 is needed", major);
    size_t start = MAGIC_BYTES + 2 + (major == 1 ? 2 : 4);
    size_t length = 0;
    if (count >= start) {
        for (size_t i = start; i-- > MAGIC_BYTES + 2;)
            length = length << 8 | bytes[i];
    }
    if (count < start || length > count - start)
        fatal(c, DIAG_INPUT, loc, "cut off within the .npy header");
    Parser p = {c, loc, (const char *)bytes + start, (const char *)bytes + start + length};
    *data = bytes + start + length;
    return parse_header(&p);
}

/* ---- the elements ---------------------------------------------------------------------------- */

/* Copies elements of h->size bytes, swapped where needed, from the file's order to row-major. */
static void copy_elements(const Header *h, unsigned char *to, const unsigned char *from,
                          int64_t count) {
    size_t size = (size_t)h->size;
    bool swapped = h->big_endian && size > 1;
    if (!swapped && (!h->fortran || h->rank < 2)) {
        if (count > 0)
            memcpy(to, from, (size_t)count * size);
        return;
    }
    int64_t stride[MAX_RANK] = {0}, index[MAX_RANK] = {0}, step = 1;
    for (int k = 0; k < h->rank; k++) { /* in elements of the file */
        int axis = h->fortran ? k : h->rank - 1 - k;
        stride[axis] = step;
        step *= h->dim[axis];
    }
    int64_t offset = 0;
    for (int64_t i = 0; i < count; i++, to += size) {
        const unsigned char *element = from + (size_t)offset * size;
        for (size_t b = 0; b < size; b++)
            to[b] = element[swapped ? size - 1 - b : b];
        for (int axis = h->rank - 1; axis >= 0; axis--) {
            offset += stride[axis];
            if (++index[axis] < h->dim[axis])
                break;
            offset -= stride[axis] * h->dim[axis];
            index[axis] = 0;
        }
    }
}

/* uint16 and uint32 widened into a's int32 and int64. */
static void widen_elements(Array *a, const Header *h, const unsigned char *from, int64_t count) {
    for (int64_t i = 0; i < count; i++, from += h->size) {
        int64_t value = 0;
        for (int b = h->size; b-- > 0;)
            value = value << 8 | from[b];
        array_set_int(a, i, value);
    }
}

/* With a dimension of 0 the others are unbounded by the data; nobody's strides may overflow. */
static void check_dimensions(C *c, const Loc *loc, const Header *h) {
    int64_t product = h->size;
    for (int i = 0; i < h->rank; i++) {
        if (h->dim[i] > 0 && __builtin_mul_overflow(product, h->dim[i], &product))
            fatal(c, DIAG_INPUT, loc, "shape %s is too large", shape_text(c, h->rank, h->dim));
    }
}

static Array *parse_array(C *c, const Loc *loc, const void *bytes, size_t count) {
    const unsigned char *data = NULL;
    Header h = read_header(c, loc, bytes, count, &data);
    size_t available = count - (size_t)(data - (const unsigned char *)bytes);
    check_dimensions(c, loc, &h);
    int64_t elements = dims_count(h.rank, h.dim);
    if ((uint64_t)elements > available / (size_t)h.size)
        fatal(c, DIAG_INPUT, loc, "%zu bytes of data; shape %s of %d-byte elements needs more",
              available, shape_text(c, h.rank, h.dim), h.size);
    Array *a = array_new(c, h.dtype, h.rank, h.dim);
    if (dtype_size(h.dtype) == h.size) {
        copy_elements(&h, a->data, data, elements);
        for (int64_t i = 0; h.dtype == DT_BOOL && i < elements; i++)
            ((uint8_t *)a->data)[i] = ((uint8_t *)a->data)[i] != 0;
    } else {
        unsigned char *ordered = c_alloc(c, (size_t)elements * (size_t)h.size);
        copy_elements(&h, ordered, data, elements);
        widen_elements(a, &h, ordered, elements);
    }
    return a;
}

Array *npy_parse(C *c, const char *what, const void *bytes, size_t count) {
    return parse_array(c, &(Loc){.file = what}, bytes, count);
}

Array *npy_read(C *c, const char *path) {
    size_t bytes = 0;
    bool is_array = file_begins(c, path, MAGIC);
    const char *data = is_array ? file_read(c, path, &bytes) : "";
    return npy_parse(c, path, data, bytes);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The array as a .npy file, version 1. NumPy has no bfloat16: it is written as the float32 that it
 * widens to. */
static const char *npy_bytes(C *c, const Array *a, size_t *bytes) {
    if (a->dtype == DT_BF16)
        a = array_convert(c, a, DT_F32);
    const char *kind = a->dtype == DT_BOOL ? "b" : a->dtype == DT_U8 ? "u" : "i";
    if (dtype_is_float(a->dtype))
        kind = "f";
    Text t = text_new(c);
    text_add_bytes(&t, MAGIC "\x01\x00\x00\x00", MAGIC_BYTES + 4); /* the length comes below */
    text_add(&t, "{'descr': '%c%s%d', 'fortran_order': False, 'shape': (",
             dtype_size(a->dtype) == 1 ? '|' : '<', kind, dtype_size(a->dtype));
    for (int i = 0; i < a->rank; i++)
        text_add(&t, "%s%lld", i > 0 ? ", " : "", (long long)a->dim[i]);
    text_add(&t, "%s), }", a->rank == 1 ? "," : "");
    while ((t.length + 1) % DATA_ALIGNMENT != 0)
        text_add_bytes(&t, " ", 1);
    text_add_bytes(&t, "\n", 1);
    size_t header = t.length - MAGIC_BYTES - 4;
    const unsigned char length[2] = {header & 0xff, (header >> 8) & 0xff};
    memcpy(t.data + MAGIC_BYTES + 2, length, sizeof length);
    text_add_bytes(&t, a->data, (size_t)array_bytes(a));
    *bytes = t.length;
    return t.data;
}

void npy_write(C *c, const char *path, const Array *a) {
    size_t bytes;
    const char *data = npy_bytes(c, a, &bytes);
    file_write(c, path, data, bytes);
}

/* ---- .npz ------------------------------------------------------------------------------------ */

ArrayList npz_read(C *c, const char *path) {
    Zip *z = zip_open_file(c, path);
    ArrayList list = {0, NEW_ARRAY(c, NamedArray, zip_count(z))};
    for (int i = 0; i < zip_count(z); i++) {
        const char *member = zip_name(z, i);
        if (!text_ends_with(member, ".npy"))
            continue;
        size_t bytes;
        const void *data = zip_member(c, z, i, NPZ_MEMBER_LIMIT, &bytes);
        NamedArray *item = &list.item[list.count++];
        item->array = parse_array(c, &(Loc){.file = path, .member = member}, data, bytes);
        item->name = c_strndup(c, member, strlen(member) - strlen(".npy"));
    }
    zip_close_file(z);
    return list;
}

/* Deflated, with the earliest date that a zip can hold, so that equal arrays give equal bytes. */
static bool add_member(zip_t *z, const char *name, const char *data, size_t bytes) {
    zip_source_t *source = zip_source_buffer(z, data, bytes, 0);
    if (source == NULL)
        return false;
    zip_int64_t index = zip_file_add(z, name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    const zip_uint16_t midnight = 0, new_year_1980 = 1 << 5 | 1;
    return zip_set_file_compression(z, (zip_uint64_t)index, ZIP_CM_DEFLATE, 6) == 0 &&
           zip_file_set_dostime(z, (zip_uint64_t)index, midnight, new_year_1980, 0) == 0;
}

/* libzip, too, writes aside and renames. */
void npz_write(C *c, const char *path, const ArrayList *arrays) {
    const char **data = NEW_ARRAY(c, const char *, arrays->count);
    const char **names = NEW_ARRAY(c, const char *, arrays->count);
    size_t *bytes = NEW_ARRAY(c, size_t, arrays->count);
    for (int i = 0; i < arrays->count; i++) {
        data[i] = npy_bytes(c, arrays->item[i].array, &bytes[i]);
        names[i] = c_format(c, "%s.npy", arrays->item[i].name);
    }
    Loc loc = {.file = path};
    int code = 0;
    zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (z == NULL)
        fatal(c, DIAG_INPUT, &loc, "cannot write the file");
    bool good = true;
    for (int i = 0; i < arrays->count && good; i++)
        good = add_member(z, names[i], data[i], bytes[i]);
    if (good && zip_close(z) == 0)
        return;
    const char *problem = c_strdup(c, zip_strerror(z));
    zip_discard(z);
    fatal(c, DIAG_INPUT, &loc, "cannot write the file: %s", problem);
}
