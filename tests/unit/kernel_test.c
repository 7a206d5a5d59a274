/* Every kernel against wide arithmetic, and every variant, with emulated intrinsics, against plain
 * C, on the same cases; nothing outside of output and scratch may change. */
#include "kernel/cases.h"
#include "kernel/wide.h"
#include "lower/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const Variant *plain_of(int kernel) {
    for (int i = 0; i < variant_table_count; i++)
        if (variant_table[i].kernel == kernel && !variant_table[i].isa)
            return &variant_table[i];
    return NULL;
}

static void check_stray(const KernelCase *k, const uint8_t *after, int index) {
    int64_t stray = case_stray_write(k, after);
    if (stray >= 0)
        fail_msg("%s, case %d: writes byte %lld, outside of its output", k->variant->symbol, index,
                 (long long)stray);
}

static bool writes_int16(const KernelCase *k) {
    for (int i = 0; i < k->call->ref_count; i++)
        if (k->call->ref[i].writes && k->call->ref[i].buffer->element == DT_I16)
            return true;
    return false;
}

static void check_output16(const KernelCase *k, const int16_t *got, const int16_t *want, int index,
                           int tolerance) {
    for (int64_t i = 0; i < k->output_bytes / 2; i++)
        if (abs(got[i] - want[i]) > tolerance)
            fail_msg("%s, case %d: output %lld is %d, not %d", k->variant->symbol, index,
                     (long long)i, got[i], want[i]);
}

/* What the kernel may be off from the real numbers: polynomials. */
static int tolerance_of(int kernel) {
    bool rounds_twice =
        kernel == CTN_KERNEL_masked_softmax_s8 || kernel == CTN_KERNEL_log_softmax_s8;
    return kernel == CTN_KERNEL_softmax_s8 || rounds_twice ? 1
           : kernel == CTN_KERNEL_softmax_s16              ? 2
                                                           : 0;
}

static void check_output(const KernelCase *k, const uint8_t *after, const uint8_t *expected,
                         int index, int tolerance) {
    if (tolerance > 0 && writes_int16(k)) {
        check_output16(k, (const void *)(after + k->output), (const void *)expected, index,
                       tolerance);
        return;
    }
    for (int64_t i = 0; i < k->output_bytes; i++) {
        int got = (int8_t)after[k->output + i], want = (int8_t)expected[i];
        if (abs(got - want) > tolerance)
            fail_msg("%s, case %d: byte %lld of the output is %d, not %d", k->variant->symbol,
                     index, (long long)i, got, want);
    }
}

static void plain_c_equals_wide_arithmetic(void **state) {
    (void)state;
    for (int kernel = 0; kernel < CTN_KERNEL_COUNT; kernel++)
        for (int i = 0; i < (wide_knows(kernel) ? case_count(kernel) : 0); i++) {
            C *c = c_new();
            KernelCase *k = case_make(c, plain_of(kernel), i);
            assert_non_null(k);
            uint8_t *after = case_run(c, k);
            check_stray(k, after, i);
            CtnFrame frame = {{k->arena, NULL, k->weights}};
            wide_run(kernel, k->call->args, &frame);
            check_output(k, after, k->arena + k->output, i, tolerance_of(kernel));
            c_free(c);
        }
}

static void variants_equal_plain_c(void **state) {
    (void)state;
    for (int v = 0; v < variant_table_count; v++) {
        const Variant *variant = &variant_table[v];
        int accepted = 0;
        for (int i = 0; variant->isa && i < case_count(variant->kernel); i++) {
            C *c = c_new();
            KernelCase *k = case_make(c, variant, i);
            if (k) {
                accepted++;
                KernelCase *plain = case_make(c, plain_of(variant->kernel), i);
                uint8_t *after = case_run(c, k);
                check_stray(k, after, i);
                assert_int_equal(k->output_bytes, plain->output_bytes);
                check_output(k, after, case_run(c, plain) + plain->output, i, 0);
            }
            c_free(c);
        }
        if (variant->isa && accepted < 10)
            fail_msg("%s accepts only %d cases", variant->symbol, accepted);
    }
}

/* The output as far below the operand as the kernel needs, behind the arena of the case. */
static const uint8_t *run_over(C *c, const KernelCase *k, const CallRef *operand) {
    const Buffer *in = operand->buffer;
    int64_t start = (k->arena_bytes + 63) / 64 * 64;
    int64_t above = start + call_overwrite_distance(k->call);
    int64_t bytes = above - start + (k->output_bytes > in->bytes ? k->output_bytes : in->bytes);
    uint8_t *arena = c_alloc(c, (size_t)(start + bytes) + 128), *args;
    arena += (64 - (uintptr_t)arena % 64) % 64;
    memcpy(arena, k->arena, (size_t)k->arena_bytes);
    memcpy(arena + above, k->arena + in->offset, (size_t)in->bytes);
    args = c_memdup(c, k->call->args, (size_t)k->call->args_bytes);
    for (int r = 0; r < k->call->ref_count; r++) {
        const CallRef *ref = &k->call->ref[r];
        uint32_t place = CTN_REF(CTN_ARENA, ref->writes ? start : above);
        if ((ref->buffer == in || ref->writes) && ref->buffer->kind == BUFFER_VALUE)
            memcpy(args + ref->field_offset, &place, sizeof place);
    }
    CtnFrame frame = {{arena, NULL, k->weights}};
    k->variant->host(args, &frame);
    return arena + start;
}

static int overwritten(const Variant *variant, int index) {
    C *c = c_new();
    KernelCase *k = case_make(c, variant, index);
    int count = 0;
    for (int r = 0; k && r < k->call->ref_count; r++) {
        const CallRef *ref = &k->call->ref[r];
        if (!ref->buffer || ref->writes || ref->buffer->kind != BUFFER_VALUE ||
            !call_may_overwrite(k->call, ref))
            continue;
        const uint8_t *apart = case_run(c, k) + k->output, *over = run_over(c, k, ref);
        count++;
        if (memcmp(apart, over, (size_t)k->output_bytes) != 0)
            fail_msg("%s, case %d: writes over what it still reads", k->variant->symbol, index);
    }
    c_free(c);
    return count;
}

static void outputs_that_overwrite_an_operand_are_the_same(void **state) {
    static const char *const seen[] = {
        "ctn_conv2d_s8_v6m",           "ctn_conv2d_s8_v7m",           "ctn_conv2d_s8_dsp",
        "ctn_conv2d_s8_dsp_small",     "ctn_linear_s8_v6m",           "ctn_linear_s8_v7m",
        "ctn_depthwise_conv2d_s8_v6m", "ctn_depthwise_conv2d_s8_v7m", "ctn_depthwise_conv2d_s8_dsp",
        "ctn_matmul_s8_dsp",           "ctn_matmul_s8_v6m",           "ctn_matmul_s8_mve"};
    (void)state;
    for (int v = 0; v < variant_table_count; v++) {
        int count = 0, asked = 0;
        for (int i = 0; i < case_count(variant_table[v].kernel); i++)
            count += overwritten(&variant_table[v], i);
        for (size_t s = 0; s < COUNT_OF(seen); s++)
            asked |= strcmp(seen[s], variant_table[v].symbol) == 0;
        if (asked && count < 3)
            fail_msg("%s overwrites an operand in %d cases", variant_table[v].symbol, count);
    }
}

/* A left shift is what no fast convolution or depthwise convolution takes: on every level plain C
 * must do it, and right shifts must not fall back. */
static void calls_that_a_variant_refuses_fall_back(void **state) {
    (void)state;
    static const int kernels[] = {CTN_KERNEL_conv2d_s8, CTN_KERNEL_depthwise_conv2d_s8,
                                  CTN_KERNEL_linear_s8};
    for (size_t n = 0; n < COUNT_OF(kernels); n++)
        for (int level = 0; level < isa_level_count; level++) {
            int plain = 0, fast = 0;
            for (int i = 0; i < case_count(kernels[n]); i++) {
                C *c = c_new();
                KernelCase *k = case_make(c, plain_of(kernels[n]), i);
                const Variant *v = variant_choose(k->call, isa_levels[level]);
                plain += v->isa == NULL;
                fast += v->isa != NULL && strcmp(v->isa, isa_levels[level]) == 0;
                c_free(c);
            }
            if (plain == 0 || fast == 0)
                fail_msg("%s on %s: %d calls in plain C, %d in the level's own variant",
                         plain_of(kernels[n])->symbol, isa_levels[level], plain, fast);
        }
}

/* On M55 channels beyond fours need no more constants than they have: nine bytes each and their
 * weights, where a row of outputs is long enough to pay for unfolding them. */
static void channels_beyond_fours_are_stored_without_padding(void **state) {
    (void)state;
    int folded[2] = {0, 0};
    for (int i = 0; i < case_count(CTN_KERNEL_conv2d_s8); i++) {
        C *c = c_new();
        const Call *call =
            case_make(
                c, variant_choose(case_make(c, plain_of(CTN_KERNEL_conv2d_s8), i)->call, "mve"), i)
                ->call;
        const CtnConv2dS8Args *a = call->args;
        if (a->gathered & CTN_UNFOLDED) {
            int32_t runs = a->gathered & CTN_GATHERED ? 1 : a->kernel_h,
                    window = a->kernel_h * a->kernel_w * a->in_c;
            int32_t group = 64 * runs * ((window / runs + 15) / 16) + 36;
            assert_int_equal(call_ref_named(call, "weights")->buffer->bytes,
                             a->out_c / 4 * group + a->out_c % 4 * (9 + window));
            folded[a->gathered & CTN_GATHERED]++;
        }
        c_free(c);
    }
    if (folded[0] < 2 || folded[1] < 1)
        fail_msg("%d cases with rows as they are, %d with gathered windows", folded[0], folded[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_c_equals_wide_arithmetic),
        cmocka_unit_test(variants_equal_plain_c),
        cmocka_unit_test(outputs_that_overwrite_an_operand_are_the_same),
        cmocka_unit_test(calls_that_a_variant_refuses_fall_back),
        cmocka_unit_test(channels_beyond_fours_are_stored_without_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
