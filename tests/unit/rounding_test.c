/* Compensated rounding: on the inputs that calibration saw, results err less than with the nearest
 * integers; integers stay in range; the bias takes what the mean has lost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "quant/quant.h"

enum { ROWS = 400, DEPTH = 36, CHANNELS = 5 };

static double noise(uint32_t *seed) { /* -1 .. 1 */
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (double)(1 << 23) - 1;
}

typedef struct {
    Graph *g;
    Node *node;
    Array *x, *w;
} Linear;

/* A linear whose inputs are positive and move together, as after a relu. */
static Linear linear_make(C *c) {
    Linear l = {.g = graph_new(c, "g")};
    const int64_t x_dim[] = {ROWS, DEPTH}, w_dim[] = {CHANNELS, DEPTH};
    uint32_t seed = 7;
    l.x = array_new(c, DT_F32, 2, x_dim);
    l.w = array_new(c, DT_F32, 2, w_dim);
    for (int r = 0; r < ROWS; r++) {
        double common = noise(&seed);
        for (int k = 0; k < DEPTH; k++)
            array_set(l.x, r * DEPTH + k, 1.5 + common + 0.3 * noise(&seed));
    }
    for (int i = 0; i < CHANNELS * DEPTH; i++)
        array_set(l.w, i, noise(&seed));
    Value *x = value_new(l.g, "x", type_make(DT_F32, 2, x_dim));
    x->role = ROLE_INPUT;
    Value *w = value_constant(l.g, "w", l.w);
    l.node = node_new(l.g, NULL, "corten::linear", ARGS(arg_value(x), arg_value(w), arg_none()));
    return l;
}

/* Mean square of the results' errors, with `shift` added to each channel (NULL: none). */
static double mean_error(const Linear *l, const Grid *grid, const int8_t *q, const double *shift) {
    double sum = 0;
    for (int r = 0; r < ROWS; r++)
        for (int o = 0; o < CHANNELS; o++) {
            double e = shift ? -shift[o] : 0;
            for (int k = 0; k < DEPTH; k++)
                e += array_get(l->x, r * DEPTH + k) *
                     (array_get(l->w, o * DEPTH + k) - grid->part[o].scale * q[o * DEPTH + k]);
            sum += e * e;
        }
    return sum / (ROWS * CHANNELS);
}

static void errors_of_rounding_are_made_up_for(void **state) {
    (void)state;
    C *c = c_new();
    Linear l = linear_make(c);
    Patches *p = patches_new(c, l.node, 1 << 20, 1, 1);
    assert_non_null(p);
    patches_take(c, p, l.node, l.x, 0);
    assert_int_equal(patches_rows(p), ROWS);
    Grid *grid = grid_symmetric_per_channel(c, l.w, 0, 8);
    int8_t q[CHANNELS * DEPTH], nearest[CHANNELS * DEPTH];
    double shift[CHANNELS] = {0}, least[CHANNELS] = {0};
    assert_true(round_weights(c, p, l.w, grid, least, q, shift));
    for (int i = 0; i < CHANNELS * DEPTH; i++) {
        assert_in_range(q[i] + 127, 0, 254);
        nearest[i] = (int8_t)rint(array_get(l.w, i) / grid->part[i / DEPTH].scale);
    }
    double plain = mean_error(&l, grid, nearest, NULL);
    assert_true(mean_error(&l, grid, q, shift) < 0.2 * plain);
    c_free(c);
}

/* Few weights: some scale of those tried meets them better than the one that just covers them. */
static void few_weights_take_a_scale_of_their_own(void **state) {
    (void)state;
    C *c = c_new();
    Linear l = linear_make(c);
    Patches *p = patches_new(c, l.node, 1 << 20, 1, 1);
    patches_take(c, p, l.node, l.x, 0);
    Grid *given = grid_symmetric_per_channel(c, l.w, 0, 8);
    Grid *grid = grid_symmetric_per_channel(c, l.w, 0, 8);
    int8_t q[CHANNELS * DEPTH];
    double shift[CHANNELS] = {0}, least[CHANNELS] = {0};
    least[0] = 1.05 * given->part[0].scale;
    assert_true(round_weights(c, p, l.w, grid, least, q, shift));
    bool other = false;
    for (int o = 0; o < CHANNELS; o++) {
        assert_true(grid->part[o].scale >= fmax(given->part[o].scale, least[o]));
        assert_true(grid->part[o].scale <= 1.12 * given->part[o].scale);
        other = other || grid->part[o].scale > given->part[o].scale;
    }
    assert_true(other);
    c_free(c);
}

static void four_bits_take_a_scale_of_their_own(void **state) {
    (void)state;
    C *c = c_new();
    Linear l = linear_make(c);
    Patches *p = patches_new(c, l.node, 1 << 20, 1, 1);
    patches_take(c, p, l.node, l.x, 0);
    Grid *given = grid_symmetric_per_channel(c, l.w, 0, 4);
    Grid *grid = grid_symmetric_per_channel(c, l.w, 0, 4);
    int8_t q[CHANNELS * DEPTH], nearest[CHANNELS * DEPTH];
    double shift[CHANNELS] = {0}, least[CHANNELS] = {0};
    least[0] = 0.9 * given->part[0].scale;
    assert_true(round_weights(c, p, l.w, grid, least, q, shift));
    for (int i = 0; i < CHANNELS * DEPTH; i++) {
        assert_in_range(q[i] + 7, 0, 14);
        nearest[i] = (int8_t)rint(array_get(l.w, i) / given->part[i / DEPTH].scale);
    }
    for (int o = 0; o < CHANNELS; o++)
        assert_true(grid->part[o].scale <= given->part[o].scale && grid->part[o].scale >= least[o]);
    double plain = mean_error(&l, given, nearest, NULL);
    assert_true(mean_error(&l, grid, q, shift) < 0.3 * plain);
    c_free(c);
}

static void the_bias_takes_what_the_mean_has_lost(void **state) {
    (void)state;
    C *c = c_new();
    Linear l = linear_make(c);
    Patches *p = patches_new(c, l.node, 1 << 20, 1, 1);
    patches_take(c, p, l.node, l.x, 0);
    Grid *grid = grid_symmetric_per_channel(c, l.w, 0, 8);
    int8_t q[CHANNELS * DEPTH];
    double shift[CHANNELS] = {0}, least[CHANNELS] = {0};
    assert_true(round_weights(c, p, l.w, grid, least, q, shift));
    for (int o = 0; o < CHANNELS; o++) {
        double mean = 0;
        for (int r = 0; r < ROWS; r++)
            for (int k = 0; k < DEPTH; k++)
                mean += array_get(l.x, r * DEPTH + k) *
                        (array_get(l.w, o * DEPTH + k) - grid->part[o].scale * q[o * DEPTH + k]);
        mean /= ROWS;
        assert_true(fabs(shift[o] - mean * ROWS / (ROWS + 1)) < 1e-5);
    }
    c_free(c);
}

static void patches_of_slices_are_those_of_the_whole(void **state) {
    (void)state;
    C *c = c_new();
    Linear l = linear_make(c);
    const int64_t half_dim[] = {ROWS / 2, DEPTH};
    Array *first = array_new(c, DT_F32, 2, half_dim), *second = array_new(c, DT_F32, 2, half_dim);
    for (int i = 0; i < ROWS / 2 * DEPTH; i++) {
        array_set(first, i, array_get(l.x, i));
        array_set(second, i, array_get(l.x, ROWS / 2 * DEPTH + i));
    }
    node_in(l.node, "input")->type.dim[0] = ROWS / 2;
    Patches *a = patches_new(c, l.node, 100 * DEPTH, 2, 2),
            *b = patches_new(c, l.node, 100 * DEPTH, 2, 1);
    Patches *whole = patches_new(c, l.node, 100 * DEPTH, 2, 2);
    patches_take(c, whole, l.node, first, 0);
    patches_take(c, whole, l.node, second, 1);
    patches_take(c, a, l.node, first, 0);
    patches_take(c, b, l.node, second, 1);
    patches_append(a, b);
    assert_int_equal(patches_rows(a), 100);
    assert_int_equal(patches_rows(whole), 100);
    double mean_a[DEPTH], mean_whole[DEPTH];
    static float centred_a[100 * DEPTH], centred_whole[100 * DEPTH];
    patches_moments(a, 0, mean_a, centred_a);
    patches_moments(whole, 0, mean_whole, centred_whole);
    assert_memory_equal(mean_a, mean_whole, sizeof mean_a);
    assert_memory_equal(centred_a, centred_whole, sizeof centred_a);
    c_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_rounding_are_made_up_for),
        cmocka_unit_test(few_weights_take_a_scale_of_their_own),
        cmocka_unit_test(four_bits_take_a_scale_of_their_own),
        cmocka_unit_test(the_bias_takes_what_the_mean_has_lost),
        cmocka_unit_test(patches_of_slices_are_those_of_the_whole),
    };
    return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
