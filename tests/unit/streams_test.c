/* Models that run frame by frame and keep what they need in between (tools/make_streams.py): after
 * 480 frames of calibration, 840 frames in integers keep to torch's. */
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    const char *name, *pair; /* --state, if the caller carries it in torch */
    const char *wide;        /* an archive node of 16 bits ... */
    const char *reason;      /* ... and why, as the report has it */
    double least;            /* dB over all frames */
} Stream;

static const Stream streams[] = {
    /* an LSTM's two states in one tensor, magnitudes of a Fourier transform before it */
    {"vad", "1=1", "sqrt", "beside a table that makes most of small numbers", 24},
    /* a GRU's hidden state in a buffer */
    {"denoiser", NULL, NULL, NULL, 45},
    /* rings of frames before convolutions: moved, not added to, so 8 bits do */
    {"keyword", NULL, NULL, NULL, 36},
    /* a mean that follows slowly: steps of 8 bits would stop it */
    {"gain", NULL, "add_", "added to from run to run", 38},
};

static const char *frames_of(const Stream *s) {
    return flow_text("streams/%s.npz", s->name);
}

static const char *compiled(const Stream *s, const char *target) {
    const char *data[] = {flow_text("streams/%s_calib.npz", s->name)}, *pair[] = {s->pair};
    const char *out = flow_path("%s_%s", s->name, target);
    CortenOptions o = {.model = flow_text("streams/%s.pt2", s->name),
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = target,
                       .state = pair,
                       .state_count = s->pair ? 1 : 0,
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    return out;
}

static ArrayList streamed(const char *out, const char *frames) {
    const char *result = flow_path("streamed.npz");
    CortenOptions o = {.model = out, .input = frames, .out = result, .stream = true};
    assert_code(flow_run(corten_run, o), 0);
    return flow_arrays(result);
}

static const json_t *node_named(const json_t *report, const char *name) {
    size_t i;
    const json_t *node;
    json_array_foreach(json_object_get(report, "nodes"), i,
                       node) if (strcmp(json_string_value(json_object_get(node, "name")), name) ==
                                 0) return node;
    fail_msg("no node %s", name);
    return NULL;
}

static void streams_of_840_frames_keep_to_torch(void **state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof streams / sizeof *streams); i++) {
        const Stream *s = &streams[i];
        const char *out = compiled(s, "cortex-m55");
        ArrayList torch = flow_arrays(frames_of(s)), got = streamed(out, frames_of(s));
        double db = flow_sqnr(flow_array(&torch, "out0"), got.item[0].array);
        if (!(db > s->least))
            fail_msg("%s: %.1f dB, at least %.0f are needed", s->name, db, s->least);
        json_t *report = flow_report(out);
        assert_int_equal(json_integer_value(json_object_get(report, "float_nodes")), 0);
        assert_true(json_integer_value(json_object_get(report, "state_bytes")) > 0);
    }
}

static void states_that_are_added_to_have_16_bits(void **state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof streams / sizeof *streams); i++) {
        const Stream *s = &streams[i];
        json_t *report = flow_report(compiled(s, "cortex-m55"));
        if (!s->reason)
            continue;
        const json_t *node = node_named(report, s->wide);
        assert_string_equal(json_string_value(json_object_get(node, "numeric")), "int16");
        assert_string_equal(json_string_value(json_object_get(node, "numeric_reason")), s->reason);
    }
}

/* x - one + two, where `one` is x of the run before and `two` that of the run before it: next
 * values of states are an input and another state. */
static void inputs_can_be_the_next_values_of_states(void **state) {
    (void)state;
    const char *data[] = {"flow/delays.npz"}, *pairs[] = {"2=2", "inputs_1=inputs_0"};
    const char *out = flow_path("delays"), *frames = flow_path("frames.npy");
    CortenOptions o = {.model = "flow/delays.pt2",
                       .calibrate = data,
                       .calibrate_count = 1,
                       .target = "cortex-m55",
                       .state = pairs,
                       .state_count = 2,
                       .out = out};
    assert_code(flow_run(corten_compile, o), 0);
    ArrayList list = flow_arrays(data[0]);
    const Array *x = flow_array(&list, "in0");
    npy_write(flow_c(), frames, x);
    Array *want = array_new(flow_c(), DT_F32, x->rank, x->dim);
    for (int64_t i = 0, frame = 8; i < array_count(x); i++) {
        double one = i >= frame ? array_get(x, i - frame) : 0;
        double two = i >= 2 * frame ? array_get(x, i - 2 * frame) : 0;
        array_set(want, i, array_get(x, i) - one + two);
    }
    ArrayList got = streamed(out, frames);
    assert_true(flow_sqnr(want, got.item[0].array) > 25);
}

int main(void) {
    flow_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_of_840_frames_keep_to_torch),
        cmocka_unit_test(states_that_are_added_to_have_16_bits),
        cmocka_unit_test(inputs_can_be_the_next_values_of_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
