/* What is emitted, as a firmware takes it up: the languages and compilers that it is for, several
 * instances, steps and traces. */
#include "emit/names.h"
#include "flow/flow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define STRICT "-Wall -Wextra -Wpedantic -Wconversion -Werror"

static const char *const models[] = {"shared_silu_inplace", "lstm_stream", "squeeze_excite"};

/* A probe of tests/pains, compiled; once per program. */
static const char *compiled(const char *name, const char *cpu) {
    const char *out = flow_path("%s_%s", name, cpu);
    if (!file_exists(flow_text("%s/report.json", out)))
        flow_compiled(flow_text("pains/%s.pt2", name), flow_text("pains/%s.npz", name), cpu, out);
    return out;
}

static const char *const digits_folder = "../examples/digits_silu";

static const char *digits(const char *cpu) {
    const char *out = flow_path("digits_%s", cpu);
    if (!file_exists(flow_text("%s/report.json", out)))
        flow_compiled(flow_text("%s/digits_silu.pt2", digits_folder),
                      flow_text("%s/calib.npz", digits_folder), cpu, out);
    return out;
}

/* ---- languages and compilers --------------------------------------------------------------- */

static Said syntax(const char *compiler, const char *out, const char *source) {
    return flow_shell("%s " STRICT " -DCTN_EMULATE -I" CORTEN_RUNTIME
                      " -I%s -I%s/runtime -fsyntax-only %s",
                      compiler, out, out, source);
}

static void emitted_c_is_c99_and_c11_without_a_warning(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        const char *out = compiled(models[i], "cortex-m0plus");
        const char *source = flow_text("%s/%s.c", out, models[i]);
        const char *traced = flow_text("-D%s_TRACE", upper_name(flow_c(), models[i]));
        assert_code(syntax("cc -std=c99", out, source), 0);
        assert_code(syntax("cc -std=c11", out, source), 0);
        assert_code(syntax(flow_text("cc -std=c99 %s", traced), out, source), 0);
        assert_code(syntax("cc -std=c99", out, flow_text("%s/runtime/*.c", out)), 0);
    }
}

static void emitted_header_is_cxx_from_the_first_standard_on(void **state) {
    (void)state;
    if (!flow_has("c++"))
        skip();
    const char *out = compiled("lstm_stream", "cortex-m0plus"), *source = flow_path("user.cpp");
    text_write(source, "#include \"lstm_stream.h\"\n"
                       "int one_step(lstm_stream_t *m);\n"
                       "int one_step(lstm_stream_t *m) { return lstm_stream_step(m); }\n"
                       "int set_up(lstm_stream_t *m);\n"
                       "int set_up(lstm_stream_t *m) {\n"
                       "    return LSTM_STREAM_INIT(m, lstm_stream_arena, 0);\n}\n");
    assert_code(syntax("c++ -std=c++11 -DLSTM_STREAM_TRACE", out, source), 0);
    assert_code(syntax("c++ -std=c++17", out, source), 0);
}

typedef struct {
    const char *cpu, *flags;
} Core;

static const Core cores[] = {
    {"cortex-m0plus", "-mcpu=cortex-m0plus"},
    {"cortex-m3", "-mcpu=cortex-m3"},
    {"cortex-m4", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"},
    {"cortex-m7", "-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-sp-d16"},
    {"cortex-m33", "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16"},
    {"cortex-m55", "-mcpu=cortex-m55 -mfloat-abi=hard"},
};

/* clang counts the characters of assembly against a limit of C99 that no compiler has. */
static const char *const compilers[][2] = {
    {"arm-none-eabi-gcc -ffreestanding", ""},
    {"clang --target=arm-none-eabi -ffreestanding", "-Wno-overlength-strings"},
};

static void gcc_and_clang_compile_it_for_every_cpu(void **state) {
    (void)state;
    if (!flow_has("arm-none-eabi-gcc") || !flow_has("clang"))
        skip();
    for (size_t i = 0; i < COUNT_OF(cores); i++) {
        const char *out = digits(cores[i].cpu);
        for (size_t k = 0; k < COUNT_OF(compilers); k++)
            assert_code(flow_shell("mkdir -p %s/o && cd %s/o && %s " STRICT " %s %s -mthumb -O2 "
                                   "-std=c11 -I.. -I../runtime -c ../digits_silu.c ../runtime/*.c",
                                   out, out, compilers[k][0], compilers[k][1], cores[i].flags),
                        0);
    }
}

static void plain_c_alone_has_no_assembly_and_no_intrinsics(void **state) {
    (void)state;
    const char *out = flow_path("plain"), *data = flow_text("%s/calib.npz", digits_folder);
    CortenOptions o = {.model = flow_text("%s/digits_silu.pt2", digits_folder),
                       .calibrate = &data,
                       .calibrate_count = 1,
                       .target = "cortex-m55",
                       .isa = "c",
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    Said said = flow_shell("ls %s/runtime && cat %s/runtime/*.c", out, out);
    assert_silent_on(said.results, "__asm");
    assert_silent_on(said.results, "_mve");
    assert_code(syntax("cc -std=c99 -pedantic-errors -U__GNUC__ -Wno-builtin-declaration-mismatch",
                       out, flow_text("%s/runtime/*.c", out)),
                0);
    assert_code(flow_run(corten_verify, (CortenOptions){.model = out, .input = data, .limit = 2}),
                0);
}

/* ---- instances, steps, traces -------------------------------------------------------------- */

static Said run_program(const char *program, const char *out, const char *name, const char *more) {
    const char *exe = flow_path("%s_%s", name, program), *upper = upper_name(flow_c(), name);
    return flow_shell("cc -std=c11 -DCTN_EMULATE " STRICT " -g -I" CORTEN_RUNTIME
                      " -I%s -I%s/runtime %s -D%s_OWN_MEMORY -DMODEL_H='\"%s.h\"' -DMODEL=%s "
                      "-DARENA_BYTES=%s_ARENA_BYTES -DSTATE_BYTES=%s_STATE_BYTES "
                      "-DINPUT_BYTES=%s_INPUT0_BYTES -DOUTPUT_BYTES=%s_OUTPUT0_BYTES "
                      "flow/%s.c %s/%s.c %s/runtime/*.c -o %s && %s",
                      out, out, more, upper, name, name, upper, upper, upper, upper, program, out,
                      name, out, exe, exe);
}

static void stepped_instances_equal_whole_runs(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        const char *traced = flow_text("-D%s_TRACE", upper_name(flow_c(), models[i]));
        assert_code(run_program("steps", compiled(models[i], "cortex-m4"), models[i], traced), 0);
    }
    const char *out = digits("cortex-m55"); /* it has a strip */
    assert_says(file_text(flow_text("%s/digits_silu.c", out)), "static void strip");
    assert_code(run_program("steps", out, "digits_silu", "-DDIGITS_SILU_TRACE"), 0);
}

static void state_is_as_at_first_behind_a_reset(void **state) {
    (void)state;
    static const char *const streams[] = {"denoiser", "gain", "keyword"};
    assert_code(run_program("reset", compiled("lstm_stream", "cortex-m4"), "lstm_stream", ""), 0);
    int with_numbers = 0;
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        const char *out = flow_path("reset_%s", streams[i]);
        assert_non_null(flow_compiled(flow_text("streams/%s.pt2", streams[i]),
                                      flow_text("streams/%s_calib.npz", streams[i]), "cortex-m4",
                                      out));
        with_numbers +=
            strstr(file_text(flow_text("%s/%s.c", out, streams[i])), "initial0") != NULL;
        assert_code(run_program("reset", out, streams[i], ""), 0);
    }
    assert_true(with_numbers > 0); /* states that do not begin as zeros */
}

static const char *bound(const char *cpu) {
    const char *out = flow_path("bound_%s", cpu), *data = flow_text("%s/calib.npz", digits_folder);
    CortenOptions o = {.model = flow_text("%s/digits_silu.pt2", digits_folder),
                       .calibrate = &data,
                       .calibrate_count = 1,
                       .target = cpu,
                       .bind_inputs = true,
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static void inputs_of_two_buffers_take_turns(void **state) {
    (void)state;
    assert_code(run_program("buffers", bound("cortex-m4"), "digits_silu", ""), 0);
}

static void bound_inputs_are_outside_of_the_arena_and_agree_with_the_chip(void **state) {
    (void)state;
    const char *out = bound("cortex-m55");
    const json_t *report = flow_report(out), *other = flow_report(digits("cortex-m55"));
    assert_int_equal(json_integer_value(json_object_get(report, "input_bytes")), 64);
    assert_int_equal(json_integer_value(json_object_get(other, "input_bytes")), 0);
    if (!flow_has("qemu-system-arm") || !flow_has("arm-none-eabi-gcc"))
        skip();
    Said said =
        flow_run(corten_verify, (CortenOptions){.model = out,
                                                .input = flow_text("%s/test.npz", digits_folder),
                                                .limit = 4,
                                                .on = "qemu"});
    assert_code(said, 0);
    assert_says(said.results, "bit for bit: yes");
}

/* conv2d_1's rows are made within the strip of conv2d_2, which alone is counted. */
static void what_is_counted_for_a_strip_is_shared_by_its_calls(void **state) {
    (void)state;
    if (!flow_has("qemu-system-arm") || !flow_has("arm-none-eabi-gcc"))
        skip();
    CortenOptions o = {.model = digits("cortex-m55"),
                       .input = flow_text("%s/test.npz", digits_folder),
                       .limit = 1,
                       .on = "qemu",
                       .json = true};
    const json_t *found = json_object_get(flow_json(flow_run(corten_verify, o)), "instructions");
    json_int_t sum = 0, shared = 0;
    size_t i;
    json_t *call;
    json_array_foreach(json_object_get(found, "calls"), i, call) {
        json_int_t n = json_integer_value(json_object_get(call, "n"));
        assert_true(n > 500);
        shared += json_is_true(json_object_get(call, "shared"));
        sum += n;
    }
    assert_int_equal(shared, 4); /* two strips of two calls */
    assert_int_equal(sum, json_integer_value(json_object_get(found, "total")));
}

/* ---- a camera's bytes ---------------------------------------------------------------------- */

/* Two pictures, and a model whose input is (pixel / 255 - 128 / 255) / 0.5. */
static CortenOptions camera(const char *out) {
    static const char *data, *scale;
    data = flow_path("camera");
    scale = "input=0.00784313725,0";
    assert_code(
        flow_shell("mkdir -p %s && cp data/base/squares.png data/base/squares.jpg %s", data, data),
        0);
    return (CortenOptions){.model = "flow/image.pt2",
                           .calibrate = &data,
                           .calibrate_count = 1,
                           .input_scale = &scale,
                           .input_scale_count = 1,
                           .mean = "0.50196078431,0.50196078431,0.50196078431",
                           .std = "0.5,0.5,0.5",
                           .target = "cortex-m4",
                           .io = "uint8",
                           .io_layout = "nhwc",
                           .out = out};
}

/* The images of a folder, and the same as bytes, give the same integers; the chip gives them too.
 */
static void images_and_bytes_agree(const CortenOptions *o) {
    const char *out = o->out;
    Array *pixels = array_new(flow_c(), DT_U8, 4, (int64_t[]){2, 3, 8, 8});
    const char *const file[] = {"data/base/squares.jpg", "data/base/squares.png"};
    for (int i = 0; i < 2; i++)
        memcpy((char *)pixels->data + i * 192, image_read(flow_c(), file[i], 3, 8, 8)->data, 192);
    npy_write(flow_c(), flow_path("pixels.npy"), pixels);
    const char *of_images = flow_path("of_images.npy"), *of_pixels = flow_path("of_pixels.npy");
    CortenOptions run = {.model = out, .input = *o->calibrate, .out = of_images, .raw = true};
    assert_code(flow_run(corten_run, run), 0);
    CortenOptions bytes = {
        .model = out, .input = flow_path("pixels.npy"), .out = of_pixels, .raw = true};
    assert_code(flow_run(corten_run, bytes), 0);
    const Array *a = flow_arrays(of_images).item[0].array,
                *b = flow_arrays(of_pixels).item[0].array;
    assert_int_equal(array_count(a), array_count(b));
    assert_memory_equal(a->data, b->data, (size_t)array_bytes(a));

    if (!flow_has("qemu-system-arm") || !flow_has("arm-none-eabi-gcc"))
        skip();
    Said said = flow_run(corten_verify,
                         (CortenOptions){.model = out, .input = *o->calibrate, .on = "qemu"});
    assert_code(said, 0);
    assert_says(said.results, "bit for bit: yes");
}

static void bytes_of_a_camera_come_from_a_folder_of_images_to_the_chip(void **state) {
    (void)state;
    CortenOptions o = camera(flow_path("camera_out"));
    assert_code(flow_run(corten_compile, o), 0);
    const json_t *input = json_array_get(json_object_get(flow_report(o.out), "inputs"), 0);
    assert_string_equal(json_string_value(json_object_get(input, "dtype")), "uint8");
    assert_int_equal(json_integer_value(json_object_get(input, "zero_point")), 128);
    assert_says(file_text(flow_text("%s/image.h", o.out)), "static inline uint8_t *image_input0");
    images_and_bytes_agree(&o);
}

static double float_db(const char *out, const char *data) {
    CortenOptions o = {.model = out, .input = data, .json = true};
    Said said = flow_run(corten_verify, o);
    assert_code(said, 0);
    json_t *root = json_loads(said.results, 0, NULL);
    double db = json_real_value(json_array_get(json_object_get(root, "output_sqnr_db"), 0));
    json_decref(root);
    return db;
}

static const char *const per_channel[] = {"0.485,0.456,0.406", "0.229,0.224,0.225"};

static CortenOptions camera_per_channel(const char *model, const char *out) {
    CortenOptions o = camera(out);
    static const char *pixels = "input=pixels";
    o.model = model;
    o.input_scale = &pixels;
    o.mean = per_channel[0];
    o.std = per_channel[1];
    return o;
}

/* conv(w, (x - mean) / std): the weights take both, and the input's bytes lose nothing. */
static void mean_and_std_per_channel_go_into_the_first_layer(void **state) {
    (void)state;
    CortenOptions o = camera_per_channel("flow/image.pt2", flow_path("pixels_out"));
    assert_code(flow_run(corten_compile, o), 0);
    const json_t *report = flow_report(o.out), *calls = json_object_get(report, "calls");
    const json_t *input = json_array_get(json_object_get(report, "inputs"), 0);
    assert_true(fabs(json_real_value(json_object_get(input, "scale")) * 255 - 1) < 1e-9);
    assert_int_equal(json_integer_value(json_object_get(input, "zero_point")), 0);
    assert_int_equal(json_array_size(calls), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(calls, 1), "name")),
                        "conv2d");
    images_and_bytes_agree(&o);
    assert_true(float_db(o.out, *o.calibrate) > 40);
}

/* Padding is the zero of what is normalized, which is another byte for each channel. */
static void padding_is_put_around_the_normalized_image(void **state) {
    (void)state;
    CortenOptions o = camera_per_channel("flow/image_padded.pt2", flow_path("padded_out"));
    assert_code(flow_run(corten_compile, o), 0);
    assert_int_equal(json_array_size(json_object_get(flow_report(o.out), "calls")), 4);
    images_and_bytes_agree(&o);
    assert_true(float_db(o.out, *o.calibrate) > 40);
}

/* Arrays as the archive's model takes them, normalized, mean the same. */
static void normalized_arrays_are_the_bytes_they_came_from(void **state) {
    (void)state;
    CortenOptions o = camera_per_channel("flow/image.pt2", flow_path("pixels_out"));
    const Array *pixels = image_read(flow_c(), "data/base/squares.png", 3, 8, 8);
    Array *real = array_new(flow_c(), DT_F32, 4, (int64_t[]){1, 3, 8, 8});
    static const double mean[] = {0.485, 0.456, 0.406}, std[] = {0.229, 0.224, 0.225};
    for (int64_t i = 0; i < 192; i++)
        array_set(real, i, (array_get(pixels, i) / 255 - mean[i / 64]) / std[i / 64]);
    npy_write(flow_c(), flow_path("normalized.npy"), real);
    const char *of_images = flow_path("of_images.npy"), *of_real = flow_path("of_real.npy");
    assert_code(flow_run(corten_compile, o), 0);
    CortenOptions run = {.model = o.out, .input = "data/base/squares.png", .out = of_images};
    assert_code(flow_run(corten_run, run), 0);
    run.input = flow_path("normalized.npy");
    run.out = of_real;
    assert_code(flow_run(corten_run, run), 0);
    const Array *a = flow_arrays(of_images).item[0].array, *b = flow_arrays(of_real).item[0].array;
    assert_int_equal(array_count(a), array_count(b));
    assert_memory_equal(a->data, b->data, (size_t)array_bytes(a));
}

static void pixels_are_of_pictures_and_bytes_of_no_picture_are_named(void **state) {
    (void)state;
    CortenOptions o = camera_per_channel("flow/image.pt2", flow_path("pixels_no"));
    o.mean = o.std = "0.5,0.5";
    Said said = flow_run(corten_compile, o);
    assert_code(said, 2);
    assert_says(said.messages, "as many numbers of --mean and --std");
    o = camera_per_channel("flow/image.pt2", flow_path("pixels_no"));
    o.input_scale_count = 0;
    said = flow_run(corten_compile, o);
    assert_code(said, 0);
    assert_says(said.messages, "--input-scale input=pixels");
}

static void trace_leaves_nothing_behind_when_it_is_off(void **state) {
    (void)state;
    if (!flow_has("arm-none-eabi-gcc"))
        skip();
    const char *out = digits("cortex-m4");
    Said said =
        flow_shell("arm-none-eabi-gcc %s -mthumb -O2 -ffreestanding -I%s/runtime -c "
                   "%s/digits_silu.c -o %s && arm-none-eabi-nm %s",
                   cores[2].flags, out, out, flow_path("untraced.o"), flow_path("untraced.o"));
    assert_code(said, 0);
    assert_says(said.results, "digits_silu_step");
    assert_silent_on(said.results, "trace");
    assert_silent_on(said.results, "call_info");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emitted_c_is_c99_and_c11_without_a_warning),
        cmocka_unit_test(emitted_header_is_cxx_from_the_first_standard_on),
        cmocka_unit_test(gcc_and_clang_compile_it_for_every_cpu),
        cmocka_unit_test(plain_c_alone_has_no_assembly_and_no_intrinsics),
        cmocka_unit_test(stepped_instances_equal_whole_runs),
        cmocka_unit_test(state_is_as_at_first_behind_a_reset),
        cmocka_unit_test(inputs_of_two_buffers_take_turns),
        cmocka_unit_test(bound_inputs_are_outside_of_the_arena_and_agree_with_the_chip),
        cmocka_unit_test(what_is_counted_for_a_strip_is_shared_by_its_calls),
        cmocka_unit_test(bytes_of_a_camera_come_from_a_folder_of_images_to_the_chip),
        cmocka_unit_test(mean_and_std_per_channel_go_into_the_first_layer),
        cmocka_unit_test(padding_is_put_around_the_normalized_image),
        cmocka_unit_test(normalized_arrays_are_the_bytes_they_came_from),
        cmocka_unit_test(pixels_are_of_pictures_and_bytes_of_no_picture_are_named),
        cmocka_unit_test(trace_leaves_nothing_behind_when_it_is_off),
    };
    flow_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
