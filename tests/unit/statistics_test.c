/* The kernels of normalizations, softmax and recurrent layers where fixtures do not lead: rows that
 * are all alike, ends of the range, masks that hide everything, large groups. Expected numbers come
 * from double arithmetic on the dequantized inputs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"

enum { ARENA = 1 << 16, OUTPUT = 1 << 15, MASK = 1 << 14 };

typedef struct {
    _Alignas(16) uint8_t arena[ARENA];
    CtnFrame frame;
    uint32_t seed;
} Bench;

static Bench *bench_new(void) {
    Bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->frame.base[CTN_ARENA] = b->arena;
    b->seed = 11;
    return b;
}

static int8_t any_byte(Bench *b) {
    b->seed = b->seed * 1664525u + 1013904223u;
    return (int8_t)(b->seed >> 24);
}

static int8_t *input_of(Bench *b) {
    return (int8_t *)b->arena;
}

static const int8_t *output_of(const Bench *b) {
    return (const int8_t *)b->arena + OUTPUT;
}

static int8_t quantized(double real, double scale, int zero_point) {
    return (int8_t)fmax(-128, fmin(127, round(real / scale) + zero_point));
}

static void expect_within_a_step(int got, int want) {
    if (abs(got - want) > 1)
        fail_msg("%d, not %d", got, want);
}

/* ---- layer norm ----------------------------------------------------------------------------- */

typedef struct {
    int rows, count, zero_point;
    double scale, eps, out_scale;
    bool centered;
} NormCase;

static void norm_check(Bench *b, const NormCase *k) {
    CtnLayerNormS8Args a = {.output = CTN_REF(CTN_ARENA, OUTPUT),
                            .gamma = CTN_NONE,
                            .beta = CTN_NONE,
                            .table = CTN_NONE,
                            .dim = {1, 1, 1, k->rows},
                            .stride = {0, 0, 0, k->count},
                            .reduced = {1, 1, 1, k->count},
                            .reduced_stride = {0, 0, 0, 1},
                            .count = k->count,
                            .centered = k->centered,
                            .input_zero_point = k->zero_point,
                            .clamp_min = -128,
                            .clamp_max = 127};
    uint64_t epsilon = (uint64_t)rint(k->eps * pow(k->count / k->scale, 2));
    a.epsilon_low = (int32_t)(uint32_t)epsilon;
    a.epsilon_high = (int32_t)(epsilon >> 32);
    multiplier_from(ldexp(1, -16) / k->out_scale, &a.multiplier, &a.shift);
    ctn_layer_norm_s8(&a, &b->frame);
    for (int r = 0; r < k->rows; r++) {
        const int8_t *q = input_of(b) + r * k->count;
        double mean = 0, squares = 0;
        for (int i = 0; k->centered && i < k->count; i++)
            mean += k->scale * (q[i] - k->zero_point) / k->count;
        for (int i = 0; i < k->count; i++)
            squares += pow(k->scale * (q[i] - k->zero_point) - mean, 2);
        double factor = 1 / sqrt(squares / k->count + k->eps);
        for (int i = 0; i < k->count; i++)
            expect_within_a_step(
                output_of(b)[r * k->count + i],
                quantized((k->scale * (q[i] - k->zero_point) - mean) * factor, k->out_scale, 0));
    }
}

static void norm_of_any_range_is_exact_to_a_step(void **state) {
    (void)state;
    static const NormCase cases[] = {
        {4, 64, -128, 0.02, 1e-5, 0.03, true},     {4, 64, 127, 3e-6, 1e-5, 0.03, true},
        {2, 1000, 5, 40, 1e-5, 0.03, true},        {1, 16000, -3, 0.1, 1e-5, 0.03, true},
        {6, 2, 0, 0.02, 1e-5, 0.01, true},         {4, 64, -128, 0.02, 1e-6, 0.03, false},
        {1, 16000, 127, 0.001, 1e-6, 0.03, false}, {8, 1, 0, 0.5, 1e-5, 0.01, false},
    };
    Bench *b = bench_new();
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        for (int i = 0; i < cases[k].rows * cases[k].count; i++)
            input_of(b)[i] = any_byte(b);
        norm_check(b, &cases[k]);
    }
    free(b);
}

static void norm_of_equal_elements_is_zero(void **state) {
    (void)state;
    Bench *b = bench_new();
    NormCase k = {3, 50, 7, 0.1, 0, 0.02, true};
    for (int r = 0; r < 3; r++)
        memset(input_of(b) + r * 50, (int[]){-128, 7, 127}[r], 50);
    NormCase with_eps = k;
    with_eps.eps = 1e-5;
    norm_check(b, &with_eps);
    for (int i = 0; i < 150; i++)
        assert_int_equal(output_of(b)[i], 0);
    free(b);
}

static void norm_of_one_step_among_zeros(void **state) {
    (void)state;
    Bench *b = bench_new();
    NormCase k = {1, 4000, 0, 0.05, 1e-9, 0.6, true};
    memset(input_of(b), 0, 4000);
    input_of(b)[1234] = 1; /* sqrt(3999) standard deviations away */
    norm_check(b, &k);
    free(b);
}

/* ---- softmax -------------------------------------------------------------------------------- */

static void scaling(double scale, int32_t *multiplier, int32_t *shift, int32_t *diff_min) {
    multiplier_from(scale * (1 << 26), multiplier, shift);
    *diff_min = -(int32_t)floor(31.0 * (1 << 26) / (double)(1 << *shift));
}

static void masked_rows_count_what_is_visible(void **state) {
    (void)state;
    enum { ROWS = 6, SIZE = 40 };
    Bench *b = bench_new();
    uint8_t *mask = b->arena + MASK;
    double scale = 0.04, out = 0.004;
    CtnMaskedSoftmaxS8Args a = {.output = CTN_REF(CTN_ARENA, OUTPUT),
                                .mask = CTN_REF(CTN_ARENA, MASK),
                                .rows = ROWS,
                                .row_size = SIZE,
                                .mask_rows = 3,
                                .output_zero_point = -128};
    scaling(scale, &a.multiplier, &a.shift, &a.diff_min);
    multiplier_from(ldexp(1, -24) / out, &a.output_multiplier, &a.output_shift);
    for (int i = 0; i < ROWS * SIZE; i++)
        input_of(b)[i] = any_byte(b);
    for (int i = 0; i < 3 * SIZE; i++)
        mask[i] = i < SIZE ? 0 : any_byte(b) > 0; /* the first row sees nothing */
    ctn_masked_softmax_s8(&a, &b->frame);
    for (int r = 0; r < ROWS; r++) {
        const uint8_t *visible = mask + r % 3 * SIZE;
        double sum = 0;
        for (int i = 0; i < SIZE; i++)
            sum += visible[i] ? exp(scale * input_of(b)[r * SIZE + i]) : 0;
        for (int i = 0; i < SIZE; i++) {
            double p = visible[i] ? exp(scale * input_of(b)[r * SIZE + i]) / sum : 0;
            expect_within_a_step(output_of(b)[r * SIZE + i], quantized(p, out, -128));
            if (!visible[i])
                assert_int_equal(output_of(b)[r * SIZE + i], -128);
        }
    }
    free(b);
}

static void log_softmax_check(Bench *b, int rows, int size, double scale, double out, int zero) {
    CtnLogSoftmaxS8Args a = {.output = CTN_REF(CTN_ARENA, OUTPUT),
                             .rows = rows,
                             .row_size = size,
                             .output_zero_point = zero};
    scaling(scale, &a.multiplier, &a.shift, &a.diff_min);
    multiplier_from(scale / out, &a.ratio_multiplier, &a.ratio_shift);
    multiplier_from(ldexp(1, 8 - 26) / out, &a.log_multiplier, &a.log_shift);
    ctn_log_softmax_s8(&a, &b->frame);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = 0; i < size; i++)
            sum += exp(scale * input_of(b)[r * size + i]);
        for (int i = 0; i < size; i++)
            expect_within_a_step(
                output_of(b)[r * size + i],
                quantized(scale * input_of(b)[r * size + i] - log(sum), out, zero));
    }
}

static void log_softmax_is_exact_to_a_step(void **state) {
    (void)state;
    Bench *b = bench_new();
    for (int i = 0; i < 8000; i++)
        input_of(b)[i] = any_byte(b);
    log_softmax_check(b, 20, 10, 0.03, 0.04, 127);
    log_softmax_check(b, 2, 4000, 0.02, 0.06, 127);
    log_softmax_check(b, 5, 1, 0.1, 0.01, 0);
    log_softmax_check(b, 10, 30, 3.0, 3.1, 127);
    memset(input_of(b), -128, 4000);
    log_softmax_check(b, 1, 4000, 0.02, 0.06, 127);
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_of_any_range_is_exact_to_a_step),
        cmocka_unit_test(norm_of_equal_elements_is_zero),
        cmocka_unit_test(norm_of_one_step_among_zeros),
        cmocka_unit_test(masked_rows_count_what_is_visible),
        cmocka_unit_test(log_softmax_is_exact_to_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
