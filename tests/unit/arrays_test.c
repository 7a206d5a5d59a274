/* Data in and out: every form in which arrays are taken, which input each is for, and in which form
 * outputs are written. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MODEL "pains/shared_silu_inplace"

static const char *compiled(const char *name) {
    const char *out = flow_path("%s", path_stem(flow_c(), name));
    if (!file_exists(out))
        assert_non_null(
            flow_compiled(flow_text("%s.pt2", name), flow_text("%s.npz", name), "cortex-m4", out));
    return out;
}

static const char *net(void) {
    return compiled(MODEL);
}

static const Array *images(void) {
    ArrayList list = flow_arrays(MODEL ".npz");
    return flow_array(&list, "in0"); /* float32[4, 3, 16, 16] */
}

/* Samples [first, first + count) with these leading dimensions instead of the sample axis. */
static Array *some(const Array *a, int first, int count, int leading, const int64_t *dims,
                   DType dtype) {
    int64_t dim[MAX_RANK], size = array_count(a) / a->dim[0];
    for (int d = 0; d < leading; d++)
        dim[d] = dims[d];
    for (int d = 1; d < a->rank; d++)
        dim[leading + d - 1] = a->dim[d];
    Array *b = array_new(flow_c(), dtype, leading + a->rank - 1, dim);
    for (int64_t i = 0; i < count * size; i++)
        array_set(b, i, array_get(a, first * size + i));
    return b;
}

static Said run(const char *model, const char *in, const char *out, bool raw) {
    unlink(out);
    return flow_run(corten_run,
                    (CortenOptions){.model = model, .input = in, .out = out, .raw = raw});
}

/* What the model makes of one array in an .npy. */
static const Array *of_npy(Array *a) {
    const char *in = flow_path("in.npy"), *out = flow_path("out.npy");
    npy_write(flow_c(), in, a);
    assert_code(run(net(), in, out, false), 0);
    return flow_arrays(out).item[0].array;
}

static void assert_shape(const Array *a, const char *shape) {
    assert_string_equal(shape_text(flow_c(), a->rank, a->dim), shape);
}

static void assert_same(const Array *a, const Array *b) {
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(array_count(a), array_count(b));
    assert_memory_equal(a->data, b->data, (size_t)array_bytes(a));
}

/* ---- one sample and several ---------------------------------------------------------------- */

static void first_axis_is_samples_and_a_leading_1_may_be_left_out(void **state) {
    (void)state;
    const Array *x = images();
    const Array *stacked = of_npy(some(x, 0, 4, 1, (int64_t[]){4}, DT_F32));
    const Array *with_1 = of_npy(some(x, 0, 4, 2, (int64_t[]){4, 1}, DT_F32));
    assert_shape(stacked, "[4, 8, 12, 12]");
    assert_shape(with_1, "[4, 8, 12, 12]");
    assert_same(stacked, with_1);
}

static void array_of_the_inputs_shape_is_one_sample_with_an_output_of_its_shape(void **state) {
    (void)state;
    const Array *x = images(), *all = of_npy(some(x, 0, 4, 1, (int64_t[]){4}, DT_F32));
    const Array *bare = of_npy(some(x, 2, 1, 0, NULL, DT_F32));
    const Array *with_1 = of_npy(some(x, 2, 1, 1, (int64_t[]){1}, DT_F32));
    const Array *one_of_one = of_npy(some(x, 2, 1, 2, (int64_t[]){1, 1}, DT_F32));
    assert_shape(bare, "[1, 8, 12, 12]");
    assert_shape(with_1, "[1, 8, 12, 12]");
    assert_same(bare, some(all, 2, 1, 1, (int64_t[]){1}, DT_F32));
    assert_same(bare, with_1);
    assert_same(bare, one_of_one);
}

static void numbers_of_other_types_are_converted(void **state) {
    (void)state;
    const Array *x = images(), *f32 = of_npy(some(x, 0, 4, 1, (int64_t[]){4}, DT_F32));
    assert_same(f32, of_npy(some(x, 0, 4, 1, (int64_t[]){4}, DT_F64)));
    assert_same(of_npy(some(x, 0, 4, 1, (int64_t[]){4}, DT_I32)), /* rounded alike */
                of_npy(array_convert(flow_c(), some(x, 0, 4, 1, (int64_t[]){4}, DT_I32), DT_F32)));
}

static void int8_arrays_are_taken_as_they_are(void **state) {
    (void)state;
    json_t *report = flow_report(net());
    const json_t *in = json_array_get(json_object_get(report, "inputs"), 0);
    /* ten digits tell which float32 it is */
    double scale = (double)(float)json_real_value(json_object_get(in, "scale"));
    double zero = (double)json_integer_value(json_object_get(in, "zero_point"));
    Array *q = array_new(flow_c(), DT_I8, 3, (int64_t[]){3, 16, 16});
    Array *x = array_new(flow_c(), DT_F32, 3, q->dim);
    for (int64_t i = 0; i < array_count(q); i++) {
        array_set_int(q, i, i * 37 % 256 - 128);
        array_set(x, i, scale * (array_get(q, i) - zero));
    }
    assert_same(of_npy(q), of_npy(x));
    /* and float runs read what they stand for */
    const char *quantized = flow_path("q.npy"), *real = flow_path("x.npy"),
               *out = flow_path("float.npy");
    npy_write(flow_c(), quantized, q);
    npy_write(flow_c(), real, x);
    CortenOptions o = {.model = net(), .input = quantized, .out = out, .on = "float"};
    assert_code(flow_run(corten_run, o), 0);
    const Array *of_integers = flow_arrays(out).item[0].array;
    o.input = real;
    assert_code(flow_run(corten_run, o), 0);
    assert_same(of_integers, flow_arrays(out).item[0].array);
    o = (CortenOptions){.model = net(), .input = quantized, .json = true};
    Said by_integers = flow_run(corten_verify, o);
    o.input = real;
    assert_string_equal(by_integers.results, flow_run(corten_verify, o).results);
}

static void empty_and_misfitting_arrays_are_exit_3(void **state) {
    (void)state;
    const char *in = flow_path("misfit.npy"), *out = flow_path("out.npz");
    static const int64_t dim[][4] = {{0, 3, 16, 16}, {1, 3, 16, 15}, {4, 2, 16, 16}};
    for (size_t i = 0; i < COUNT_OF(dim); i++) {
        npy_write(flow_c(), in, array_new(flow_c(), DT_F32, 4, dim[i]));
        assert_code(run(net(), in, out, false), 3);
        assert_false(file_exists(out));
    }
    text_write(in, "\x93NUMPY");
    assert_code(run(net(), in, out, false), 3);
    assert_code(run(net(), "nothing.npz", out, false), 3);
    assert_code(run(net(), MODEL ".npz", flow_path("no/folder.npz"), false), 3);
}

/* ---- folders and images -------------------------------------------------------------------- */

static void folder_holds_a_sample_per_file_in_the_order_of_names(void **state) {
    (void)state;
    const Array *x = images(), *all = of_npy(some(x, 0, 4, 1, (int64_t[]){4}, DT_F32));
    const char *folder = flow_path("samples"), *out = flow_path("out.npy");
    assert_int_equal(mkdir(folder, 0777), 0);
    npy_write(flow_c(), path_join(flow_c(), folder, "b.npy"), some(x, 1, 1, 0, NULL, DT_F32));
    npy_write(flow_c(), path_join(flow_c(), folder, "a.npy"),
              some(x, 0, 1, 1, (int64_t[]){1}, DT_F32));
    NamedArray item = {"in0", some(x, 2, 2, 1, (int64_t[]){2}, DT_F32)};
    npz_write(flow_c(), path_join(flow_c(), folder, "c.npz"), &(ArrayList){1, &item});
    text_write(path_join(flow_c(), folder, "readme.txt"), "not data");
    assert_code(run(net(), folder, out, false), 0);
    assert_shape(flow_arrays(out).item[0].array, "[4, 8, 12, 12]");
    assert_same(flow_arrays(out).item[0].array, all);
}

static void images_are_scaled_by_mean_and_std(void **state) {
    (void)state;
    const char *picture = "data/base/squares.png", *out = flow_path("image.npy");
    Array *pixels = image_read(flow_c(), picture, 3, 8, 8);
    Array *plain = array_new(flow_c(), DT_F32, 4, (int64_t[]){1, 3, 8, 8});
    Array *scaled = array_new(flow_c(), DT_F32, 4, plain->dim);
    for (int64_t i = 0; i < array_count(plain); i++) {
        double x = array_get(pixels, i) / 255;
        array_set(plain, i, x);
        array_set(scaled, i, (x - 0.1 * (double)(1 + i / 64)) / 0.5);
    }
    const char *model = "flow/image.pt2";
    CortenOptions o = {.model = model, .input = picture, .out = out};
    for (int with = 0; with < 2; with++) {
        npy_write(flow_c(), flow_path("pixels.npy"), with ? scaled : plain);
        CortenOptions same = {.model = model, .input = flow_path("pixels.npy"), .out = out};
        assert_code(flow_run(corten_run, same), 0);
        const Array *want = flow_arrays(out).item[0].array;
        o.mean = with ? "0.1,0.2,0.3" : NULL;
        o.std = with ? "0.5,0.5,0.5" : NULL;
        assert_code(flow_run(corten_run, o), 0);
        assert_true(flow_sqnr(want, flow_arrays(out).item[0].array) > 100);
    }
    o.std = "0.5,0.5";
    o.mean = "0.1,0.1";
    assert_code(flow_run(corten_run, o), 2);
    o.std = "0,1,1";
    o.mean = NULL;
    assert_code(flow_run(corten_run, o), 2);
}

static void image_for_another_kind_of_input_is_refused(void **state) {
    (void)state;
    const char *picture = flow_path("x.png");
    text_write(picture, "no picture");
    assert_code(run("flow/image.pt2", picture, flow_path("out.npy"), false), 3);
    Said said = run("flow/counter.pt2", picture, flow_path("out.npy"), false);
    assert_code(said, 3);
    assert_says(said.messages, "an image needs a model with one input of shape");
}

/* ---- which array is for which input -------------------------------------------------------- */

/* x float[1, 6], times (a constant), unread float[1, 2], y float[1, 5]; the flag is None. */
static const Array *boundary(const char *name) {
    ArrayList list = flow_arrays("flow/boundary.npz");
    return flow_array(&list, name);
}

static ArrayList run_boundary(int count, NamedArray *item, int code) {
    const char *in = flow_path("boundary.npz"), *out = flow_path("boundary_out.npz");
    npz_write(flow_c(), in, &(ArrayList){count, item});
    Said said = run("flow/boundary.pt2", in, out, false);
    assert_code(said, code);
    return code == 0 ? flow_arrays(out) : (ArrayList){0};
}

static void arrays_go_by_name_by_position_or_in_the_files_order(void **state) {
    (void)state;
    Array *x = (Array *)boundary("in0"), *unread = (Array *)boundary("in2"),
          *y = (Array *)boundary("in3"), *noise = array_new(flow_c(), DT_F32, 1, (int64_t[]){3});
    NamedArray forms[][6] = {
        {{"y", y}, {"unread", unread}, {"x", x}},
        {{"y", y}, {"in0", x}, {"in2", unread}}, /* mixed */
        {{"in3", y}, {"in2", unread}, {"in0", x}},
        {{"arr_0", x}, {"arr_2", unread}, {"arr_3", y}},
        {{"arr_0", x}, {"arr_1", noise}, {"arr_2", unread}, {"arr_3", y}}, /* a constant's slot */
        {{"x", x}, {"times", noise}, {"unread", unread}, {"y", y}},
        {{"p", x}, {"q", unread}, {"r", y}},
        {{"out0", noise}, {"p", x}, {"label", noise}, {"q", unread}, {"r", y}},
        {{"p", x}, {"x_times", noise}, {"q", unread}, {"r", y}, {"flags", noise}},
        {{"outer", x}, {"q", unread}, {"r", y}}, /* no "out" and a number */
        {{"q", unread}, {"y", y}, {"x", x}},
    };
    static const int count[] = {3, 3, 3, 3, 4, 4, 3, 5, 5, 3, 3};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        ArrayList got = run_boundary(count[i], forms[i], 0);
        if (flow_sqnr(boundary("out0"), flow_array(&got, "mul")) < 100)
            fail_msg("form %zu: other arrays were taken", i);
        assert_same(flow_array(&got, "y"), y);
    }
}

static void missing_arrays_and_unlike_counts_are_reported(void **state) {
    (void)state;
    NamedArray missing[] = {{"x", (Array *)boundary("in0")}};
    run_boundary(1, missing, 3);
    Array *three = array_new(flow_c(), DT_F32, 2, (int64_t[]){3, 5});
    NamedArray unlike[] = {
        {"in0", (Array *)boundary("in0")}, {"in2", (Array *)boundary("in2")}, {"in3", three}};
    run_boundary(3, unlike, 3);
}

/* ---- outputs ------------------------------------------------------------------------------- */

static void outputs_have_unique_names_and_keep_their_kinds(void **state) {
    (void)state;
    ArrayList torch = flow_arrays("flow/boundary.npz");
    static const char *const name[] = {"mul", "mul_1", "out3", "y", "argmax", "gt", "mul_1_1"};
    static const char *const want[] = {"out0", "out2", NULL, "out4", "out5", "out6", "out7"};
    const char *model[] = {"flow/boundary.pt2", compiled("flow/boundary")};
    for (int m = 0; m < 2; m++) {
        const char *out = flow_path("kinds.npz");
        assert_code(run(model[m], "flow/boundary.npz", out, false), 0);
        ArrayList got = flow_arrays(out);
        assert_int_equal(got.count, COUNT_OF(name)); /* None is left out */
        for (int k = 0; k < got.count; k++)
            assert_string_equal(got.item[k].name, name[k]);
        for (int k = 0; k < got.count; k++)
            if (want[k])
                assert_true(flow_sqnr(flow_array(&torch, want[k]), got.item[k].array) > 30);
        const Array *seven = got.item[2].array;
        assert_true(seven->dtype == DT_I64 && seven->rank == 0 && array_get_int(seven, 0) == 7);
        assert_int_equal(got.item[4].array->dtype, DT_I64);
        assert_int_equal(got.item[5].array->dtype, DT_BOOL);
        assert_int_equal(got.item[0].array->dtype, DT_F32);
    }
}

static void suffix_decides_between_npy_and_npz(void **state) {
    (void)state;
    const char *npy = flow_path("o.npy"), *npz = flow_path("o.npz");
    assert_code(run(net(), MODEL ".npz", npy, false), 0);
    assert_code(run(net(), MODEL ".npz", npz, false), 0);
    assert_same(flow_arrays(npy).item[0].array, flow_arrays(npz).item[0].array);
    Said said = run(compiled("flow/boundary"), "flow/boundary.npz", npy, false);
    assert_code(said, 2);
    assert_says(said.messages, "7 outputs do not fit a .npy");
    assert_false(file_exists(npy));
    assert_code(run(net(), MODEL ".npz", flow_path("o.txt"), false), 2);
}

static void raw_outputs_are_the_integers(void **state) {
    (void)state;
    const char *out = flow_path("raw.npy");
    json_t *report = flow_report(net());
    const json_t *o = json_array_get(json_object_get(report, "outputs"), 0);
    float scale = (float)json_real_value(json_object_get(o, "scale"));
    int64_t zero = json_integer_value(json_object_get(o, "zero_point"));
    assert_code(run(net(), MODEL ".npz", out, true), 0);
    const Array *q = flow_arrays(out).item[0].array;
    assert_int_equal(q->dtype, DT_I8);
    ArrayList real = flow_outputs(net(), MODEL ".npz", NULL);
    for (int64_t i = 0; i < array_count(q); i++)
        assert_true((float)array_get(real.item[0].array, i) ==
                    scale * (float)(array_get_int(q, i) - zero));
}

static void state_starts_with_the_buffers_numbers_and_goes_on(void **state) {
    (void)state;
    ArrayList torch = flow_arrays("flow/counter.npz");
    const char *model[] = {"flow/counter.pt2", compiled("flow/counter")};
    for (int m = 0; m < 2; m++) {
        ArrayList got = flow_outputs(model[m], "flow/counter.npz", NULL);
        for (int k = 0; k < 2; k++)
            assert_true(flow_sqnr(flow_array(&torch, flow_text("out%d", k)), got.item[k].array) >
                        (m ? 30 : 100));
    }
}

static void integer_inputs_are_checked_and_used(void **state) {
    (void)state;
    ArrayList torch = flow_arrays("flow/embedder.npz");
    ArrayList got = flow_outputs(compiled("flow/embedder"), "flow/embedder.npz", NULL);
    assert_true(flow_sqnr(flow_array(&torch, "out0"), got.item[0].array) > 30);
    Array *half = array_convert(flow_c(), flow_array(&torch, "in0"), DT_F32);
    array_set(half, 2, 0.5);
    NamedArray item[] = {{"in0", half}, {"in1", (Array *)flow_array(&torch, "in1")}};
    npz_write(flow_c(), flow_path("half.npz"), &(ArrayList){2, item});
    Said said = run(compiled("flow/embedder"), flow_path("half.npz"), flow_path("o.npz"), false);
    assert_code(said, 3);
    assert_says(said.messages, "holds 0.5 at element 2; the input needs int64");
}

/* ---- odd boundaries ------------------------------------------------------------------------ */

static int compare(const char *name, const ArrayList *torch, const ArrayList *got, double least) {
    int faults = 0, outputs = 0;
    for (int i = 0; i < torch->count; i++)
        outputs += strncmp(torch->item[i].name, "out", 3) == 0;
    if (got->count != outputs)
        faults++;
    for (int k = 0, out = 0; k < got->count; k++, out++) {
        const Array *want = NULL, *is = got->item[k].array;
        while (!want && out < 9)
            want = flow_array(torch, flow_text("out%d", out++));
        out--;
        if (!want || strcmp(shape_text(flow_c(), is->rank, is->dim),
                            shape_text(flow_c(), want->rank, want->dim)) != 0)
            faults++;
        else if (array_count(want) > 0 && flow_sqnr(want, is) < least)
            faults++;
    }
    if (faults)
        fprintf(stderr, "%s: outputs differ from torch's\n", name);
    return faults;
}

static int check_odd(const char *name) {
    const char *archive = flow_text("flow/odd/%s.pt2", name),
               *data = flow_text("flow/odd/%s.npz", name), *out = flow_path("odd");
    ArrayList torch = flow_arrays(data), real = flow_outputs(archive, data, NULL);
    int faults = compare(name, &torch, &real, 100);
    if (!flow_compiled(archive, data, "cortex-m0plus", out))
        return faults + 1;
    ArrayList integer = flow_outputs(out, data, NULL);
    faults += compare(name, &torch, &integer, 30);
    Said cc = flow_shell("cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I%s -I%s/runtime "
                         "-fsyntax-only %s/%s.c",
                         out, out, out, name);
    if (cc.code != 0)
        fprintf(stderr, "%s: %s", name, cc.messages);
    CortenOptions o = {.model = out, .input = data};
    Said verify = flow_run(corten_verify, o);
    if (verify.code != 0)
        fprintf(stderr, "%s: verify: %s", name, verify.messages);
    return faults + (cc.code != 0) + (verify.code != 0);
}

/* No grid is chosen yet whose integers they could be. */
static void integers_to_calibrate_with_are_real_numbers_and_told_of(void **state) {
    (void)state;
    const Array *x = images();
    const char *data = flow_path("codes.npy"), *out = flow_path("of_codes");
    Array *codes = some(x, 0, (int)x->dim[0], 1, x->dim, DT_I8);
    for (int64_t i = 0; i < array_count(codes); i++)
        array_set(codes, i, (double)(i % 200 - 100));
    npy_write(flow_c(), data, codes);
    Said said = flow_compile(MODEL ".pt2", data, "cortex-m4", out);
    assert_code(said, 0);
    assert_says(said.messages, "the calibration data of input inputs_0 are int8: taken as real");
    const json_t *input = json_array_get(json_object_get(flow_report(out), "inputs"), 0);
    const json_t *seen = json_object_get(input, "calibrated");
    assert_true(json_number_value(json_array_get(seen, 0)) == -100);
    assert_true(json_number_value(json_array_get(seen, 1)) == 99);
    assert_silent_on(flow_compile(MODEL ".pt2", MODEL ".npz", "cortex-m4", out).messages,
                     "taken as real");
}

static void odd_inputs_and_outputs_cross_the_boundary(void **state) {
    (void)state;
    const char **name;
    int count = folder_list(flow_c(), "flow/odd", &name), faults = 0, seen = 0;
    for (int i = 0; i < count; i++)
        if (text_ends_with(name[i], ".pt2")) {
            faults += check_odd(path_stem(flow_c(), name[i]));
            seen++;
        }
    assert_int_equal(faults, 0);
    assert_true(seen > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_axis_is_samples_and_a_leading_1_may_be_left_out),
        cmocka_unit_test(array_of_the_inputs_shape_is_one_sample_with_an_output_of_its_shape),
        cmocka_unit_test(numbers_of_other_types_are_converted),
        cmocka_unit_test(int8_arrays_are_taken_as_they_are),
        cmocka_unit_test(integers_to_calibrate_with_are_real_numbers_and_told_of),
        cmocka_unit_test(empty_and_misfitting_arrays_are_exit_3),
        cmocka_unit_test(folder_holds_a_sample_per_file_in_the_order_of_names),
        cmocka_unit_test(images_are_scaled_by_mean_and_std),
        cmocka_unit_test(image_for_another_kind_of_input_is_refused),
        cmocka_unit_test(arrays_go_by_name_by_position_or_in_the_files_order),
        cmocka_unit_test(missing_arrays_and_unlike_counts_are_reported),
        cmocka_unit_test(outputs_have_unique_names_and_keep_their_kinds),
        cmocka_unit_test(suffix_decides_between_npy_and_npz),
        cmocka_unit_test(raw_outputs_are_the_integers),
        cmocka_unit_test(state_starts_with_the_buffers_numbers_and_goes_on),
        cmocka_unit_test(integer_inputs_are_checked_and_used),
        cmocka_unit_test(odd_inputs_and_outputs_cross_the_boundary),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
