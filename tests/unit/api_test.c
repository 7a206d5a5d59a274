/* The library as other programs call it: archives and arrays in memory, callbacks instead of files
 * and streams, a model that is held and run again and again, and stopping midway. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MODEL "pains/shared_silu_inplace"

typedef struct {
    int errors, warnings, progress_calls, stop_after, outputs;
    const char *message, *node, *text;
    Array *output[4];
} Seen;

static void on_diagnostic(void *user, const CortenDiagnostic *d) {
    Seen *seen = user;
    if (d->code == 0) {
        seen->warnings++;
        return;
    }
    seen->errors++;
    seen->message = flow_text("%s", d->message);
    if (d->node)
        seen->node = flow_text("%s", d->node);
}

static bool on_progress(void *user, const char *what, double fraction) {
    Seen *seen = user;
    assert_non_null(what);
    assert_true(fraction >= 0 && fraction <= 1);
    return ++seen->progress_calls != seen->stop_after;
}

static void on_result(void *user, const char *text, size_t bytes) {
    ((Seen *)user)->text = flow_text("%.*s", (int)bytes, text);
}

static void on_output(void *user, const CortenArray *a) {
    Seen *seen = user;
    Array *copy = array_new(flow_c(), dtype_from_name(a->dtype), a->rank, a->dim);
    memcpy(copy->data, a->data, (size_t)array_bytes(copy));
    seen->output[seen->outputs++] = copy;
}

static CortenOptions options(Seen *seen) {
    return (CortenOptions){.user = seen,
                           .diagnostic = on_diagnostic,
                           .progress = on_progress,
                           .result = on_result,
                           .output = on_output};
}

static CortenArray told(const Array *a) {
    return (CortenArray){NULL, dtype_name(a->dtype), a->rank, a->dim, a->data};
}

static const Array *images(const char *model) {
    ArrayList list = flow_arrays(flow_text("%s.npz", model));
    return flow_array(&list, "in0");
}

static void same_bytes(const Array *a, const Array *b) {
    assert_int_equal(array_bytes(a), array_bytes(b));
    assert_memory_equal(a->data, b->data, (size_t)array_bytes(a));
}

static CortenOptions from_memory(Seen *seen, const char *out, CortenArrays *set, CortenArray *in) {
    CortenOptions o = options(seen);
    size_t bytes;
    o.archive_data = file_read(flow_c(), MODEL ".pt2", &bytes);
    o.archive_bytes = bytes;
    o.model = "shared_silu_inplace.pt2";
    o.target = "cortex-m4";
    o.out = out;
    *in = told(images(MODEL));
    *set = (CortenArrays){1, in};
    o.calibrate_data = set;
    o.calibrate_data_count = 1;
    return o;
}

static void a_compile_from_memory_gives_what_files_give(void **state) {
    (void)state;
    Seen seen = {0};
    CortenArrays set;
    CortenArray in;
    const char *of_files = flow_path("of_files"), *of_memory = flow_path("of_memory");
    CortenOptions o = from_memory(&seen, of_memory, &set, &in);
    assert_int_equal(corten_compile(&o), 0);
    assert_int_equal(seen.errors, 0);
    assert_true(seen.progress_calls > 10);
    assert_says(seen.text, "conv");
    assert_non_null(flow_compiled(MODEL ".pt2", MODEL ".npz", "cortex-m4", of_files));
    const char *name = "shared_silu_inplace.c";
    assert_string_equal(file_text(flow_text("%s/%s", of_files, name)),
                        file_text(flow_text("%s/%s", of_memory, name)));
    /* The archive lies with the model, so that float runs find it wherever the folder goes. */
    const char *moved = flow_path("moved");
    assert_code(flow_shell("mv %s %s", of_memory, moved), 0);
    CortenOptions verify = options(&seen);
    verify.model = moved;
    verify.input = MODEL ".npz";
    verify.json = true;
    assert_int_equal(corten_verify(&verify), 0);
    assert_says(seen.text, "output_sqnr_db");
}

static void diagnostics_come_with_node_and_code(void **state) {
    (void)state;
    Seen seen = {0};
    CortenOptions o = options(&seen);
    o.model = "flow/several_faults.pt2";
    o.target = "cortex-m4";
    o.out = flow_path("faults");
    assert_int_equal(corten_compile(&o), 1);
    assert_true(seen.errors > 1);
    assert_non_null(seen.node);
    assert_null(seen.text);
}

static void progress_stops_a_compile_and_nothing_is_written(void **state) {
    (void)state;
    const char *out = flow_path("stopped");
    for (int after = 1; after < 40; after += 3) {
        Seen seen = {.stop_after = after};
        CortenArrays set;
        CortenArray in;
        CortenOptions o = from_memory(&seen, out, &set, &in);
        o.threads = 2;
        int code = corten_compile(&o);
        if (seen.progress_calls < after) {
            assert_int_equal(code, 0);
            return;
        }
        assert_int_equal(code, 130);
        assert_false(file_exists(out));
    }
    fail_msg("a compile that always stops");
}

static void a_model_runs_again_and_again(void **state) {
    (void)state;
    Seen seen = {0};
    const char *out = flow_path("held");
    assert_non_null(flow_compiled(MODEL ".pt2", MODEL ".npz", "cortex-m4", out));
    CortenOptions o = options(&seen);
    o.model = out;
    CortenModel *model;
    assert_int_equal(corten_model_load(&o, &model), 0);
    ArrayList whole = flow_outputs(out, MODEL ".npz", "host");
    CortenArray in = told(images(MODEL));
    CortenArrays set = {1, &in};
    o.input_data = &set;
    o.input_data_count = 1;
    for (int k = 0; k < 3; k++) {
        seen.outputs = 0;
        assert_int_equal(corten_model_run(model, &o), 0);
        assert_int_equal(seen.outputs, whole.count);
        same_bytes(seen.output[0], whole.item[0].array);
    }
    corten_model_free(model);
}

static void state_goes_on_until_it_is_reset(void **state) {
    (void)state;
    Seen seen = {0};
    const char *out = flow_path("counting");
    assert_non_null(flow_compiled("flow/counter.pt2", "flow/counter.npz", "cortex-m4", out));
    ArrayList data = flow_arrays("flow/counter.npz");
    ArrayList whole = flow_outputs(out, "flow/counter.npz", "host");
    const Array *all = data.item[0].array, *stream = whole.item[0].array;
    CortenOptions o = options(&seen);
    o.model = out;
    CortenModel *model;
    assert_int_equal(corten_model_load(&o, &model), 0);
    int64_t samples = stream->dim[0], bytes = array_bytes(stream) / samples;
    for (int round = 0; round < 2; round++) {
        for (int64_t s = 0; s < samples; s++) {
            CortenArray one = told(all);
            int64_t dim[MAX_RANK];
            memcpy(dim, all->dim, sizeof dim);
            dim[0] = 1;
            one.dim = dim;
            one.data = (const char *)all->data + s * (array_bytes(all) / samples);
            CortenArrays set = {1, &one};
            o.input_data = &set;
            o.input_data_count = 1;
            seen.outputs = 0;
            assert_int_equal(corten_model_run(model, &o), 0);
            assert_memory_equal(seen.output[0]->data, (const char *)stream->data + s * bytes,
                                (size_t)bytes);
        }
        corten_model_reset(model);
    }
    corten_model_free(model);
}

static void arrays_that_are_none_are_refused(void **state) {
    (void)state;
    Seen seen = {0};
    int64_t dim[9] = {-1};
    const CortenArray wrong[] = {{"x", "complex64", 1, dim, dim},
                                 {"x", NULL, 1, dim, dim},
                                 {"x", "float32", 9, dim, dim},
                                 {"x", "float32", 1, dim, dim},
                                 {"x", "float32", 0, dim, NULL}};
    const char *out = flow_path("of_files_too");
    assert_non_null(flow_compiled(MODEL ".pt2", MODEL ".npz", "cortex-m4", out));
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CortenArrays set = {1, &wrong[i]};
        CortenOptions o = options(&seen);
        o.model = out;
        o.input_data = &set;
        o.input_data_count = 1;
        seen.errors = 0;
        assert_int_equal(corten_run(&o), 2);
        assert_int_equal(seen.errors, 1);
    }
}

static void an_archive_in_memory_may_be_anything(void **state) {
    (void)state;
    size_t bytes;
    const char *whole = file_read(flow_c(), MODEL ".pt2", &bytes);
    for (size_t cut = 0; cut < bytes; cut += bytes / 7) {
        Seen seen = {0};
        CortenOptions o = options(&seen);
        o.model = "cut.pt2";
        o.archive_data = whole;
        o.archive_bytes = cut;
        assert_int_equal(corten_inspect(&o), 3);
        assert_int_equal(seen.errors, 1);
    }
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compile_from_memory_gives_what_files_give),
        cmocka_unit_test(diagnostics_come_with_node_and_code),
        cmocka_unit_test(progress_stops_a_compile_and_nothing_is_written),
        cmocka_unit_test(a_model_runs_again_and_again),
        cmocka_unit_test(state_goes_on_until_it_is_reset),
        cmocka_unit_test(arrays_that_are_none_are_refused),
        cmocka_unit_test(an_archive_in_memory_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
