/* Whole files and folders. A file is complete or absent: it is written under another name in the
 * same folder and renamed, so a reader never meets half of one. */
#include "base/base.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads until `bytes` are there, the file ends (fewer are returned) or an error comes (-1). */
static ssize_t read_fully(int fd, char *data, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = read(fd, data + done, bytes - done);
        if (got == 0)
            break;
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)done;
}

size_t file_size(C *c, const char *path, const char *needed) {
    struct stat info;
    if (stat(path, &info) != 0)
        file_fail(c, path, "read the file", errno);
    if (!S_ISREG(info.st_mode)) /* a pipe would be waited for */
        fatal(c, DIAG_INPUT, &(Loc){.file = path}, "%s; %s is needed",
              S_ISDIR(info.st_mode) ? "this is a folder" : "this is no regular file", needed);
    return (size_t)info.st_size;
}

bool file_begins(C *c, const char *path, const char *text) {
    char begin[16];
    size_t length = strlen(text);
    assert(length <= sizeof begin);
    int fd = file_size(c, path, "a file") < length ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read_fully(fd, begin, length);
    close(fd);
    return got == (ssize_t)length && memcmp(begin, text, length) == 0;
}

/* The memory is had before the file is opened, so that running out of it leaves nothing open. */
char *file_read(C *c, const char *path, size_t *bytes) {
    size_t size = file_size(c, path, "a file");
    char *data = c_alloc(c, size + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        file_fail(c, path, "read the file", errno);
    ssize_t got = read_fully(fd, data, size);
    int error = errno;
    close(fd);
    if (got < 0)
        file_fail(c, path, "read the file", error);
    data[got] = '\0';
    if (bytes != NULL)
        *bytes = (size_t)got;
    return data;
}

/* 0, or the errno of what failed. */
static int write_fully(int fd, const char *data, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        ssize_t put = write(fd, data + done, bytes - done);
        if (put >= 0)
            done += (size_t)put;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

static int open_aside(C *c, const char *path, const char **aside) {
    for (int attempt = 0; attempt < 100; attempt++) {
        *aside = c_format(c, "%s.%ld-%d.tmp", path, (long)getpid(), attempt);
        int fd = open(*aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Devices and pipes are written as they are: renaming would replace them. */
static bool is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

void file_write(C *c, const char *path, const void *data, size_t bytes) {
    const char *aside = NULL;
    int fd = is_special(path) ? open(path, O_WRONLY | O_CLOEXEC) : open_aside(c, path, &aside);
    if (fd < 0)
        file_fail(c, path, "write the file", errno);
    int error = write_fully(fd, data, bytes);
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (aside != NULL && error == 0 && rename(aside, path) != 0)
        error = errno;
    if (aside != NULL && error != 0)
        unlink(aside);
    if (error != 0)
        file_fail(c, path, "write the file", error);
}

const char *path_meant(C *c, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *folder = slash ? c_strndup(c, path, (size_t)(slash + 1 - path)) : "";
    const char **names;
    if (access(path, F_OK) == 0 || access(*folder ? folder : ".", R_OK | X_OK) != 0)
        return "";
    int count = folder_list(c, *folder ? folder : ".", &names);
    const char *near = text_nearest(slash ? slash + 1 : path, names, count);
    return near ? c_format(c, "; did you mean %s%s?", folder, near) : "";
}

_Noreturn void file_fail(C *c, const char *path, const char *what, int error) {
    fatal(c, DIAG_INPUT, &(Loc){.file = path}, "cannot %s: %s%s", what, strerror(error),
          error == ENOENT ? path_meant(c, path) : "");
}

bool path_is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *path_join(C *c, const char *folder, const char *name) {
    if (folder[0] == '\0')
        return c_strdup(c, name);
    return c_format(c, "%s%s%s", folder, text_ends_with(folder, "/") ? "" : "/", name);
}

const char *path_stem(C *c, const char *path) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    for (size_t dot = end; dot > start + 1; dot--) { /* a leading dot begins no suffix */
        if (path[dot - 1] == '.')
            return c_strndup(c, path + start, dot - 1 - start);
    }
    return c_strndup(c, path + start, end - start);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int folder_list(C *c, const char *path, const char ***names) {
    DIR *folder = opendir(path);
    if (folder == NULL)
        file_fail(c, path, "list the folder", errno);
    const char **list = NULL;
    int count = 0, capacity = 0;
    struct dirent *entry;
    errno = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
            continue;
        list = c_grow(c, list, count, &capacity, count + 1, sizeof *list);
        list[count++] = c_strdup(c, entry->d_name);
        errno = 0;
    }
    int error = errno;
    closedir(folder);
    if (error != 0)
        file_fail(c, path, "list the folder", error);
    if (count > 1)
        qsort(list, (size_t)count, sizeof *list, compare_names);
    *names = list;
    return count;
}

static void folder_remove(void *path) {
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}

const char *folder_temporary(C *c) {
    const char *base = getenv("TMPDIR");
    char *path = c_format(c, "%s/corten-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(path))
        fatal(c, DIAG_INPUT, NULL, "%s: cannot make a temporary folder", path);
    c_defer(c, folder_remove, path);
    return path;
}

const char *file_sha256(C *c, const char *path) {
    char digest[SHA256_DIGEST_STRING_LENGTH];
    if (SHA256File(path, digest) == NULL)
        file_fail(c, path, "read the file", errno);
    return c_strdup(c, digest);
}

const char *bytes_sha256(C *c, const void *data, size_t bytes) {
    char digest[SHA256_DIGEST_STRING_LENGTH];
    SHA256Data(data, bytes, digest);
    return c_strdup(c, digest);
}
