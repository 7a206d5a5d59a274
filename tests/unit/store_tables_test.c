/* The survey of tables in stores: behind each kind of layer, sum, product and pool any activation
 * is applied in the producer's store, on every level, for speed and for size. No call makes another
 * pass, and what the producer computes before the table has no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"
#include "passes/passes.h"

/* What has 16 bits, and the bits of the weights if not 8. */
typedef struct {
    bool x, p, y;
    int weights;
} Widths;

typedef struct {
    const char *name, *in, *out, *call; /* shapes of %x and the result; the node's operator */
    const char *w;                      /* shape of %w, NULL: it reads none */
    int weights;
} Producer;

/* %x is an activation, %z another of the same shape, %w a constant. */
static const Producer producers[] = {
    {"conv2d", "1, 4, 5, 5", "1, 8, 3, 3",
     "corten::conv2d(%x, %w, none, [1, 1], [0, 0, 0, 0], [1, 1], 1)", "8, 4, 3, 3", 288},
    {"conv2d of one pixel", "1, 4, 5, 5", "1, 8, 5, 5",
     "corten::conv2d(%x, %w, none, [1, 1], [0, 0, 0, 0], [1, 1], 1)", "8, 4, 1, 1", 32},
    {"strided conv2d", "1, 3, 6, 6", "1, 8, 3, 3",
     "corten::conv2d(%x, %w, none, [2, 2], [1, 1, 1, 1], [1, 1], 1)", "8, 3, 3, 3", 216},
    {"depthwise conv2d", "1, 8, 5, 5", "1, 8, 5, 5",
     "corten::conv2d(%x, %w, none, [1, 1], [1, 1, 1, 1], [1, 1], 8)", "8, 1, 3, 3", 72},
    {"depthwise conv2d of two each", "1, 4, 5, 5", "1, 8, 5, 5",
     "corten::conv2d(%x, %w, none, [1, 1], [1, 1, 1, 1], [1, 1], 4)", "8, 1, 3, 3", 72},
    {"grouped conv2d", "1, 8, 5, 5", "1, 8, 5, 5",
     "corten::conv2d(%x, %w, none, [1, 1], [1, 1, 1, 1], [1, 1], 2)", "8, 4, 3, 3", 288},
    {"conv_transpose2d", "1, 4, 3, 3", "1, 8, 6, 6",
     "corten::conv_transpose2d(%x, %w, none, [2, 2], [0, 0, 0, 0], [1, 1], 1)", "8, 4, 2, 2", 128},
    {"conv3d", "1, 4, 3, 4, 4", "1, 8, 2, 3, 3",
     "corten::conv3d(%x, %w, none, [1, 1, 1], [0, 0, 0, 0, 0, 0], [1, 1, 1], 1)", "8, 4, 2, 2, 2",
     256},
    {"linear", "1, 16", "1, 12", "corten::linear(%x, %w, none)", "12, 16", 192},
    {"linear of rows", "5, 16", "5, 12", "corten::linear(%x, %w, none)", "12, 16", 192},
    {"matmul", "1, 6, 6", "1, 6, 6", "corten::matmul(%x, %z)", NULL, 0},
    {"add", "1, 4, 5, 5", "1, 4, 5, 5", "aten::add.Tensor(%x, %z, 1)", NULL, 0},
    {"sub", "1, 4, 5, 5", "1, 4, 5, 5", "aten::sub.Tensor(%x, %z, 1)", NULL, 0},
    {"mul", "1, 4, 5, 5", "1, 4, 5, 5", "aten::mul.Tensor(%x, %z)", NULL, 0},
    {"div", "1, 4, 5, 5", "1, 4, 5, 5", "aten::div.Tensor(%x, %z)", NULL, 0},
    {"max_pool2d", "1, 4, 6, 6", "1, 4, 3, 3",
     "corten::max_pool2d(%x, [2, 2], [2, 2], [0, 0, 0, 0], [1, 1])", NULL, 0},
    {"avg_pool2d", "1, 4, 6, 6", "1, 4, 3, 3",
     "corten::avg_pool2d(%x, [2, 2], [2, 2], [0, 0, 0, 0], [3, 3], true)", NULL, 0},
    {"adaptive_pool2d", "1, 4, 5, 5", "1, 4, 3, 3", "corten::adaptive_pool2d(%x, [3, 3], false)",
     NULL, 0},
    {"mean", "1, 4, 5, 5", "1, 4, 1, 1", "corten::reduce_sum(%x, [2, 3], true, 0.04)", NULL, 0},
    {"amax", "1, 4, 5, 5", "1, 4, 1, 1", "corten::reduce_max(%x, [2, 3], true, false)", NULL, 0},
};

static const char *const activations[] = {
    "aten::relu(%p)",
    "aten::relu6(%p)",
    "aten::hardtanh(%p, -0.5, 0.75)",
    "aten::sigmoid(%p)",
    "aten::tanh(%p)",
    "aten::silu(%p)",
    "aten::gelu(%p, \"none\")",
    "aten::gelu(%p, \"tanh\")",
    "aten::hardswish(%p)",
    "aten::hardsigmoid(%p)",
    "aten::leaky_relu(%p, 0.1)",
    "aten::elu(%p, 1, 1, 1)",
    "aten::mish(%p)",
    "aten::softplus(%p, 1, 20)",
    "aten::log_sigmoid(%p)",
    "aten::softshrink(%p, 0.5)",
    "aten::hardshrink(%p, 0.5)",
    "aten::threshold(%p, 0.1, 0.2)",
    "aten::exp(%p)",
    "aten::abs(%p)",
    "aten::sin(%p)",
};

static const char *const cpus[] = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"};

/* No two alike, of both signs. */
static void add_numbers(Text *t, int count) {
    for (int i = 0; i < count; i++)
        text_add(t, "%s%d", i > 0 ? ", " : "", (i * 37 + 11) % 127 - 63);
}

typedef struct {
    const Producer *producer;
    const char *activation, *cpu;
    bool size;
    Widths widths;
} Case;

static const char *bits(bool wide) {
    return wide ? " bits 16" : "";
}

static Graph *graph_of(C *c, const Case *k) {
    const Producer *p = k->producer;
    const Widths *w = &k->widths;
    Text text = text_new(c), *t = &text;
    text_add(t, "corten 1\ngraph t core {\n  value %%x float32[%s] input seen(-2 2 64)%s\n", p->in,
             bits(w->x));
    bool reads_two = strstr(p->call, "%z") != NULL;
    if (reads_two)
        text_add(t, "  value %%z float32[%s] input seen(0.25 1.5 64)\n", p->in);
    if (p->w) {
        text_add(t, "  value %%w float32[%s] constant data {", p->w);
        add_numbers(t, p->weights);
        text_add(t, "}\n");
    }
    text_add(t, "  input x %%x\n%s", reads_two ? "  input z %z\n" : "");
    text_add(t, "  node p %%p float32[%s] seen(-3 3 64)%s = %s%s\n", p->out, bits(w->p), p->call,
             w->weights == 4 ? " weights 4" : "");
    text_add(t, "  node y %%y float32[%s] seen(-1 2.5 64)%s = %s\n  output y %%y\n}\n", p->out,
             bits(w->y), k->activation);
    return graph_parse(c, p->name, text_string(t), NULL);
}

/* What a call does to each element of its one operand. */
static bool is_pass(const Call *call) {
    static const int kernels[] = {CTN_KERNEL_table_s8, CTN_KERNEL_table_s16, CTN_KERNEL_pieces_s16,
                                  CTN_KERNEL_pointwise2_s8, CTN_KERNEL_minmax_s8};
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        if (call->kernel == kernels[k])
            return true;
    return false;
}

static void check(C *c, void *user) {
    const Case *k = user;
    Graph *g = graph_of(c, k);
    const Cpu *cpu = cpu_find(k->cpu);
    Options o = {.cpu = cpu, .isa = cpu->isa, .optimize_size = k->size, .threads = 1};
    PipelineControl control = {.from = "tables", .stop_after = "lower"};
    pipeline_run(c, g, &o, &control);
    for (const Call *call = g->first_call; call; call = call->next)
        if (is_pass(call))
            fatal(c, DIAG_BUG, NULL, "a call of %s", call->variant->symbol);
    for (int i = 0; i < g->value_count; i++)
        if (strcmp(g->value[i]->name, "p") == 0 && !g->value[i]->unstored)
            fatal(c, DIAG_BUG, NULL, "%%p has memory");
}

/* Is the case as it should be? If not, says which it is. */
static bool holds(const Case *k) {
    C *c = c_new();
    bool right = c_try(c, check, (void *)k) == 0;
    if (!right) {
        print_error("%s, %s on %s for %s, 16 bits of%s%s%s, weights of %d\n", k->producer->name,
                    k->activation, k->cpu, k->size ? "size" : "speed", k->widths.x ? " x" : "",
                    k->widths.p ? " p" : "", k->widths.y ? " y" : "", k->widths.weights);
        diag_print(c, stderr, false, false);
    }
    c_free(c);
    return right;
}

static void no_activation_behind_a_layer_takes_a_pass_or_a_buffer(void **state) {
    int wrong = 0;
    (void)state;
    for (size_t p = 0; p < COUNT_OF(producers); p++)
        for (size_t a = 0; a < COUNT_OF(activations); a++)
            for (size_t u = 0; u < 2 * COUNT_OF(cpus); u++)
                wrong += !holds(&(Case){
                    &producers[p], activations[a], cpus[u / 2], u % 2 == 1, {.weights = 8}});
    assert_int_equal(wrong, 0);
}

/* Some of all activations: smooth, with bends, and with jumps. */
static const char *const some[] = {"aten::sigmoid(%p)", "aten::silu(%p)", "aten::hardswish(%p)",
                                   "aten::hardshrink(%p, 0.5)"};

static void check_widths(const char *const *names, size_t count, Widths widths) {
    int wrong = 0;
    for (size_t p = 0; p < COUNT_OF(producers); p++)
        for (size_t n = 0; n < count; n++)
            for (size_t a = 0; a < COUNT_OF(some); a++)
                for (size_t u = 0; strcmp(producers[p].name, names[n]) == 0 && u < COUNT_OF(cpus);
                     u++)
                    wrong += !holds(&(Case){&producers[p], some[a], cpus[u], false, widths});
    assert_int_equal(wrong, 0);
}

static const char *const layers[] = {"conv2d", "depthwise conv2d", "grouped conv2d", "linear",
                                     "linear of rows"};

/* Wherever the 16 bits are: before, between, or behind. */
static const Widths widths[] = {{.x = true, .weights = 8},
                                {.p = true, .weights = 8},
                                {.y = true, .weights = 8},
                                {true, true, true, 8}};

static void layers_of_int16_apply_any_function_in_their_store(void **state) {
    (void)state;
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        check_widths(layers, COUNT_OF(layers), widths[w]);
}

static void sums_products_and_pools_of_int16_apply_any_function_in_their_store(void **state) {
    static const char *const names[] = {"add",        "sub",  "mul", "max_pool2d",
                                        "avg_pool2d", "mean", "amax"};
    (void)state;
    for (size_t w = 0; w < COUNT_OF(widths); w++)
        check_widths(names, COUNT_OF(names), widths[w]);
}

static void layers_of_4_bit_weights_have_tables_in_their_store(void **state) {
    (void)state;
    check_widths(layers, COUNT_OF(layers), (Widths){.weights = 4});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_activation_behind_a_layer_takes_a_pass_or_a_buffer),
        cmocka_unit_test(layers_of_int16_apply_any_function_in_their_store),
        cmocka_unit_test(sums_products_and_pools_of_int16_apply_any_function_in_their_store),
        cmocka_unit_test(layers_of_4_bit_weights_have_tables_in_their_store),
    };
    return cmocka_run_group_tests_name("store_tables", tests, NULL, NULL);
}
