/* Reading .pt2 and .npz archives through libzip. Nothing an archive claims is believed before it is
 * compared with what the archive holds: a size is checked against the compressed bytes that must
 * produce it before memory is asked for, and a member counts only once its CRC was right. */
#include "base/base.h"

#include <errno.h>
#include <string.h>
#include <zip.h>

#define MEMBER_LIMIT 1000000
/* Deflate spends at least one bit on 129 bytes: 1032 to 1, and some bytes of framing. */
#define DEFLATE_RATIO 1032
#define DEFLATE_SLACK 1024

/* What an archive may unpack to: real ones are stored, or shrink to a third. */
#define UNPACKED_FREE ((uint64_t)64 << 20)
#define UNPACKED_RATIO 32

struct Zip {
    zip_t *handle;
    const char *path;
    int count;
    uint64_t bytes, unpacked; /* of the whole archive; of the members read so far */
};

static void zip_release(void *what) {
    Zip *z = what;
    if (z->handle != NULL)
        zip_discard(z->handle);
    z->handle = NULL;
}

static _Noreturn void fail_open(C *c, const char *path, int code) {
    int system_error = errno;
    Loc loc = {.file = path};
    if (code == ZIP_ER_NOZIP)
        fatal(c, DIAG_INPUT, &loc, "not a zip archive, or one that is cut off");
    if (code == ZIP_ER_OPEN || code == ZIP_ER_NOENT || code == ZIP_ER_READ)
        file_fail(c, path, "read the file", code == ZIP_ER_NOENT ? ENOENT : system_error);
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const char *text = c_strdup(c, zip_error_strerror(&error));
    zip_error_fini(&error);
    fatal(c, DIAG_INPUT, &loc, "malformed archive: %s", text);
}

static Zip *zip_new(C *c, const char *name) {
    Zip *z = NEW(c, Zip);
    z->path = c_strdup(c, name);
    c_defer(c, zip_release, z);
    return z;
}

int zip_find(Zip *z, const char *name) {
    return (int)zip_name_locate(z->handle, name, 0);
}

int zip_count(Zip *z) {
    return z->count;
}

const char *zip_name(Zip *z, int index) {
    const char *name = zip_get_name(z->handle, (zip_uint64_t)index, 0);
    return name == NULL ? "" : name;
}

/* Which of two members of one name is read differs from reader to reader. What libzip cannot give a
 * name of, nothing can ask for. */
static void check_names(C *c, Zip *z) {
    for (int i = 0; i < z->count; i++) {
        const char *name = zip_name(z, i);
        if (!*name)
            fatal(c, DIAG_INPUT, &(Loc){.file = z->path},
                  "malformed archive: member %d has no name that can be read", i + 1);
        if (zip_find(z, name) != i)
            fatal(c, DIAG_INPUT, &(Loc){.file = z->path, .member = name},
                  "malformed archive: two members have this name");
    }
}

static void count_members(C *c, Zip *z) {
    zip_int64_t count = zip_get_num_entries(z->handle, 0);
    if (count > MEMBER_LIMIT)
        fatal(c, DIAG_INPUT, &(Loc){.file = z->path}, "%lld members; at most %d are read",
              (long long)count, MEMBER_LIMIT);
    z->count = (int)count;
    check_names(c, z);
}

Zip *zip_open_file(C *c, const char *path) {
    Zip *z = zip_new(c, path);
    int code = 0;
    z->bytes = file_size(c, path, "an archive");
    z->handle = zip_open(path, ZIP_RDONLY, &code);
    if (z->handle == NULL)
        fail_open(c, path, code);
    count_members(c, z);
    return z;
}

Zip *zip_open_bytes(C *c, const char *name, const void *data, size_t bytes) {
    Zip *z = zip_new(c, name);
    z->bytes = bytes;
    if (bytes == 0) /* which libzip takes for an archive of nothing */
        fail_open(c, name, ZIP_ER_NOZIP);
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(data, bytes, 0, &error);
    if (source != NULL)
        z->handle = zip_open_from_source(source, ZIP_RDONLY, &error);
    int code = zip_error_code_zip(&error);
    if (z->handle == NULL && source != NULL)
        zip_source_free(source);
    zip_error_fini(&error);
    if (z->handle == NULL)
        fail_open(c, name, code);
    count_members(c, z);
    return z;
}

/* The member's claimed size, if it is possible, can be decompressed and is within the limit. */
static size_t checked_size(C *c, Zip *z, int index, size_t limit, const Loc *loc) {
    zip_stat_t info;
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(z->handle, (zip_uint64_t)index, 0, &info) != 0 ||
        (info.valid & needed) != needed)
        fatal(c, DIAG_INPUT, loc, "malformed member: its size is not known");
    if ((info.valid & ZIP_STAT_ENCRYPTION_METHOD) && info.encryption_method != ZIP_EM_NONE)
        fatal(c, DIAG_INPUT, loc, "the member is encrypted");
    if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE)
        fatal(c, DIAG_INPUT, loc, "compression method %d; stored or deflated is needed",
              (int)info.comp_method);
    if (info.size > limit)
        fatal(c, DIAG_INPUT, loc, "the member claims %llu bytes; at most %zu are read",
              (unsigned long long)info.size, limit);
    if (info.comp_size > z->bytes)
        fatal(c, DIAG_INPUT, loc, "malformed member: it claims %llu bytes of an archive of %llu",
              (unsigned long long)info.comp_size, (unsigned long long)z->bytes);
    bool stored = info.comp_method == ZIP_CM_STORE;
    if (stored ? info.size != info.comp_size
               : info.size > DEFLATE_SLACK &&
                     (info.size - DEFLATE_SLACK) / DEFLATE_RATIO > info.comp_size)
        fatal(c, DIAG_INPUT, loc, "malformed member: it claims %llu bytes, but has only %llu%s",
              (unsigned long long)info.size, (unsigned long long)info.comp_size,
              stored ? "" : " compressed");
    z->unpacked += info.size;
    if (z->unpacked > UNPACKED_FREE + UNPACKED_RATIO * z->bytes)
        fatal(c, DIAG_INPUT, loc,
              "an archive of %llu bytes that unpacks to more than %d times that; store its members "
              "uncompressed if this is no mistake",
              (unsigned long long)z->bytes, UNPACKED_RATIO);
    return (size_t)info.size;
}

/* Reads `size` bytes and asks for one more: at the end libzip compares the CRC. Returns the number
 * of bytes read, or -1. */
static zip_int64_t read_member(zip_file_t *file, char *data, size_t size) {
    size_t done = 0;
    for (;;) {
        zip_int64_t got = zip_fread(file, data + done, size + 1 - done);
        if (got < 0)
            return -1;
        if (got == 0)
            return (zip_int64_t)done;
        done += (size_t)got;
        if (done > size)
            return (zip_int64_t)done;
    }
}

void *zip_member(C *c, Zip *z, int index, size_t limit, size_t *bytes) {
    Loc loc = {.file = z->path, .member = zip_name(z, index)};
    size_t size = checked_size(c, z, index, limit, &loc);
    char *data = c_alloc(c, size + 1);
    zip_file_t *file = zip_fopen_index(z->handle, (zip_uint64_t)index, 0);
    if (file == NULL)
        fatal(c, DIAG_INPUT, &loc, "malformed member: %s", zip_strerror(z->handle));
    zip_int64_t got = read_member(file, data, size);
    bool bad_crc = got < 0 && zip_error_code_zip(zip_file_get_error(file)) == ZIP_ER_CRC;
    const char *problem = got < 0 ? c_strdup(c, zip_file_strerror(file)) : NULL;
    zip_fclose(file);
    if (bad_crc)
        fatal(c, DIAG_INPUT, &loc, "damaged member: its checksum (CRC) does not match");
    if (got < 0)
        fatal(c, DIAG_INPUT, &loc, "malformed member: %s", problem);
    if ((size_t)got != size)
        fatal(c, DIAG_INPUT, &loc, "malformed member: %s bytes than the %zu it claims",
              (size_t)got < size ? "fewer" : "more", size);
    data[size] = '\0';
    if (bytes != NULL)
        *bytes = size;
    return data;
}

void zip_close_file(Zip *z) {
    zip_release(z);
}
