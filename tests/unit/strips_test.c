/* What the planner may change: row-wise execution, the order of calls and values that are produced
 * in place change memory and nothing else, so models give the same bytes with and without; adds
 * write over an operand, views need nothing. */
#include "flow/flow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const cpus[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};

#define MUCH 1000000

static const char *out_of(const char *cpu, int64_t ram) {
    return flow_path("%s_%lld", cpu, (long long)ram);
}

/* `ram`: 0, or as much memory as a plan may take. */
static Said compile_for(const char *optimize, const char *name, const char *cpu, int64_t ram) {
    const char *data[] = {flow_text("flow/%s.npz", name)};
    CortenOptions o = {.model = flow_text("flow/%s.pt2", name),
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = cpu,
                       .out = out_of(cpu, ram),
                       .ram = ram,
                       .optimize = optimize,
                       .io = "int8",
                       .io_layout = "nhwc",
                       .quiet = true};
    return flow_run(corten_compile, o);
}

/* Where it was compiled to. */
static const char *compiled_for(const char *optimize, const char *name, const char *cpu,
                                int64_t ram) {
    assert_code(compile_for(optimize, name, cpu, ram), 0);
    return out_of(cpu, ram);
}

/* The least memory of any plan, which whoever asks for too little is told. */
static int64_t least_told(Said refusal) {
    assert_code(refusal, 1);
    const char *needs = strstr(refusal.messages, "needs ");
    assert_non_null(needs);
    return strtoll(needs + strlen("needs "), NULL, 10);
}

static int64_t least_of(const char *name, const char *cpu) {
    return least_told(compile_for("speed", name, cpu, 1));
}

static int64_t arena_of(const char *out) {
    return json_integer_value(json_object_get(flow_report(out), "arena_bytes"));
}

static const char *compiled(const char *name, const char *cpu, int64_t ram) {
    return compiled_for("speed", name, cpu, ram);
}

/* The source of the least memory, with strips; without them the results are the same and the arena
 * is larger. */
static const char *strips_of(const char *name, const char *cpu) {
    const char *strips = compiled(name, cpu, least_of(name, cpu));
    const char *whole = compiled(name, cpu, MUCH);
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
        const char *apart = compiled(models[k], "cortex-m55", MUCH);
        assert_int_equal(taken_over(apart), 0);
        ArrayList want = flow_outputs(apart, data, NULL);
        for (size_t i = 0; i < COUNT_OF(cpus); i++) {
            const char *out = compiled(models[k], cpus[i], least_of(models[k], cpus[i]));
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
            overwritten_by(compiled_for("size", "in_place/skip", cpus[i], MUCH), "relu_1");
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

/* compile measures with every value in a place of its own, where copies join them; verify runs the
 * plan: what they find is the same only if all results are. */
static void assert_plan_computes_what_was_measured(const char *out, const char *data) {
    CortenOptions o = {.model = out, .input = data, .json = true};
    const json_t *found = flow_json(flow_run(corten_verify, o));
    double planned = json_real_value(json_array_get(json_object_get(found, "output_sqnr_db"), 0));
    const json_t *output = json_array_get(json_object_get(flow_report(out), "outputs"), 0);
    double measured = json_real_value(json_object_get(output, "sqnr_db"));
    if (!(planned > 0) || fabs(planned - measured) > 1e-6)
        fail_msg("%s: %.9f dB measured, %.9f dB as planned", out, measured, planned);
}

static json_t *calls_verified(const char *out, const char *data) {
    CortenOptions o = {.model = out, .input = data, .json = true};
    return json_deep_copy(json_object_get(flow_json(flow_run(corten_verify, o)), "calls_sqnr"));
}

/* Also where a call's result exists a few rows at a time only, downward or upward. */
static void verify_tells_each_calls_accuracy_in_strips(void **state) {
    static const char *const models[] = {"narrow", "in_place/in_turns"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models) * COUNT_OF(cpus); i++) {
        const char *name = models[i % COUNT_OF(models)], *cpu = cpus[i / COUNT_OF(models)];
        const char *data = flow_text("flow/%s.npz", name);
        json_t *whole = calls_verified(compiled(name, cpu, MUCH), data);
        json_t *rows = calls_verified(compiled(name, cpu, least_of(name, cpu)), data);
        assert_true(json_array_size(whole) > 1);
        if (!json_equal(whole, rows))
            fail_msg("%s on %s: whole\n%s\nin strips\n%s", name, cpu,
                     json_dumps(whole, JSON_INDENT(1)), json_dumps(rows, JSON_INDENT(1)));
        json_decref(whole);
        json_decref(rows);
    }
}

static int64_t scratch_of(const char *out, const char *name) {
    size_t i;
    json_t *call;
    json_array_foreach(json_object_get(flow_report(out), "calls"), i, call) {
        if (strcmp(json_string_value(json_object_get(call, "name")), name) == 0)
            return json_integer_value(json_object_get(call, "scratch_bytes"));
    }
    return 0;
}

/* A product's rows are read while its results are written: those lie some rows below. */
static void a_product_of_activations_writes_over_its_left_side(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *out = compiled("in_place/scores", cpus[i], 0);
        if (strcmp(cpus[i], "cortex-m4") != 0) {       /* which expands either side first */
            int64_t apart = 2 * 13 * 48 + 13 * 13 * 2; /* both sides and the result */
            assert_string_equal(overwritten_by(out, "matmul"), "linear");
            assert_true(arena_of(out) - scratch_of(out, "matmul") < apart);
        }
        assert_plan_computes_what_was_measured(out, "flow/in_place/scores.npz");
    }
}

static void parts_of_a_cat_are_written_where_they_belong(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *out = compiled("in_place/joined", cpus[i], 0);
        const json_t *calls = json_object_get(flow_report(out), "calls");
        assert_int_equal(json_array_size(calls), 4); /* conv, conv, conv1d, mean */
        assert_silent_on(file_text(flow_text("%s/joined.c", out)), "ctn_copy");
        assert_plan_computes_what_was_measured(out, "flow/in_place/joined.npz");
    }
}

/* Wide values have 512 bytes, the others 16: with both wide ones alive there would be 1,040. One
 * after the other, beside a wide one live its input or what the other branch gave, and its result.
 */
static void branches_run_one_after_the_other(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cpus); i++) {
        const char *out = compiled("in_place/branches", cpus[i], 0);
        assert_int_equal(arena_of(out), 512 + 16 + 16);
        assert_plan_computes_what_was_measured(out, "flow/in_place/branches.npz");
    }
}

static int64_t instructions_of(const char *out) {
    return json_integer_value(json_object_get(flow_report(out), "instructions_estimate"));
}

static void more_memory_never_makes_a_plan_slower(void **state) {
    static const char *const models[] = {"narrow", "in_place/in_turns"};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(models) * COUNT_OF(cpus); k++) {
        const char *name = models[k % COUNT_OF(models)], *cpu = cpus[k / COUNT_OF(models)];
        int64_t least = least_of(name, cpu);
        int64_t most = arena_of(compiled(name, cpu, MUCH)), before = INT64_MAX;
        assert_true(least < most);
        for (int64_t ram = least; ram <= most; ram += (most - least) / 16 + 1) {
            const char *out = compiled(name, cpu, ram);
            int64_t now = instructions_of(out);
            if (arena_of(out) > ram || now > before)
                fail_msg("%s on %s in %lld bytes: arena %lld, %lld instructions, %lld with less",
                         name, cpu, (long long)ram, (long long)arena_of(out), (long long)now,
                         (long long)before);
            before = now;
        }
        assert_true(before >= instructions_of(compiled(name, cpu, MUCH)));
    }
}

static double of_all(const json_t *list, const char *key) {
    size_t i;
    json_t *o;
    double sum = 0;
    json_array_foreach(list, i, o) sum += json_number_value(json_object_get(o, key));
    return sum;
}

/* Where nothing was said of memory strips cost little; where it was, the report says how much. */
static void strips_say_what_they_cost(void **state) {
    (void)state;
    for (size_t k = 0; k < 2 * COUNT_OF(cpus); k++) {
        const char *cpu = cpus[k / 2];
        bool free = k % 2 == 0;
        json_t *report = flow_report(compiled("narrow", cpu, free ? 0 : least_of("narrow", cpu)));
        const json_t *strips = json_object_get(report, "strips");
        double calls = of_all(json_object_get(report, "calls"), "instructions_estimate");
        double cost = of_all(strips, "instructions_estimate");
        double whole = of_all(strips, "instructions_whole_estimate");
        assert_true(free || json_array_size(strips) > 0);
        assert_true(cost >= whole && calls - cost >= 0);
        assert_true(!free || calls <= 1.05 * (calls - cost + whole));
        assert_true(of_all(strips, "rows_recomputed") == 0); /* rings keep them */
        assert_true(of_all(strips, "ring_bytes") <= of_all(strips, "value_bytes"));
    }
    int64_t least = least_of("narrow", "cortex-m3");
    const json_t *strips =
        json_object_get(flow_report(compiled("narrow", "cortex-m3", least)), "strips");
    assert_true(of_all(strips, "bytes_moved") > 0);
    CortenOptions o = {.model = out_of("cortex-m3", least)};
    assert_says(flow_run(corten_report, o).results, "more instructions");
}

static void memory_that_no_plan_needs_is_refused(void **state) {
    (void)state;
    int64_t least = 512 + 16 + 16;
    const char *data[] = {"flow/in_place/branches.npz"};
    CortenOptions o = {.model = "flow/in_place/branches.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .io = "int8",
                       .ram = least - 1};
    o.out = flow_path("refused");
    Said said = flow_run(corten_compile, o);
    assert_code(said, 1);
    assert_says(said.messages, "needs 544 bytes, 543 were allowed");
    assert_says(said.messages, "relu");
}

static void a_refusal_names_the_least_memory_of_all_plans(void **state) {
    (void)state;
    const char *data[] = {flow_first("../examples/digits_silu/calib.npz", 8)};
    CortenOptions o = {.model = "../examples/digits_silu/digits_silu.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m4",
                       .io = "int8",
                       .out = flow_path("least"),
                       .ram = 1};
    int64_t least = least_told(flow_run(corten_compile, o));
    o.ram = least - 1;
    assert_int_equal(least_told(flow_run(corten_compile, o)), least);
    o.ram = least;
    assert_code(flow_run(corten_compile, o), 0);
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strips_give_the_bytes_of_whole_images),
        cmocka_unit_test(products_of_rows_run_in_strips),
        cmocka_unit_test(verify_tells_each_calls_accuracy_in_strips),
        cmocka_unit_test(a_call_alone_writes_over_its_input),
        cmocka_unit_test(every_second_strip_in_one_memory_goes_upward),
        cmocka_unit_test(a_residual_add_writes_over_an_operand),
        cmocka_unit_test(views_and_slices_take_no_memory_and_no_call),
        cmocka_unit_test(a_product_of_activations_writes_over_its_left_side),
        cmocka_unit_test(parts_of_a_cat_are_written_where_they_belong),
        cmocka_unit_test(branches_run_one_after_the_other),
        cmocka_unit_test(more_memory_never_makes_a_plan_slower),
        cmocka_unit_test(strips_say_what_they_cost),
        cmocka_unit_test(memory_that_no_plan_needs_is_refused),
        cmocka_unit_test(a_refusal_names_the_least_memory_of_all_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
