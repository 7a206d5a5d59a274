/* Memory that is taken over: row-wise execution changes memory and nothing else, so models give the
 * same bytes with strips and without; adds write over an operand, views need nothing. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const cpus[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};

/* Where it was compiled to. `ram`: 0, or what permits as few strips as that much memory. */
static const char *compiled_for(const char *optimize, const char *name, const char *cpu,
                                int64_t ram) {
    const char *data[] = {flow_text("flow/%s.npz", name)};
    const char *out = flow_path("%s_%d", cpu, ram > 0);
    CortenOptions o = {.model = flow_text("flow/%s.pt2", name),
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = cpu,
                       .out = out,
                       .ram = ram,
                       .optimize = optimize,
                       .io = "int8",
                       .io_layout = "nhwc",
                       .quiet = true};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static int64_t arena_of(const char *out) {
    return json_integer_value(json_object_get(flow_report(out), "arena_bytes"));
}

static const char *compiled(const char *name, const char *cpu, int64_t ram) {
    return compiled_for("speed", name, cpu, ram);
}

/* The source with strips; without them the results are the same and the arena is larger. */
static const char *strips_of(const char *name, const char *cpu) {
    const char *strips = compiled(name, cpu, 0), *whole = compiled(name, cpu, 1000000);
    const char *file = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    assert_silent_on(file_text(flow_text("%s/%s.c", whole, file)), "static void strip");
    if (arena_of(strips) >= arena_of(whole))
        fail_msg("%s on %s: %lld bytes with strips, %lld without", name, cpu,
                 (long long)arena_of(strips), (long long)arena_of(whole));
    const char *data = flow_text("flow/%s.npz", name);
    ArrayList a = flow_outputs(strips, data, NULL), b = flow_outputs(whole, data, NULL);
    if (flow_sqnr(a.item[0].array, b.item[0].array) < 300)
        fail_msg("%s on %s: strips give other results", name, cpu);
    return file_text(flow_text("%s/%s.c", strips, file));
}

static void strips_give_the_bytes_of_whole_images(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++)
        assert_says(strips_of("narrow", cpus[i]), "static void strip");
}

/* Rows of linear layers, also where the level has a kernel of its own for them. */
static void products_of_rows_run_in_strips(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++)
        assert_says(strips_of("in_place/tokens", cpus[i]), "static void strip");
}

static int taken_over(const char *out) {
    json_t *list = json_object_get(json_object_get(flow_report(out), "memory"), "buffers");
    size_t i;
    json_t *b;
    int count = 0;
    json_array_foreach(list, i, b) count += json_is_string(json_object_get(b, "overwrites"));
    return count;
}

/* Outputs over their inputs: where these begin if the kernel reads a block before it writes it,
 * else a few rows or pixels behind what is still read. */
static void a_call_alone_writes_over_its_input(void **state) {
    static const char *const models[] = {"in_place/pixels", "in_place/by_rows"};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(models); k++) {
        const char *data = flow_text("flow/%s.npz", models[k]);
        const char *apart = compiled(models[k], "cortex-m55", 1000000);
        assert_int_equal(taken_over(apart), 0);
        ArrayList want = flow_outputs(apart, data, NULL);
        for (size_t i = 0; i < COUNT_OF(cpus); i++) {
            const char *out = compiled(models[k], cpus[i], 0);
            ArrayList got = flow_outputs(out, data, NULL);
            if (taken_over(out) == 0 || arena_of(out) >= arena_of(apart))
                fail_msg("%s on %s: nothing is taken over", models[k], cpus[i]);
            if (flow_sqnr(got.item[0].array, want.item[0].array) < 300)
                fail_msg("%s on %s: other results than apart", models[k], cpus[i]);
        }
    }
}

/* On the DSP level each of these calls writes where its input begins. */
static void every_second_strip_in_one_memory_goes_upward(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++)
        if (strcmp(cpus[i], "cortex-m4") != 0)
            assert_says(strips_of("in_place/in_turns", cpus[i]), "from the bottom up");
}

/* The name of the buffer whose memory a buffer takes over; "": none. */
static const char *overwritten_by(const char *out, const char *name) {
    json_t *list = json_object_get(json_object_get(flow_report(out), "memory"), "buffers");
    size_t i;
    json_t *b;
    json_array_foreach(list, i, b) {
        const char *over = json_string_value(json_object_get(b, "overwrites"));
        if (strcmp(json_string_value(json_object_get(b, "name")), name) == 0)
            return over ? over : "";
    }
    return "";
}

/* For size, additions have a call of their own. */
static void a_residual_add_writes_over_an_operand(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *over =
            overwritten_by(compiled_for("size", "in_place/skip", cpus[i], 1000000), "relu_1");
        if (strcmp(over, "relu") != 0 && strcmp(over, "conv2d_1") != 0)
            fail_msg("%s: the sum takes over \"%s\"", cpus[i], over);
    }
}

static void views_and_slices_take_no_memory_and_no_call(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *out = compiled("in_place/views", cpus[i], 0);
        assert_int_equal(json_array_size(json_object_get(flow_report(out), "calls")), 3);
    }
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_give_the_bytes_of_whole_images),
        cmocka_unit_test(products_of_rows_run_in_strips),
        cmocka_unit_test(a_call_alone_writes_over_its_input),
        cmocka_unit_test(every_second_strip_in_one_memory_goes_upward),
        cmocka_unit_test(a_residual_add_writes_over_an_operand),
        cmocka_unit_test(views_and_slices_take_no_memory_and_no_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
