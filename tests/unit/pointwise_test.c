/* What the chip computes for the fixtures of pointwise operators: each is compiled with its own
 * inputs as calibration data and run in the simulator. Against the float model on the inputs as
 * the chip sees them (quantized), the result is off by at most half a step of its grid for a single
 * kernel or table, a step for operators taken apart in two; integers and bools are equal. */
#include "flow/fixture.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"
#include "lower/lower.h"
#include "run/run.h"

enum { MAX_ARRAYS = 8 };

typedef struct {
    const char *folder, *name;
    bool ran;
    double worst; /* steps of the output's grid; plain numbers: of 1 */
    int kernels;  /* calls made */
} Outcome;

static const Grid *input_grid(const Graph *g, int k) {
    return g->input[k].kind == ARG_VALUE ? g->input[k].u.value->grid : NULL;
}

/* Outputs of the archive in float for the inputs as quantized. */
static void run_reference(C *c, const char *path, const Graph *g, Array **input, Array **output) {
    Graph *model = import_pt2(c, path);
    Options options = {0};
    PipelineControl control = {.stop_after = "functionalize"};
    pipeline_run(c, model, &options, &control);
    Array *seen[MAX_ARRAYS] = {0};
    for (int k = 0; k < g->input_count; k++) {
        const Grid *grid = input_grid(g, k);
        seen[k] = grid ? dequantize_array(c, quantize_array(c, input[k], grid), grid) : input[k];
    }
    run_float(c, model, seen, output);
}

static double clamp_to_grid(const Grid *grid, double x) {
    double low = grid->part[0].scale * (-128 - grid->part[0].zero_point);
    double high = grid->part[0].scale * (127 - grid->part[0].zero_point);
    return x < low ? low : x > high ? high : x;
}

static double difference(C *c, const Value *v, const Array *want, const Array *got) {
    double worst = 0, step = 1;
    if (v->grid) {
        step = v->grid->part[0].scale;
        got = dequantize_array(c, got, v->grid);
    }
    assert_int_equal(array_count(want), array_count(got));
    for (int64_t i = 0; i < array_count(want); i++) {
        double x = array_get(want, i);
        if (v->grid)
            x = clamp_to_grid(v->grid, x);
        worst = fmax(worst, fabs(x - array_get(got, i)) / step);
    }
    return worst;
}

static void fixture_run(C *c, void *user) {
    Outcome *o = user;
    const char *path = c_format(c, "op/%s/%s.pt2", o->folder, o->name);
    ArrayList arrays = npz_read(c, c_format(c, "op/%s/%s.npz", o->folder, o->name));
    Graph *g = import_pt2(c, path);
    Array *input[MAX_ARRAYS] = {0}, *want[MAX_ARRAYS] = {0}, *got[MAX_ARRAYS] = {0};
    assert_true(g->input_count <= MAX_ARRAYS && g->output_count == 1);
    for (int k = 0; k < g->input_count; k++)
        input[k] = fixture_array(c, &arrays, "in", k);
    Array **sample = input;
    Options options = {.cpu = cpu_find("cortex-m55"),
                       .isa = "mve",
                       .sample_count = 1,
                       .sample = &sample,
                       .threads = 1};
    PipelineControl control = {0};
    pipeline_run(c, g, &options, &control);
    diag_stop_if_errors(c);
    run_reference(c, path, g, input, want);
    Simulator *s = simulator_new(c, g);
    simulator_run(c, s, input, got);
    o->worst = difference(c, g->output[0].u.value, want[0], got[0]);
    o->kernels = g->call_count;
    o->ran = true;
    simulator_free(s);
}

/* Fixtures of the operator whose case fits the pattern. What cannot be compiled is a failure. */
static void check_operator(const char *op, const char *pattern, double limit) {
    char folder[256];
    snprintf(folder, sizeof folder, "op/%s", op);
    struct dirent **entry;
    int count = scandir(folder, &entry, NULL, alphasort), ran = 0;
    for (int i = 0; i < count; i++) {
        char *dot = strstr(entry[i]->d_name, ".pt2");
        if (dot) {
            *dot = 0;
            Outcome o = {.folder = op, .name = entry[i]->d_name};
            if (glob_match(pattern, o.name)) {
                C *c = c_new();
                c_try(c, fixture_run, &o);
                if (!o.ran)
                    diag_print(c, stderr, false, true);
                c_free(c);
                if (!o.ran || o.worst > limit)
                    fail_msg("%s/%s: %g steps off", op, o.name, o.ran ? o.worst : INFINITY);
                ran++;
            }
        }
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    if (ran == 0)
        fail_msg("%s has no case %s", op, pattern);
}

/* Ties: the float reference is rounded to float32 before it is compared. */
#define HALF 0.501

static void kernels_of_two_operands_round_once(void **state) {
    (void)state;
    static const char *const ops[] = {"add.Tensor",
                                      "sub.Tensor",
                                      "rsub.Tensor",
                                      "mul.Tensor",
                                      "div.Tensor",
                                      "maximum",
                                      "minimum",
                                      "fmax",
                                      "fmin",
                                      "max.other",
                                      "min.other",
                                      "atan2",
                                      "hypot",
                                      "floor_divide",
                                      "fmod.Tensor",
                                      "logaddexp",
                                      "copysign.Tensor",
                                      "heaviside",
                                      "pow.Tensor_Tensor",
                                      "ldexp.Tensor",
                                      "remainder.Tensor"};
    for (size_t k = 0; k < COUNT_OF(ops); k++) {
        bool power = text_equal(ops[k], "pow.Tensor_Tensor");
        check_operator(ops[k], power ? "float" : "broadcast", HALF);
    }
    static const char *const twins[] = {"add.Tensor", "sub.Tensor",  "mul.Tensor",
                                        "div.Tensor", "fmod.Tensor", "atan2"};
    for (size_t k = 0; k < COUNT_OF(twins); k++)
        check_operator(twins[k], "*inplace", HALF);
}

static void tables_of_one_operand_round_once(void **state) {
    (void)state;
    static const char *const activations[] = {"gelu",     "hardswish", "mish", "softplus",
                                              "elu",      "celu",      "selu", "leaky_relu",
                                              "hardtanh", "relu6",     "tanh", "log_sigmoid"};
    for (size_t k = 0; k < COUNT_OF(activations); k++)
        check_operator(activations[k], "*", HALF);
    check_operator("silu", "plain*", HALF);
    static const char *const functions[] = {"erf",     "exp",        "log",   "sqrt", "asinh",
                                            "digamma", "logit",      "sin",   "sign", "floor",
                                            "rsqrt",   "reciprocal", "erfinv"};
    for (size_t k = 0; k < COUNT_OF(functions); k++)
        check_operator(functions[k], "float", HALF);
}

static void truth_values_and_plain_integers_are_equal(void **state) {
    (void)state;
    static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    for (size_t k = 0; k < COUNT_OF(comparisons); k++) {
        char tensor[32], scalar[32];
        snprintf(tensor, sizeof tensor, "%s.Tensor", comparisons[k]);
        snprintf(scalar, sizeof scalar, "%s.Scalar", comparisons[k]);
        check_operator(tensor, "int64", 0);
        check_operator(tensor, "broadcast", 0);
        check_operator(scalar, "*", 0);
    }
    static const char *const integers[] = {"add.Tensor",  "sub.Tensor",   "rsub.Tensor",
                                           "mul.Tensor",  "floor_divide", "remainder.Tensor",
                                           "fmod.Tensor", "maximum",      "minimum",
                                           "neg",         "abs",          "square",
                                           "sign",        "bitwise_not",  "logical_not",
                                           "clamp",       "clamp_min",    "clamp_max"};
    for (size_t k = 0; k < COUNT_OF(integers); k++)
        check_operator(integers[k], "int64", 0);
    static const char *const bits[] = {"logical_and",
                                       "logical_or",
                                       "logical_xor",
                                       "bitwise_and.Tensor",
                                       "bitwise_or.Scalar",
                                       "bitwise_xor.Tensor",
                                       "bitwise_left_shift.Tensor",
                                       "bitwise_right_shift.Tensor_Scalar"};
    for (size_t k = 0; k < COUNT_OF(bits); k++)
        check_operator(bits[k], "*", 0);
}

static void choices_and_prelu_round_once(void **state) {
    (void)state;
    check_operator("where.self", "*", HALF);
    check_operator("where.ScalarOther", "*", HALF);
    check_operator("where.Scalar", "*", HALF);
    check_operator("masked_fill.Scalar", "*", HALF);
    check_operator("masked_fill.Tensor", "*", HALF);
    check_operator("prelu", "per_channel", HALF);
    check_operator("prelu", "rank_2", HALF);
    check_operator("_prelu_kernel", "shaped", HALF);
}

static void operators_taken_apart_are_within_a_step(void **state) {
    (void)state;
    static const char *const ops[] = {"addcmul",     "addcdiv",         "lerp.Tensor",
                                      "lerp.Scalar", "clamp.Tensor",    "clip.Tensor",
                                      "to.dtype",    "clamp_min.Tensor"};
    check_operator("prelu", "computed_slopes", 2); /* four kernels, half a step each */
    for (size_t k = 0; k < COUNT_OF(ops); k++)
        check_operator(ops[k], text_equal(ops[k], "to.dtype") ? "int64_to_*" : "*", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_two_operands_round_once),
        cmocka_unit_test(tables_of_one_operand_round_once),
        cmocka_unit_test(truth_values_and_plain_integers_are_equal),
        cmocka_unit_test(choices_and_prelu_round_once),
        cmocka_unit_test(operators_taken_apart_are_within_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
