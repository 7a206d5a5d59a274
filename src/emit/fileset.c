/* Output files: held in memory until everything has succeeded, then written aside and renamed, so
 * that a folder never shows half a result. Files that an earlier compile did not list are foreign
 * and never overwritten. */
#include "emit/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fileset_add(C *c, FileSet *set, const char *name, const void *data, size_t bytes) {
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->file[i].name, name) == 0)
            return; /* a source that several calls need */
    set->file = c_grow(c, set->file, set->count, &set->capacity, set->count + 1, sizeof *set->file);
    set->file[set->count].name = c_strdup(c, name);
    char *copy = c_alloc(c, bytes + 1); /* terminated, so that texts can be shown */
    memcpy(copy, data, bytes);
    set->file[set->count].data = copy;
    set->file[set->count].bytes = bytes;
    set->count++;
}

/* Makes the folders above the last component of path. */
static void make_parents(C *c, const char *path) {
    char *copy = c_strdup(c, path);
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        mkdir(copy, 0777); /* a failure shows when the file is written */
        *p = '/';
    }
}

static bool is_owned(const char *name, int owned_count, const char *const *owned) {
    for (int i = 0; i < owned_count; i++)
        if (strcmp(owned[i], name) == 0)
            return true;
    return false;
}

/* What a report may say of files: reports can be edited. */
static bool is_inside(const char *name) {
    return name[0] != '/' && !strstr(name, "..");
}

static bool is_wanted(const FileSet *set, const char *name) {
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->file[i].name, name) == 0)
            return true;
    return false;
}

static void check_foreign(C *c, const FileSet *set, const char *folder, int owned_count,
                          const char *const *owned) {
    struct stat st;
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode)) {
        Loc loc = {.file = folder};
        fatal(c, DIAG_INPUT, &loc, "a file stands where the output folder should be");
    }
    for (int i = 0; i < set->count; i++) {
        Loc loc = {.file = path_join(c, folder, set->file[i].name)};
        if (lstat(loc.file, &st) == 0 && !is_owned(set->file[i].name, owned_count, owned))
            diag_error(c, DIAG_INPUT, &loc,
                       "this file is not from an earlier compile and would be overwritten; "
                       "move it or choose another folder with -o");
    }
    diag_stop_if_errors(c);
}

/* A name that no other process and no file of the user's has. */
static const char *aside(C *c, const char *folder, const char *name) {
    return c_format(c, "%s/%s.new-%ld", folder, name, (long)getpid());
}

/* All files beside their final places; on the first failure those already written are removed. */
static void write_aside(C *c, const FileSet *set, const char *folder, bool existed) {
    for (int i = 0; i < set->count; i++) {
        const char *path = aside(c, folder, set->file[i].name);
        make_parents(c, path);
        FILE *f = fopen(path, "wbx");
        bool good = f && fwrite(set->file[i].data, 1, set->file[i].bytes, f) == set->file[i].bytes;
        int error = errno;
        if (f && fclose(f) != 0)
            good = false;
        if (good)
            continue;
        for (int k = 0; k < i + (f != NULL); k++)
            unlink(aside(c, folder, set->file[k].name));
        if (!existed) {
            rmdir(path_join(c, folder, "runtime"));
            rmdir(folder);
        }
        Loc loc = {.file = path_join(c, folder, set->file[i].name)};
        fatal(c, DIAG_INPUT, &loc, "cannot be written: %s", strerror(error));
    }
}

void fileset_write(C *c, const FileSet *set, const char *folder, int owned_count,
                   const char *const *owned) {
    check_foreign(c, set, folder, owned_count, owned);
    bool existed = path_is_folder(folder);
    make_parents(c, c_format(c, "%s/x", folder));
    write_aside(c, set, folder, existed);
    for (int i = 0; i < set->count; i++) {
        const char *to = path_join(c, folder, set->file[i].name);
        Loc loc = {.file = to};
        if (rename(aside(c, folder, set->file[i].name), to) != 0)
            fatal(c, DIAG_INPUT, &loc, "cannot be written: %s", strerror(errno));
    }
    for (int i = 0; i < owned_count; i++) /* what an earlier compile needed and this one does not */
        if (!is_wanted(set, owned[i]) && is_inside(owned[i]))
            unlink(path_join(c, folder, owned[i]));
}

const char *share_folder(C *c) {
    if (c->share)
        return c->share;
    const char *given = getenv("CORTEN_SHARE");
    if (given && *given)
        return c_strdup(c, given);
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n > 0) {
        exe[n] = 0;
        char *slash = strrchr(exe, '/');
        if (slash)
            *slash = 0;
        const char *beside = c_format(c, "%s/../share/corten", exe);
        if (path_is_folder(path_join(c, beside, "runtime")))
            return beside;
    }
    if (path_is_folder(path_join(c, CORTEN_INSTALL_SHARE, "runtime")))
        return CORTEN_INSTALL_SHARE;
    return CORTEN_SOURCE_SHARE;
}
