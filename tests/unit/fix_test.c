/* The integer arithmetic at its ties and limits, by numbers worked out by hand. */
#include "exp.h"
#include "fix.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void right_shifts_round_half_away_from_zero(void **state) {
    (void)state;
    static const int32_t v[] = {-7, -6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7};
    static const int32_t want[] = {-2, -2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2};
    for (int i = 0; i < 13; i++)
        assert_int_equal(ctn_div_pow2(v[i], 2), want[i]);
    assert_int_equal(ctn_div_pow2(INT32_MIN, 31), -1);
    assert_int_equal(ctn_div_pow2(INT32_MAX, 31), 1);
    assert_int_equal(ctn_div_pow2(INT32_MIN, 0), INT32_MIN);
}

static void the_multiplier_rounds_half_up(void **state) {
    (void)state;
    assert_int_equal(ctn_mul_high(1, 1 << 30), 1);
    assert_int_equal(ctn_mul_high(-1, 1 << 30), 0);
    assert_int_equal(ctn_mul_high(-3, 1 << 30), -1);
    assert_int_equal(ctn_mul_high(INT32_MIN, INT32_MAX), -INT32_MAX);
    assert_int_equal(ctn_mul_high(INT32_MIN, -INT32_MAX), INT32_MAX);
}

static void requantize_rounds_twice(void **state) {
    (void)state;
    /* 5 * 0.75 = 3.75 -> 4 -> 4 / 8 = 0.5 -> 1; rounded once it would be 0 */
    assert_int_equal(ctn_requantize(5, 3 << 29, -3), 1);
    assert_int_equal(ctn_requantize(-5, 3 << 29, -3), -1);
    assert_int_equal(ctn_requantize(3, 1 << 30, 4), 24);
}

static void division_by_zero_is_zero(void **state) {
    (void)state;
    assert_int_equal(ctn_div(5, 0), 0);
    assert_int_equal(ctn_div(5, 2), 3);
    assert_int_equal(ctn_div(-5, 2), -3);
    assert_int_equal(ctn_div(5, -2), -3);
    assert_int_equal(ctn_div(4, 3), 1);
}

static void quantize_sends_ties_to_even(void **state) {
    (void)state;
    assert_int_equal(ctn_quantize(0.5f, 1, 0, -128, 127), 0);
    assert_int_equal(ctn_quantize(1.5f, 1, 0, -128, 127), 2);
    assert_int_equal(ctn_quantize(-2.5f, 1, 3, -128, 127), 1);
    assert_int_equal(ctn_quantize(INFINITY, 1, -5, -128, 127), 127);
    assert_int_equal(ctn_quantize(-INFINITY, 1, -5, -128, 127), -128);
    assert_int_equal(ctn_quantize(NAN, 1, -5, -128, 127), -5);
    assert_int_equal(ctn_quantize(40000.0f, 1, 0, -32767, 32767), 32767);
}

static void exp_is_within_a_two_millionth(void **state) {
    (void)state;
    for (int32_t x = 0; x > -(1 << 30); x -= 12345677)
        assert_true(fabs(ctn_exp_negative(x) - ldexp(exp(ldexp(x, -26)), 31)) < 1024);
}

/* A scale of 32 or more shifts distances by 31 places: all but the maximum are worth nothing. */
static void distances_of_huge_scales_are_of_the_maximum_itself(void **state) {
    (void)state;
    assert_int_equal(ctn_exp_distance(0, 1 << 30, 31), INT32_MAX);
    assert_int_equal(ctn_exp_distance(-1, 1 << 30, 26), ctn_exp_negative(-(1 << 25)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_shifts_round_half_away_from_zero),
        cmocka_unit_test(the_multiplier_rounds_half_up),
        cmocka_unit_test(requantize_rounds_twice),
        cmocka_unit_test(division_by_zero_is_zero),
        cmocka_unit_test(quantize_sends_ties_to_even),
        cmocka_unit_test(exp_is_within_a_two_millionth),
        cmocka_unit_test(distances_of_huge_scales_are_of_the_maximum_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
