/* What every part of Corten stands on: memory that is released at once, diagnostics, growing
 * text, and dense arrays. Nothing here knows of graphs.
 *
 * A `C` is one compilation (or one thread of it). Functions that take a C never return failure:
 * they record a diagnostic and carry on, or unwind to c_try() through fatal(). */
#ifndef CORTEN_BASE_H
#define CORTEN_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_RANK 8 /* ranks 0..6 come from users; pixel_shuffle and unfold need two more inside */

typedef struct C C;

/* ---- memory ------------------------------------------------------------------------------ */

/* Memory that lives as long as its arena: zeroed, 16-byte aligned, never NULL. Asking beyond the
 * arena's limit (16 GiB) or beyond what the system has is fatal (exit 1, "out of memory"). */
typedef struct Arena Arena;

Arena *arena_new(void);
void arena_free(Arena *a);

void *c_alloc(C *c, size_t bytes);
void *c_calloc(C *c, size_t count, size_t size); /* count * size checked for overflow */
void *c_memdup(C *c, const void *p, size_t bytes);
/* Grows an arena vector: returns storage for at least `need` items of `size` bytes, the first
 * `count` of them copied; *capacity is updated. */
void *c_grow(C *c, void *items, int count, int *capacity, int need, size_t size);
/* Calls release(what) when the arena is freed, last come first: for what others allocated. */
void c_defer(C *c, void (*release)(void *), void *what);
void json_release(void *root); /* of jansson's values, for c_defer */
char *c_strdup(C *c, const char *s);
char *c_strndup(C *c, const char *s, size_t n);
char *c_format(C *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *c_vformat(C *c, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#define NEW(c, T) ((T *)c_alloc((c), sizeof(T)))
#define NEW_ARRAY(c, T, n) ((T *)c_calloc((c), (size_t)(n), sizeof(T)))

/* ---- diagnostics ------------------------------------------------------------------------- */

/* The value of a kind is the exit code it leads to (design section 9). */
typedef enum {
    DIAG_NOTE = 0,  /* no error: a warning or a remark */
    DIAG_MODEL = 1, /* the model cannot be compiled as asked */
    DIAG_USAGE = 2, /* wrong use: unknown CPU or option */
    DIAG_INPUT = 3, /* a file or folder is missing, malformed, of the wrong shape, not writable */
    DIAG_TOOL = 4,  /* QEMU or a compiler is missing */
    DIAG_BUG = 70,  /* a bug in Corten */
    DIAG_STOPPED = 130 /* the user asked to stop */
} DiagKind;

/* Where something was found. Every field may be NULL or 0. `file:line` is the user's Python line;
 * without it `file` is the archive or array file and `member`, `byte` the place in it. */
typedef struct {
    const char *file;
    int line;
    const char *source_text; /* the Python line itself, when the archive has it */
    const char *node;        /* the archive's node name */
    const char *op;          /* and its operator as the user knows it: "relu_" */
    const char *module;      /* dotted module path */
    const char *output;      /* the node's output as text: "float32[1, 16, 48, 48]" */
    const char *member;
    int64_t byte;
} Loc;

typedef struct Diag {
    DiagKind kind;
    bool warning;
    Loc loc;
    const char *message;
    const char *detail; /* further indented lines, or NULL */
    struct Diag *next;
} Diag;

/* Records an error; the run goes on so that others are found too. */
void diag_error(C *c, DiagKind kind, const Loc *loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_warning(C *c, const Loc *loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds an indented line to the diagnostic recorded last. */
void diag_detail(C *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records an error and unwinds. */
_Noreturn void fatal(C *c, DiagKind kind, const Loc *loc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Unwinds if any error is recorded: called where going on would only produce followers. */
void diag_stop_if_errors(C *c);
int diag_error_count(const C *c);
/* All that was recorded, what is repeated once: the warnings, or the errors. */
struct json_t *diag_json(const C *c, bool warnings);
/* Was the same said of the same place before? Many nodes may stand for one of the archive. */
bool diag_is_repeated(const C *c, const Diag *d);
/* For one who can do without what failed: takes back all that was recorded since `mark`, the last
 * diagnostic then (c->last_diag), and returns the first message among it. */
const char *diag_withdraw(C *c, Diag *mark);
int diag_exit_code(const C *c); /* 0, or the kind of the first error */
/* All diagnostics in the order of recording, in a compiler's form; warnings only when !quiet. */
void diag_print(const C *c, FILE *f, bool colour, bool quiet);

struct C {
    Arena *arena;
    Diag *first_diag, *last_diag;
    int error_count;
    jmp_buf *unwind;         /* where fatal() goes: set by c_try */
    struct Env *env;         /* values of the graph being evaluated (graph/eval.c) */
    struct Origins *origins; /* what new nodes stand for while a pass rewrites a node */
    Loc loc;                 /* likewise where they come from */
    bool verbose;
    bool (*progress)(void *user, const char *what, double fraction); /* false: stop */
    void *progress_user;
    _Atomic bool stopped; /* progress said so */
    const char *share;    /* the folder of runtime/ and boards/; NULL: where it is installed */
};

C *c_new(void);
void c_free(C *c);
/* Runs body(c, user); returns diag_exit_code(c) once it has returned or unwound. */
int c_try(C *c, void (*body)(C *, void *), void *user);
/* Tells how far `what` has come. When that asks to stop, the next c_stop_if_asked() unwinds. */
void c_progress(C *c, const char *what, double fraction);
void c_stop_if_asked(C *c);

/* ---- text -------------------------------------------------------------------------------- */

typedef struct { /* a growing string in arena memory; always terminated once written to */
    C *c;
    char *data;
    size_t length, capacity;
} Text;

Text text_new(C *c);
void text_add(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(Text *t, const void *bytes, size_t count);
const char *text_string(const Text *t);        /* "" when nothing was added */
bool text_equal(const char *a, const char *b); /* NULL equals only NULL */
bool text_ends_with(const char *s, const char *suffix);
int64_t text_bytes(const char *s); /* "64K" -> 65536, up to 1 TiB; -1: it is none */
/* Letters, digits and _, the first no digit. */
bool word_is_identifier(const char *word);
/* C or C++ have it as a keyword, or it is of those that belong to compilers or to the runtime. */
bool word_is_keyword(const char *word);
/* That, or a type, macro or function of the C library. */
bool word_is_reserved(const char *word);
/* <word.h> is a header of the C library or of a compiler. */
bool word_is_header(const char *word);
bool glob_match(const char *pattern, const char *s); /* '*' and '?' */
/* The candidate nearest to `word` by edit distance if it is near enough for a suggestion. */
const char *text_nearest(const char *word, const char *const *candidates, int count);

/* ---- dense arrays ------------------------------------------------------------------------ */

typedef enum { /* the archive's own numbers, so that they print the same */
               DT_NONE = 0,
               DT_U8 = 1,
               DT_I8 = 2,
               DT_I16 = 3,
               DT_I32 = 4,
               DT_I64 = 5,
               DT_F16 = 6,
               DT_F32 = 7,
               DT_F64 = 8,
               DT_BOOL = 12,
               DT_BF16 = 13
} DType;

const char *dtype_name(DType t); /* "float32", "int8", "bool" ... */
DType dtype_from_name(const char *name);
int dtype_size(DType t); /* bytes */
bool dtype_is_float(DType t);

typedef struct { /* row-major, contiguous, little-endian */
    DType dtype;
    int rank;
    int64_t dim[MAX_RANK];
    void *data;
} Array;

/* The product, 1 for rank 0. INT64_MAX stands for a product that does not fit, so that a check
 * against any limit refuses it; likewise array_bytes. Dimensions are not negative. */
int64_t dims_count(int rank, const int64_t *dim);
int64_t array_count(const Array *a);
int64_t array_bytes(const Array *a);
Array *array_new(C *c, DType dtype, int rank, const int64_t *dim);
/* One element as double / int64, and back (rounded to nearest even, saturated to the dtype; a NaN
 * is 0 as an integer, and beyond a float type's range lies infinity). */
double array_get(const Array *a, int64_t index);
int64_t array_get_int(const Array *a, int64_t index);
void array_set(Array *a, int64_t index, double value);
void array_set_int(Array *a, int64_t index, int64_t value);
Array *array_convert(C *c, const Array *a, DType dtype);
const char *shape_text(C *c, int rank, const int64_t *dim); /* "[1, 16, 48, 48]" */

/* ---- files: .npy, .npz, images, folders --------------------------------------------------- */

typedef struct {
    const char *name; /* member name without ".npy"; the file's stem for a .npy */
    Array *array;
} NamedArray;

typedef struct {
    int count;
    NamedArray *item;
} ArrayList;

/* Bytes of a regular file; fatal DIAG_INPUT where there is none: "...; NEEDED is needed". */
size_t file_size(C *c, const char *path, const char *needed);
/* Whether a file begins so: asked before all of it is read, which may be gigabytes. */
bool file_begins(C *c, const char *path, const char *text);
char *file_read(C *c, const char *path, size_t *bytes); /* fatal DIAG_INPUT when it cannot */
void file_write(C *c, const char *path, const void *data, size_t bytes); /* aside, then renamed */
/* Cannot WHAT, by errno; where nothing has that name, says which one that is there was meant. */
_Noreturn void file_fail(C *c, const char *path, const char *what, int error);
/* "; did you mean PATH?" where nothing is called `path` but something almost is; else "". */
const char *path_meant(C *c, const char *path);
bool path_is_folder(const char *path);
const char *path_join(C *c, const char *folder, const char *name);
const char *path_stem(C *c, const char *path);                /* "a/b.pt2" -> "b" */
const char *folder_temporary(C *c);                           /* an empty one, which goes with c */
int folder_list(C *c, const char *path, const char ***names); /* sorted, without . and .. */

Array *npy_parse(C *c, const char *what, const void *bytes,
                 size_t count); /* fatal when malformed */
Array *npy_read(C *c, const char *path);
void npy_write(C *c, const char *path, const Array *a);
ArrayList npz_read(C *c, const char *path);
void npz_write(C *c, const char *path, const ArrayList *arrays);
/* PNG or JPEG as uint8 [channels][height][width], resized (area / bilinear). */
Array *image_read(C *c, const char *path, int channels, int height, int width);
bool path_is_image(const char *path);

typedef struct Zip Zip; /* a read-only archive: libzip; no two of its members have one name */
Zip *zip_open_file(C *c, const char *path);
/* The same of bytes that outlive it; `name` is what messages call it. */
Zip *zip_open_bytes(C *c, const char *name, const void *data, size_t bytes);
int zip_find(Zip *z, const char *name); /* index, or -1 */
int zip_count(Zip *z);
const char *zip_name(Zip *z, int index);
/* The member's bytes; a claimed size above `limit` is fatal before anything is allocated. */
void *zip_member(C *c, Zip *z, int index, size_t limit, size_t *bytes);
void zip_close_file(Zip *z);

/* SHA-256 of a file as 64 hex digits. */
const char *file_sha256(C *c, const char *path);
const char *bytes_sha256(C *c, const void *data, size_t bytes);

#endif
