/* Archives and arrays that are made to hurt: the command ends with a diagnostic within a second of
 * processor time and 200 MB, whatever they claim and whatever happens to them meanwhile. */
#include "base/base.h"
#include "flow/flow.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zip.h>

#include <cmocka.h>

#ifdef CORTEN_SANITIZED
enum { MEGABYTES = 2000, SECONDS = 10 }; /* the sanitizer's own */
#else
enum { MEGABYTES = 200, SECONDS = 1 };
#endif

#define EXAMPLE "../examples/digits_silu/digits_silu.pt2"

enum { BOMB = 192 << 20 };

typedef struct {
    const char *name;
    const void *data;
    size_t bytes;
    int method; /* ZIP_CM_ */
} Member;

static void write_zip(const char *path, const Member *member, int count) {
    int code;
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    assert_non_null(zip);
    for (int i = 0; i < count; i++) {
        zip_source_t *source = zip_source_buffer(zip, member[i].data, member[i].bytes, 0);
        zip_int64_t at = zip_file_add(zip, member[i].name, source, 0);
        assert_true(at >= 0);
        zip_set_file_compression(zip, (zip_uint64_t)at, member[i].method, 1);
    }
    assert_int_equal(zip_close(zip), 0);
}

/* The exit code of `corten ARGUMENTS`, which keeps within the bounds; what it said. */
static int bounded(char **argv, const char **said) {
    const char *log = flow_path("said");
    pid_t child = fork();
    if (child == 0) {
        int out = open(log, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        dup2(out, 1);
        dup2(out, 2);
        execv(CORTEN_EXE, argv);
        _exit(127);
    }
    struct rusage used;
    int status;
    assert_int_equal(wait4(child, &status, 0, &used), child);
    *said = file_text(log);
    if (!WIFEXITED(status))
        fail_msg("%s %s: status %d: %s", argv[1], argv[2], status, *said);
    double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    if (seconds > SECONDS || used.ru_maxrss > MEGABYTES * 1024L)
        fail_msg("%s %s: %.2f s and %ld KB", argv[1], argv[2], seconds, used.ru_maxrss);
    return WEXITSTATUS(status);
}

/* `corten ARGUMENTS` ends with exit code 3 and says `wanted`, within the bounds. */
static void expect_refused(const char *wanted, const char *first, const char *second, ...) {
    char *argv[16] = {(char *)"corten", (char *)first, (char *)second};
    va_list more;
    va_start(more, second);
    for (int i = 3; i < 15 && (argv[i] = va_arg(more, char *)) != NULL; i++)
        ;
    va_end(more);
    const char *said;
    int code = bounded(argv, &said);
    if (code != 3)
        fail_msg("%s %s: exit code %d, not 3: %s", first, second, code, said);
    assert_says(said, wanted);
}

/* text repeated up to BOMB bytes behind a beginning */
static char *repeated(const char *begin, const char *text) {
    char *data = malloc(BOMB + 1);
    assert_non_null(data);
    size_t at = strlen(begin), length = strlen(text);
    memcpy(data, begin, at);
    for (; at < BOMB; at++)
        data[at] = text[at % length];
    return data;
}

static void bomb_in_an_archives_json(void **state) {
    (void)state;
    const char *path = flow_path("bomb.pt2");
    char *data = repeated("{\"a\": [", "0,");
    const Member whole[] = {{"m/models/model.json", data, BOMB, ZIP_CM_DEFLATE}};
    write_zip(path, whole, 1);
    expect_refused("at most", "inspect", path, NULL);
    const Member part[] = {{"m/models/model.json", data, 30 << 20, ZIP_CM_DEFLATE}};
    write_zip(path, part, 1);
    expect_refused("values of JSON", "inspect", path, NULL);
    free(data);
}

static void bomb_in_an_npz(void **state) {
    (void)state;
    const char *path = flow_path("bomb.npz");
    char *data = repeated("\x93NUMPY\x01\x00", " ");
    const Member member[] = {{"in0.npy", data, BOMB, ZIP_CM_DEFLATE}};
    write_zip(path, member, 1);
    free(data);
    expect_refused("unpacks to more than", "run", "pains/one_pixel.pt2", "-i", path, "-o",
                   flow_path("o.npy"), NULL);
}

/* The sizes of every member in the central directory, and in the headers before the members. */
static void claim_sizes(const char *from, const char *to, uint32_t size) {
    size_t bytes;
    char *data = file_read(flow_c(), from, &bytes);
    for (size_t i = 0; i + 46 <= bytes; i++) {
        size_t at = memcmp(data + i, "PK\1\2", 4) == 0   ? 20
                    : memcmp(data + i, "PK\3\4", 4) == 0 ? 18
                                                         : 0;
        if (at != 0) {
            memcpy(data + i + at, &size, sizeof size);
            memcpy(data + i + at + 4, &size, sizeof size);
        }
    }
    file_write(flow_c(), to, data, bytes);
}

static void claims_of_4_gb(void **state) {
    (void)state;
    const uint32_t sizes[] = {0xfffffff0u, 0x70000000u, 100u << 20};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        claim_sizes("pains/one_pixel.pt2", flow_path("claim.pt2"), sizes[i]);
        expect_refused("claims", "inspect", flow_path("claim.pt2"), NULL);
        claim_sizes("pains/one_pixel.npz", flow_path("claim.npz"), sizes[i]);
        expect_refused("claims", "run", "pains/one_pixel.pt2", "-i", flow_path("claim.npz"), "-o",
                       flow_path("o.npy"), NULL);
    }
}

/* Files that really have 4 GB, of which nothing was written but the beginning, if that. */
static void files_of_4_gb_that_hold_nothing(void **state) {
    (void)state;
    static const struct {
        const char *name, *begin, *wanted;
    } file[] = {
        {"4gb.pt2", "", "not a zip archive"},    {"4gb_zip.pt2", "PK\3\4", "not a zip archive"},
        {"4gb.npy", "", "not a .npy array"},     {"4gb.npz", "PK\3\4", "not a zip archive"},
        {"4gb.corten", "corten 1\n", "at most"}, {"4gb.png", "", "not a usable image"},
    };
    for (size_t i = 0; i < COUNT_OF(file); i++) {
        const char *path = flow_path("%s", file[i].name);
        text_write(path, file[i].begin);
        assert_int_equal(truncate(path, (off_t)4 << 30), 0);
        if (text_ends_with(path, ".pt2"))
            expect_refused(file[i].wanted, "inspect", path, NULL);
        else if (text_ends_with(path, ".corten"))
            expect_refused(file[i].wanted, "compile", path, "-t", "cortex-m4", "-o",
                           flow_path("4gb"), NULL);
        else
            expect_refused(file[i].wanted, "run", EXAMPLE, "-i", path, "-o", flow_path("o.npy"),
                           NULL);
        unlink(path);
    }
}

static void pipes_are_not_waited_for(void **state) {
    (void)state;
    const char *const name[] = {"pipe.npz", "pipe.npy", "pipe.png"};
    for (size_t i = 0; i < COUNT_OF(name); i++) {
        assert_int_equal(mkfifo(flow_path("%s", name[i]), 0600), 0);
        expect_refused("no regular file", "run", EXAMPLE, "-i", flow_path("%s", name[i]), "-o",
                       flow_path("o.npy"), NULL);
    }
    assert_int_equal(mkfifo(flow_path("pipe.pt2"), 0600), 0);
    expect_refused("no regular file", "inspect", flow_path("pipe.pt2"), NULL);
}

/* libzip reads the first of two members of one name, other readers the last. */
static void two_members_of_one_name(void **state) {
    (void)state;
    const Member member[] = {{"m/models/model.json", "{}", 2, ZIP_CM_STORE},
                             {"m/models/model.jsox", "{}", 2, ZIP_CM_STORE}};
    const char *path = flow_path("twice.pt2");
    write_zip(path, member, 2); /* which libzip refuses to do with one name */
    size_t bytes;
    char *data = file_read(flow_c(), path, &bytes);
    for (size_t i = 0; i + 5 <= bytes; i++) {
        if (memcmp(data + i, ".jsox", 5) == 0)
            data[i + 4] = 'n';
    }
    file_write(flow_c(), path, data, bytes);
    expect_refused("malformed archive: two members have this name\n    at m/models/model.json",
                   "inspect", path, NULL);
    file_write(flow_c(), flow_path("twice.npz"), data, bytes);
    expect_refused("two members have this name", "run", "pains/one_pixel.pt2", "-i",
                   flow_path("twice.npz"), "-o", flow_path("o.npy"), NULL);
}

/* Two of no bytes, whose names have none either. */
static void members_without_a_name(void **state) {
    (void)state;
    enum { LOCAL = 30, CENTRAL = 46, END = 22 };
    char data[LOCAL + 2 * CENTRAL + END] = "PK\3\4\x14";
    for (int i = 0; i < 2; i++)
        memcpy(data + LOCAL + i * CENTRAL, "PK\1\2\x14\0\x14", 7);
    char *end = data + LOCAL + 2 * CENTRAL;
    memcpy(end, "PK\5\6", 4);
    end[8] = end[10] = 2;  /* members */
    end[12] = 2 * CENTRAL; /* bytes of their headers */
    end[16] = LOCAL;       /* and where they start */
    const char *path = flow_path("nameless.npz");
    file_write(flow_c(), path, data, sizeof data);
    expect_refused("malformed archive: member 1 has no name that can be read", "run",
                   "pains/one_pixel.pt2", "-i", path, "-o", flow_path("o.npy"), NULL);
}

static void nesting_of_10000_levels(void **state) {
    (void)state;
    expect_refused("JSON", "inspect", "bad/json_nested_10000.pt2", NULL);
    Text t = text_new(flow_c());
    text_add(&t, "corten 1\ngraph g quantized {\n  node \"a\" %%b int8[4] = corten::copy(");
    for (int i = 0; i < 10000; i++)
        text_add(&t, "[");
    text_write(flow_path("nested.txt"), text_string(&t));
    expect_refused("nested.txt:3", "compile", flow_path("nested.txt"), "--from", "layout", "-t",
                   "cortex-m4", "-o", flow_path("nested"), NULL);
}

static void cycles_and_duplicate_names(void **state) {
    (void)state;
    expect_refused("", "inspect", "bad/cycle.pt2", NULL);
    expect_refused("", "inspect", "bad/node_names_equal.pt2", NULL);
    expect_refused("duplicate", "inspect", "bad/json_duplicate_key.pt2", NULL);
}

static _Noreturn void change_for_ever(const char *path, const Member whole[2]) {
    for (unsigned turn = 0;; turn++) {
        const Member *m = &whole[turn % 2];
        int file = open(path, O_WRONLY | (turn % 3 ? O_TRUNC : 0));
        for (size_t at = 0; at < m->bytes; at += 512) {
            size_t count = m->bytes - at < 512 ? m->bytes - at : 512;
            if (write(file, (const char *)m->data + at, count) < 0)
                _exit(1);
        }
        close(file);
        usleep(turn % 5 * 1000);
    }
}

/* Shortened, overwritten and replaced while the command reads it, again and again: each time it is
 * one of the archives, or is refused, within the bounds. */
static void archive_changed_while_it_is_read(void **state) {
    (void)state;
    const char *path = flow_path("changing.pt2");
    size_t bytes, other_bytes;
    char *data = file_read(flow_c(), "pains/shared_silu_inplace.pt2", &bytes);
    char *other = file_read(flow_c(), "pains/one_pixel.pt2", &other_bytes);
    text_write(path, "");
    pid_t writer = fork();
    if (writer == 0)
        change_for_ever(path, (const Member[2]){{"", data, bytes, 0}, {"", other, other_bytes, 0}});
    int taken = 0, refused = 0;
    for (int i = 0; i < 5000 && (i < 100 || taken == 0 || refused == 0); i++) {
        const char *said;
        int code =
            bounded((char *[]){(char *)"corten", (char *)"inspect", (char *)path, NULL}, &said);
        if (code != 0 && code != 1 && code != 3)
            fail_msg("exit code %d: %s", code, said);
        usleep(1000);
        taken += code == 0;
        refused += code == 3;
    }
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    print_message("%d taken, %d refused\n", taken, refused);
    assert_true(refused > 0 && taken > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bomb_in_an_archives_json),
        cmocka_unit_test(bomb_in_an_npz),
        cmocka_unit_test(claims_of_4_gb),
        cmocka_unit_test(files_of_4_gb_that_hold_nothing),
        cmocka_unit_test(pipes_are_not_waited_for),
        cmocka_unit_test(two_members_of_one_name),
        cmocka_unit_test(members_without_a_name),
        cmocka_unit_test(nesting_of_10000_levels),
        cmocka_unit_test(cycles_and_duplicate_names),
        cmocka_unit_test(archive_changed_while_it_is_read),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
