/* Observers and grids: order does not matter, ranges hold what was seen, zero is exact. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "quant/quant.h"

static Array *floats(C *c, int64_t count, float (*make)(int64_t)) {
    Array *a = array_new(c, DT_F32, 1, &count);
    for (int64_t i = 0; i < count; i++)
        ((float *)a->data)[i] = make(i);
    return a;
}

static float small_wave(int64_t i) {
    return 0.01f * sinf((float)i);
}

static float large_wave(int64_t i) {
    return 37.0f * sinf((float)i * 0.7f) + (i % 50 == 0 ? 3.0f : 0.0f);
}

static float zeros(int64_t i) {
    (void)i;
    return 0.0f;
}

static float with_nan(int64_t i) {
    return i == 3 ? NAN : i == 4 ? INFINITY : 1.0f;
}

/* Mostly within +-1, one number at 100. */
static float outlier(int64_t i) {
    return i == 0 ? 100.0f : sinf((float)i * 1.3f);
}

static void assert_same_histogram(const Observed *a, const Observed *b) {
    assert_true(a->min == b->min && a->max == b->max);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->bin_count, b->bin_count);
    assert_true(a->bin_width == b->bin_width && a->bin_low == b->bin_low);
    for (int i = 0; i < a->bin_count; i++)
        assert_int_equal(a->bin[i], b->bin[i]);
}

static void the_order_of_samples_does_not_matter(void **state) {
    (void)state;
    C *c = c_new();
    const Array *part[] = {floats(c, 500, small_wave), floats(c, 700, large_wave),
                           floats(c, 300, zeros)};
    Observed forward = {0}, backward = {0}, merged = {0};
    for (int i = 0; i < 3; i++) {
        observe(c, &forward, part[i]);
        observe(c, &backward, part[2 - i]);
    }
    assert_same_histogram(&forward, &backward);
    for (int i = 0; i < 3; i++) {
        Observed one = {0};
        observe(c, &one, part[(i + 1) % 3]);
        observed_merge(c, &merged, &one);
    }
    assert_same_histogram(&forward, &merged);
    c_free(c);
}

static void a_histogram_counts_every_number_in_its_bin(void **state) {
    (void)state;
    C *c = c_new();
    const Array *a = floats(c, 1000, large_wave);
    Observed o = {0};
    observe(c, &o, floats(c, 10, small_wave)); /* a narrower lattice at first */
    observe(c, &o, a);
    int64_t *want = NEW_ARRAY(c, int64_t, o.bin_count), total = 0;
    for (int64_t i = 0; i < 1000; i++)
        want[(int)floor((array_get(a, i) - o.bin_low) / o.bin_width)]++;
    for (int64_t i = 0; i < 10; i++)
        want[(int)floor(((double)small_wave(i) - o.bin_low) / o.bin_width)]++;
    for (int i = 0; i < o.bin_count; i++) {
        assert_int_equal(o.bin[i], want[i]);
        total += o.bin[i];
    }
    assert_int_equal(total, 1010);
    c_free(c);
}

static void numbers_that_are_not_finite_are_counted_apart(void **state) {
    (void)state;
    C *c = c_new();
    Observed o = {0};
    observe(c, &o, floats(c, 8, with_nan));
    assert_int_equal(o.not_finite, 2);
    assert_true(o.min == 0 && o.max == 1);
    c_free(c);
}

static void minmax_holds_all_and_mse_cuts_an_outlier(void **state) {
    (void)state;
    C *c = c_new();
    Observed o = {0};
    observe(c, &o, floats(c, 1000000, outlier));
    double low, high;
    observed_range(c, &o, OBSERVER_MINMAX, 8, &low, &high);
    assert_true(low <= -0.99 && high == 100.0);
    observed_range(c, &o, OBSERVER_MSE, 8, &low, &high);
    /* of the sine's numbers 92 % lie outside of the two bins at zero, where rounding is free:
     * (100 - b)^2 + 0.92e6 ((b + 1) / 255)^2 / 12 is least at b = 45.3; candidates are 1 apart */
    assert_true(low <= -0.9 && fabs(high - 45.3) <= 1);
    observed_range(c, &o, OBSERVER_PERCENTILE, 8, &low, &high);
    assert_true(low <= -0.9 && high < 1.2 && high >= 0.9);
    c_free(c);
}

static float one_to_nine(int64_t i) {
    return 1.0f + (float)(i % 21) * 0.4f;
}

static double inverse_cosh(void *user, double x) {
    (void)user;
    return acosh(x); /* not a number below 1 */
}

static void a_range_is_not_cut_to_where_its_function_is_undefined(void **state) {
    (void)state;
    C *c = c_new();
    Observed o = {0};
    observe(c, &o, floats(c, 21, one_to_nine));
    double low, high;
    observed_range_through(c, &o, OBSERVER_MSE, inverse_cosh, NULL, 255, &low, &high);
    assert_true(low == 0 && high > 8.5);
    c_free(c);
}

static void every_grid_represents_zero(void **state) {
    (void)state;
    C *c = c_new();
    const double range[][2] = {{-1, 1}, {0, 6},      {2, 6},        {-8, -3},
                               {0, 0},  {-1e-40, 0}, {-1e30, 1e30}, {-0.01, 250}};
    for (size_t i = 0; i < COUNT_OF(range); i++) {
        for (int bits = 8; bits <= 16; bits += 8) {
            const Grid *grid = grid_affine(c, range[i][0], range[i][1], bits);
            const Part *p = &grid->part[0];
            assert_true(p->scale > 0 && isfinite(p->scale) && isfinite(1 / p->scale));
            assert_in_range(p->zero_point + 32768, 0, 65535);
            if (bits == 8)
                assert_in_range(p->zero_point + 128, 0, 255);
            else
                assert_int_equal(p->zero_point, 0);
        }
    }
    c_free(c);
}

static void weights_of_zero_have_a_scale(void **state) {
    (void)state;
    C *c = c_new();
    const int64_t dim[] = {3, 4};
    Array *w = array_new(c, DT_F32, 2, dim);
    for (int i = 0; i < 4; i++) {
        array_set(w, i, 0.5 - i);
        array_set(w, 8 + i, 1e-42);
    }
    const Grid *grid = grid_symmetric_per_channel(c, w, 0, 8);
    assert_int_equal(grid->part_count, 3);
    assert_true(fabs(grid->part[0].scale - 2.5 / 127) < 1e-7);
    for (int k = 0; k < 3; k++) {
        assert_true(grid->part[k].scale > 0 && isfinite(1 / grid->part[k].scale));
        assert_int_equal(grid->part[k].zero_point, 0);
        assert_int_equal(grid->part[k].start, k);
        assert_int_equal(grid->part[k].stop, k + 1);
    }
    c_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_samples_does_not_matter),
        cmocka_unit_test(a_histogram_counts_every_number_in_its_bin),
        cmocka_unit_test(numbers_that_are_not_finite_are_counted_apart),
        cmocka_unit_test(minmax_holds_all_and_mse_cuts_an_outlier),
        cmocka_unit_test(a_range_is_not_cut_to_where_its_function_is_undefined),
        cmocka_unit_test(every_grid_represents_zero),
        cmocka_unit_test(weights_of_zero_have_a_scale),
    };
    return cmocka_run_group_tests_name("quant", tests, NULL, NULL);
}
