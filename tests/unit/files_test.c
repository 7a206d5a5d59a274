/* Files, .npy and .npz arrays, zip archives and images: what a real NumPy wrote is read as it was
 * meant (tools/make_base_data.py), what is damaged or hostile is refused by name. */
#include "base/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <cmocka.h>

#define DATA "data/base/"

typedef struct {
    C *c;
    char folder[32];
} State;

static int set_up(void **state) {
    State *s = calloc(1, sizeof *s);
    s->c = c_new();
    strcpy(s->folder, "/tmp/corten-files-XXXXXX");
    *state = s;
    return mkdtemp(s->folder) == NULL;
}

static int tear_down(void **state) {
    State *s = *state;
    const char **names = NULL;
    int count = folder_list(s->c, s->folder, &names);
    for (int i = 0; i < count; i++)
        unlink(path_join(s->c, s->folder, names[i]));
    int left = rmdir(s->folder);
    c_free(s->c);
    free(s);
    return left;
}

/* ---- running what must fail */

typedef struct {
    void (*body)(C *, void *);
    const char *path, *text;
    const void *bytes;
    size_t count;
} Attempt;

/* The message that `attempt` ends with; the exit code must be 3. */
static const char *refusal(C *keep, Attempt attempt) {
    C *c = c_new();
    assert_int_equal(c_try(c, attempt.body, &attempt), DIAG_INPUT);
    const Diag *d = c->first_diag;
    const char *message =
        c_format(keep, "%s|%s|%s", d->loc.file, d->loc.member ? d->loc.member : "", d->message);
    c_free(c);
    return message;
}

static void assert_says(const char *message, const char *part) {
    if (strstr(message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", message, part);
}

static void try_parse(C *c, void *user) {
    const Attempt *a = user;
    npy_parse(c, "x.npy", a->bytes, a->count);
}

static void try_npy(C *c, void *user) {
    const Attempt *a = user;
    size_t count;
    const char *bytes = file_read(c, a->path, &count);
    npy_parse(c, a->path, bytes, count);
}

static void try_npz(C *c, void *user) {
    npz_read(c, ((const Attempt *)user)->path);
}

static void try_read(C *c, void *user) {
    file_read(c, ((const Attempt *)user)->path, NULL);
}

static void try_write(C *c, void *user) {
    file_write(c, ((const Attempt *)user)->path, "x", 1);
}

static void try_image(C *c, void *user) {
    image_read(c, ((const Attempt *)user)->path, 3, 4, 8);
}

/* ---- .npy */

static Array *load(C *c, const char *path) {
    size_t count;
    const char *bytes = file_read(c, path, &count);
    return npy_parse(c, path, bytes, count);
}

/* The numbers that make_base_data.py writes. */
static double expected_number(const char *kind, int64_t i) {
    switch (kind[0]) {
    case 'b':
        return i % 3 == 0;
    case 'u':
        return 3.0 * (double)i;
    case 'f':
        return (3.0 * (double)i - 5) / 4;
    default:
        return 3.0 * (double)i - 5;
    }
}

static void test_every_dtype_and_order_of_numpy_is_read(void **state) {
    C *c = ((State *)*state)->c;
    static const struct {
        const char *kind;
        DType dtype;
    } cases[] = {
        {"b1", DT_BOOL}, {"u1", DT_U8},  {"i1", DT_I8},  {"i2", DT_I16},
        {"i4", DT_I32},  {"i8", DT_I64}, {"u2", DT_I32}, {"u4", DT_I64},
        {"f2", DT_F16},  {"f4", DT_F32}, {"f8", DT_F64},
    };
    for (size_t k = 0; k < 2 * COUNT_OF(cases); k++) {
        const char *kind = cases[k / 2].kind;
        const char *order = k % 2 == 0 ? "little" : "big_fortran";
        Array *a = load(c, c_format(c, DATA "%s_%s.npy", kind, order));
        assert_int_equal(a->dtype, cases[k / 2].dtype);
        assert_string_equal(shape_text(c, a->rank, a->dim), "[2, 3, 4]");
        for (int64_t i = 0; i < 24; i++)
            assert_true(array_get(a, i) == expected_number(kind, i));
    }
}

static void test_every_npy_version_is_read(void **state) {
    C *c = ((State *)*state)->c;
    for (int version = 1; version <= 3; version++) {
        Array *a = load(c, c_format(c, DATA "version%d.npy", version));
        assert_int_equal(a->dtype, DT_F32);
        assert_string_equal(shape_text(c, a->rank, a->dim), "[2, 3]");
        for (int64_t i = 0; i < 6; i++)
            assert_true(array_get(a, i) == expected_number("f", i));
    }
}

static void test_scalar_empty_and_vector_shapes(void **state) {
    C *c = ((State *)*state)->c;
    Array *a = load(c, DATA "scalar.npy");
    assert_int_equal(a->rank, 0);
    assert_int_equal(array_get_int(a, 0), -5);
    a = load(c, DATA "empty.npy");
    assert_string_equal(shape_text(c, a->rank, a->dim), "[0, 3]");
    a = load(c, DATA "vector_fortran.npy");
    assert_string_equal(shape_text(c, a->rank, a->dim), "[5]");
    assert_true(array_get(a, 4) == expected_number("f", 4));
}

static void test_written_npy_is_what_numpy_writes(void **state) {
    State *s = *state;
    C *c = s->c;
    static const char *const names[] = {"version1.npy",  "scalar.npy",        "empty.npy",
                                        "b1_little.npy", "i8_little.npy",     "f2_little.npy",
                                        "u1_little.npy", "vector_fortran.npy"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        size_t want_count, got_count;
        const char *want = file_read(c, path_join(c, DATA, names[i]), &want_count);
        const char *path = path_join(c, s->folder, "a.npy");
        npy_write(c, path, npy_parse(c, names[i], want, want_count));
        const char *got = file_read(c, path, &got_count);
        assert_int_equal(got_count, want_count);
        assert_memory_equal(got, want, want_count);
    }
}

static void test_bfloat16_is_written_as_float32(void **state) {
    State *s = *state;
    Array *a = array_new(s->c, DT_BF16, 1, (int64_t[]){2});
    array_set(a, 1, -1.5);
    const char *path = path_join(s->c, s->folder, "a.npy");
    npy_write(s->c, path, a);
    a = load(s->c, path);
    assert_int_equal(a->dtype, DT_F32);
    assert_true(array_get(a, 1) == -1.5);
}

static void test_foreign_element_types_are_refused(void **state) {
    C *c = ((State *)*state)->c;
    assert_says(refusal(c, (Attempt){try_npy, .path = DATA "uint64.npy"}),
                "uint64.npy||element type '<u8'");
    assert_says(refusal(c, (Attempt){try_npy, .path = DATA "complex.npy"}), "element type '<c8'");
    assert_says(refusal(c, (Attempt){try_npy, .path = DATA "object.npy"}), "'|O'");
    assert_says(refusal(c, (Attempt){try_npy, .path = DATA "record.npy"}), "plain element type");
}

/* A version 1 .npy with this header and `data` zero bytes. */
static const char *parse_refusal(C *c, const char *header, size_t data) {
    size_t length = strlen(header), count = 10 + length + data;
    unsigned char *bytes = malloc(count); /* exactly: to see reads past the end */
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)(length & 0xff);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, header, length);
    memset(bytes + 10 + length, 0, data);
    const char *message = refusal(c, (Attempt){try_parse, .bytes = bytes, .count = count});
    free(bytes);
    return message;
}

static void test_malformed_npy_headers_are_refused(void **state) {
    C *c = ((State *)*state)->c;
    static const struct {
        const char *header, *says;
    } cases[] = {
        {"", "a dictionary is needed"},
        {"{", "a key"},
        {"{'descr", "a key"},
        {"{'descr': '<f4'", "',' or '}'"},
        {"{'descr': '<f4', 'fortran_order': False}", "each of the keys"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", "once"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}", "True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}", "negative"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         "dimension is too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "shape [4294967296, 4294967296] is too large"},
        {"{'descr': '>f4', 'fortran_order': True, 'shape': (4611686018427387904, 9, 0)}",
         "is too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", "needs more"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}", "16 bytes of data"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2}", "comma or ')'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.5,)}", "comma or ')'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
         "more than 8 dimensions"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': ()}", "element type '<f3'"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': ()}", "plain element type"},
        {"{'descr': '<', 'fortran_order': False, 'shape': ()}", "plain element type"},
        {"{'descr': '<f44444444444444444', 'fortran_order': False, 'shape': ()}", "plain element"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_says(parse_refusal(c, cases[i].header, 16), cases[i].says);
}

static void test_every_cut_of_an_npy_is_refused(void **state) {
    C *c = ((State *)*state)->c;
    size_t count;
    const char *whole = file_read(c, DATA "version1.npy", &count);
    for (size_t cut = 0; cut < count; cut++) {
        unsigned char *bytes = malloc(cut + 1);
        memcpy(bytes, whole, cut);
        const char *message = refusal(c, (Attempt){try_parse, .bytes = bytes, .count = cut});
        assert_says(message, cut < 8 ? "not a .npy" : cut < 128 ? "cut off" : "needs more");
        free(bytes);
    }
}

/* ---- .npz and zip */

static void assert_data_archive(C *c, ArrayList list) {
    assert_int_equal(list.count, 3);
    assert_string_equal(list.item[0].name, "zebra");
    assert_string_equal(list.item[1].name, "ape");
    assert_string_equal(list.item[2].name, "in0");
    assert_string_equal(shape_text(c, list.item[0].array->rank, list.item[0].array->dim), "[2, 3]");
    assert_true(array_get(list.item[0].array, 5) == expected_number("f", 5));
    assert_int_equal(array_get_int(list.item[1].array, 3), 4);
    assert_int_equal(list.item[2].array->dtype, DT_BOOL);
}

static void test_npz_is_read_in_file_order(void **state) {
    C *c = ((State *)*state)->c;
    assert_data_archive(c, npz_read(c, DATA "stored.npz"));
    assert_data_archive(c, npz_read(c, DATA "deflated.npz"));
}

static void test_npz_round_trip_gives_equal_bytes(void **state) {
    State *s = *state;
    C *c = s->c;
    ArrayList list = npz_read(c, DATA "deflated.npz");
    const char *first = path_join(c, s->folder, "a.npz"),
               *second = path_join(c, s->folder, "b.npz");
    npz_write(c, first, &list);
    npz_write(c, second, &list);
    npz_write(c, second, &list); /* replaces */
    assert_data_archive(c, npz_read(c, second));
    assert_string_equal(file_sha256(c, first), file_sha256(c, second));
}

static const char *write_archive(State *s, const void *bytes, size_t count) {
    const char *path = path_join(s->c, s->folder, "x.npz");
    file_write(s->c, path, bytes, count);
    return path;
}

static void test_damaged_member_is_named(void **state) {
    State *s = *state;
    size_t count;
    char *bytes = file_read(s->c, DATA "stored.npz", &count);
    char *payload = memmem(bytes, count, "NUMPY", 5);
    payload[140] ^= 1; /* in zebra's elements */
    const char *path = write_archive(s, bytes, count);
    assert_says(refusal(s->c, (Attempt){try_npz, .path = path}),
                "x.npz|zebra.npy|damaged member: its checksum");
}

static void test_archives_cut_off_or_foreign_are_refused(void **state) {
    State *s = *state;
    size_t count;
    const char *bytes = file_read(s->c, DATA "deflated.npz", &count);
    for (size_t cut = 0; cut < count; cut += 7) {
        const char *path = write_archive(s, bytes, cut);
        assert_says(refusal(s->c, (Attempt){try_npz, .path = path}), "x.npz|");
    }
    assert_says(refusal(s->c, (Attempt){try_npz, .path = DATA "scalar.npy"}), "not a zip archive");
    assert_says(refusal(s->c, (Attempt){try_npz, .path = s->folder}), "this is a folder");
    assert_says(refusal(s->c, (Attempt){try_npz, .path = "no/such.npz"}), "No such file");
}

/* Overwrites the little-endian 32-bit field `offset` bytes after the first central directory
 * signature. */
static void set_central_field(char *bytes, size_t count, size_t offset, uint32_t value) {
    char *entry = memmem(bytes, count, "PK\x01\x02", 4);
    assert_non_null(entry);
    memcpy(entry + offset, &value, sizeof value);
}

static void test_claimed_sizes_are_checked_before_memory_is_asked_for(void **state) {
    State *s = *state;
    size_t count;
    char *bytes = file_read(s->c, DATA "deflated.npz", &count);
    set_central_field(bytes, count, 24, 0xfffffff0u); /* the uncompressed size */
    const char *path = write_archive(s, bytes, count);
    assert_says(refusal(s->c, (Attempt){try_npz, .path = path}), "zebra.npy|malformed member");
}

static void read_with_limit(C *c, void *user) {
    Zip *z = zip_open_file(c, ((const Attempt *)user)->path);
    zip_member(c, z, zip_find(z, "zeros"), 1000, NULL);
}

static void test_decompression_bombs_are_refused(void **state) {
    State *s = *state;
    const char *path = path_join(s->c, s->folder, "bomb.zip");
    static const char zeros[100000];
    zip_t *z = zip_open(path, ZIP_CREATE, NULL);
    zip_file_add(z, "zeros", zip_source_buffer(z, zeros, sizeof zeros, 0), 0);
    assert_int_equal(zip_close(z), 0);
    assert_says(refusal(s->c, (Attempt){read_with_limit, .path = path}),
                "bomb.zip|zeros|the member claims 100000 bytes; at most 1000");

    size_t count; /* and when it claims less than it holds */
    char *bytes = file_read(s->c, path, &count);
    set_central_field(bytes, count, 24, 900);
    file_write(s->c, path, bytes, count);
    assert_says(refusal(s->c, (Attempt){read_with_limit, .path = path}), "bomb.zip|zeros|");
}

static void test_bit_flips_never_crash_the_reader(void **state) {
    State *s = *state;
    size_t count;
    const char *whole = file_read(s->c, DATA "deflated.npz", &count);
    for (size_t i = 0; i < count; i++) {
        char *bytes = malloc(count);
        memcpy(bytes, whole, count);
        bytes[i] = (char)((unsigned char)bytes[i] ^ 1u << i % 8);
        const char *path = write_archive(s, bytes, count);
        free(bytes);
        C *c = c_new();
        int code = c_try(c, try_npz, &(Attempt){.path = path});
        assert_true(code == 0 || code == DIAG_INPUT);
        c_free(c);
    }
}

static void test_bit_flips_never_crash_the_image_decoder(void **state) {
    State *s = *state;
    static const char *const images[] = {"squares.png", "squares.jpg"};
    for (size_t k = 0; k < COUNT_OF(images); k++) {
        size_t count;
        char *bytes = file_read(s->c, path_join(s->c, DATA, images[k]), &count);
        const char *path = path_join(s->c, s->folder, images[k]);
        for (size_t i = 0; i < count; i++) {
            unsigned char kept = (unsigned char)bytes[i];
            bytes[i] = (char)(kept ^ 1u << i % 8);
            file_write(s->c, path, bytes, count);
            bytes[i] = (char)kept;
            C *c = c_new();
            int code = c_try(c, try_image, &(Attempt){.path = path});
            assert_true(code == 0 || code == DIAG_INPUT);
            c_free(c);
        }
    }
}

static void test_zip_members_are_found_by_name(void **state) {
    C *c = ((State *)*state)->c;
    Zip *z = zip_open_file(c, DATA "stored.npz");
    assert_int_equal(zip_count(z), 3);
    assert_int_equal(zip_find(z, "ape.npy"), 1);
    assert_int_equal(zip_find(z, "ape"), -1);
    assert_string_equal(zip_name(z, 2), "in0.npy");
    zip_close_file(z);
}

/* ---- files and folders */

static void test_file_write_replaces_and_leaves_nothing_beside(void **state) {
    State *s = *state;
    const char *path = path_join(s->c, s->folder, "f");
    file_write(s->c, path, "first, longer", 13);
    file_write(s->c, path, "second", 6);
    size_t count;
    assert_string_equal(file_read(s->c, path, &count), "second");
    assert_int_equal(count, 6);
    const char **names;
    assert_int_equal(folder_list(s->c, s->folder, &names), 1);
    assert_string_equal(names[0], "f");
}

static void test_unusable_paths_are_named(void **state) {
    State *s = *state;
    assert_says(refusal(s->c, (Attempt){try_read, .path = "none"}),
                "none||cannot read the file: No");
    assert_says(refusal(s->c, (Attempt){try_read, .path = s->folder}), "this is a folder");
    assert_says(refusal(s->c, (Attempt){try_write, .path = "no/such/f"}), "cannot write the file");
    assert_says(refusal(s->c, (Attempt){try_write, .path = s->folder}), "cannot write the file");
    assert_int_equal(access(c_format(s->c, "%s.%ld-0.tmp", s->folder, (long)getpid()), F_OK), -1);
}

static void test_folder_list_is_sorted_by_bytes(void **state) {
    State *s = *state;
    static const char *const made[] = {"b10", "B", "b2", ".hidden", "a"};
    static const char *const sorted[] = {".hidden", "B", "a", "b10", "b2"};
    for (size_t i = 0; i < COUNT_OF(made); i++)
        file_write(s->c, path_join(s->c, s->folder, made[i]), "", 0);
    const char **names;
    assert_int_equal(folder_list(s->c, s->folder, &names), 5);
    for (size_t i = 0; i < COUNT_OF(sorted); i++)
        assert_string_equal(names[i], sorted[i]);
    assert_true(path_is_folder(s->folder));
    assert_false(path_is_folder(path_join(s->c, s->folder, "a")));
}

static void test_stems(void **state) {
    C *c = ((State *)*state)->c;
    assert_string_equal(path_stem(c, "a/b.pt2"), "b");
    assert_string_equal(path_stem(c, "b"), "b");
    assert_string_equal(path_stem(c, "a.d/b"), "b");
    assert_string_equal(path_stem(c, "a/b.tar.gz"), "b.tar");
    assert_string_equal(path_stem(c, "a/.hidden"), ".hidden");
    assert_string_equal(path_stem(c, "a/out.d/"), "out");
    assert_string_equal(path_join(c, "a/", "b"), "a/b");
    assert_string_equal(path_join(c, "a", "b"), "a/b");
    assert_string_equal(path_join(c, "", "b"), "b");
}

static void test_sha256_of_a_file(void **state) {
    State *s = *state;
    const char *path = path_join(s->c, s->folder, "f");
    file_write(s->c, path, "abc", 3);
    assert_string_equal(file_sha256(s->c, path),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* ---- images: red, green over blue, white */

static void assert_squares(const Array *a, int64_t height, int64_t width, int tolerance) {
    static const int colours[4][3] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}};
    for (int64_t k = 0; k < 3; k++) {
        for (int64_t i = 0; i < height * width; i++) {
            int square = (int)(i / width >= height / 2) * 2 + (int)(i % width >= width / 2);
            int64_t got = array_get_int(a, k * height * width + i);
            assert_in_range(got + 255, colours[square][k] - tolerance + 255,
                            colours[square][k] + tolerance + 255);
        }
    }
}

static void test_images_are_read_channels_first_and_shrunk_by_area(void **state) {
    C *c = ((State *)*state)->c;
    Array *a = image_read(c, DATA "squares.png", 3, 4, 8);
    assert_string_equal(shape_text(c, a->rank, a->dim), "[3, 4, 8]");
    assert_squares(a, 4, 8, 0);
    assert_squares(image_read(c, DATA "squares.png", 3, 2, 2), 2, 2, 0);
    assert_squares(image_read(c, DATA "squares.jpg", 3, 2, 2), 2, 2, 8);
    a = image_read(c, DATA "squares.png", 3, 1, 1);
    for (int k = 0; k < 3; k++)
        assert_in_range(array_get_int(a, k), 127, 128);
    a = image_read(c, DATA "squares.png", 1, 4, 8);
    assert_in_range(array_get_int(a, 31), 254, 255);
    assert_in_range(array_get_int(a, 0), 70, 80); /* the luminance of red */
}

static void test_images_grow_between_pixels(void **state) {
    C *c = ((State *)*state)->c;
    Array *a = image_read(c, DATA "squares.png", 3, 4, 16);
    int64_t last = 256; /* red, along the first row: never rises */
    for (int i = 0; i < 16; i++) {
        int64_t red = array_get_int(a, i);
        assert_true(red <= last);
        last = red;
    }
    assert_in_range(array_get_int(a, 7), 150, 220); /* three quarters red */
}

/* A picture of 300 KB took 300 MB, and scans of a few bytes minutes. */
static void refuse_progressive(State *s) {
    size_t count;
    char *bytes = file_read(s->c, DATA "progressive.jpg", &count);
    const char *path = path_join(s->c, s->folder, "p.jpg");
    image_read(s->c, DATA "progressive.jpg", 3, 8, 8);
    size_t scan = count - 4;
    while (memcmp(bytes + scan, "\xff\xda", 2) != 0)
        scan--;
    Text t = text_new(s->c);
    text_add_bytes(&t, bytes, scan);
    for (int i = 0; i < 60; i++)
        text_add_bytes(&t, bytes + scan, count - 2 - scan);
    text_add_bytes(&t, bytes + count - 2, 2);
    file_write(s->c, path, t.data, t.length);
    assert_says(refusal(s->c, (Attempt){try_image, .path = path}), "more than 50 scans");
    char *frame = bytes;
    while (memcmp(frame, "\xff\xc2", 2) != 0)
        frame++;
    memcpy(frame + 5, "\x14\x00\x14\x00", 4); /* 5120 x 5120 */
    file_write(s->c, path, bytes, count);
    assert_says(refusal(s->c, (Attempt){try_image, .path = path}), "of a JPEG of several scans");
}

/* A baseline JPEG of which the first scan has one component of three. */
static void refuse_baseline_of_scans(State *s) {
    size_t count;
    char *bytes = file_read(s->c, DATA "squares.jpg", &count), *frame = bytes, *scan = bytes;
    const char *path = path_join(s->c, s->folder, "b.jpg");
    while (memcmp(frame, "\xff\xc0", 2) != 0)
        frame++;
    while (memcmp(scan, "\xff\xda", 2) != 0)
        scan++;
    memcpy(frame + 5, "\x14\x00\x14\x00", 4); /* 5120 x 5120 */
    memcpy(scan + 2, "\x00\x08\x01\x01\x00\x00\x3f\x00", 8);
    file_write(s->c, path, bytes, count);
    assert_says(refusal(s->c, (Attempt){try_image, .path = path}), "of a JPEG of several scans");
}

static void test_damaged_images_are_refused(void **state) {
    State *s = *state;
    size_t count;
    char *bytes = file_read(s->c, DATA "squares.png", &count);
    const char *path = path_join(s->c, s->folder, "x.png");
    file_write(s->c, path, bytes, count - 30);
    assert_says(refusal(s->c, (Attempt){try_image, .path = "none.png"}), "cannot read the file");
    assert_says(refusal(s->c, (Attempt){try_image, .path = s->folder}),
                "this is a folder; an image is needed");
    assert_says(refusal(s->c, (Attempt){try_image, .path = path}), "x.png||not a usable image");
    size_t jpeg_count;
    const char *jpeg = file_read(s->c, DATA "squares.jpg", &jpeg_count);
    const char *cut = path_join(s->c, s->folder, "cut.jpg");
    file_write(s->c, cut, jpeg, jpeg_count - 100);
    assert_says(refusal(s->c, (Attempt){try_image, .path = cut}), "cut.jpg||not a usable image");
    refuse_progressive(s);
    refuse_baseline_of_scans(s);
    memcpy(bytes + 16, "\x00\x00\x29\x04\x00\x00\x29\x04", 8); /* width and height */
    memcpy(bytes + 29, "\x81\x67\xc4\x34", 4);                 /* and the CRC of their chunk */
    file_write(s->c, path, bytes, count);
    assert_says(refusal(s->c, (Attempt){try_image, .path = path}), "10500 x 10500 pixels");
    assert_says(refusal(s->c, (Attempt){try_image, .path = DATA "scalar.npy"}),
                "neither PNG nor JPEG");
    assert_true(path_is_image("a/B.JPG"));
    assert_false(path_is_image("a.png/b.npy"));
    assert_false(path_is_image("png"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_every_dtype_and_order_of_numpy_is_read),
        TEST(test_every_npy_version_is_read),
        TEST(test_scalar_empty_and_vector_shapes),
        TEST(test_written_npy_is_what_numpy_writes),
        TEST(test_bfloat16_is_written_as_float32),
        TEST(test_foreign_element_types_are_refused),
        TEST(test_malformed_npy_headers_are_refused),
        TEST(test_every_cut_of_an_npy_is_refused),
        TEST(test_npz_is_read_in_file_order),
        TEST(test_npz_round_trip_gives_equal_bytes),
        TEST(test_damaged_member_is_named),
        TEST(test_archives_cut_off_or_foreign_are_refused),
        TEST(test_claimed_sizes_are_checked_before_memory_is_asked_for),
        TEST(test_decompression_bombs_are_refused),
        TEST(test_bit_flips_never_crash_the_reader),
        TEST(test_bit_flips_never_crash_the_image_decoder),
        TEST(test_zip_members_are_found_by_name),
        TEST(test_file_write_replaces_and_leaves_nothing_beside),
        TEST(test_unusable_paths_are_named),
        TEST(test_folder_list_is_sorted_by_bytes),
        TEST(test_stems),
        TEST(test_sha256_of_a_file),
        TEST(test_images_are_read_channels_first_and_shrunk_by_area),
        TEST(test_images_grow_between_pixels),
        TEST(test_damaged_images_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
