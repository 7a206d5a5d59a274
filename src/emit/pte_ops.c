/* Which operator of a quantized graph is written by what, in those of ExecuTorch's Cortex-M
 * dialect. */
#include "emit/pte_call.h"

#include <string.h>

bool pte_isa_is(const Pte *t, const char *isa) {
    return strcmp(t->isa, isa) == 0;
}

int pte_int32s(Pte *t, int64_t count, const int32_t *data) {
    return pte_constant(t, PTE_INT32, 1, &count, data);
}

int pte_pair(Pte *t, int64_t a, int64_t b) {
    return pte_ints(t, 2, (int64_t[]){a, b});
}

static const struct {
    const char *row;
    bool (*write)(Pte *t, Node *n);
    bool clamps; /* what the operator of the dialect stores */
} writers[] = {
    {"aten::_prelu_kernel", pte_prelu, .clamps = false},
    {"aten::add", pte_sum, .clamps = true},
    {"aten::cat", pte_cat, .clamps = false},
    {"aten::div.Scalar", pte_div, .clamps = false},
    {"aten::div.Tensor", pte_div, .clamps = false},
    {"aten::divide.Scalar", pte_div, .clamps = false},
    {"aten::divide.Tensor", pte_div, .clamps = false},
    {"aten::fmax", pte_extreme, .clamps = false},
    {"aten::fmin", pte_extreme, .clamps = false},
    {"aten::lerp", pte_sum, .clamps = true},
    {"aten::max.other", pte_extreme, .clamps = false},
    {"aten::maximum", pte_extreme, .clamps = false},
    {"aten::min.other", pte_extreme, .clamps = false},
    {"aten::minimum", pte_extreme, .clamps = false},
    {"aten::mul", pte_mul, .clamps = false},
    {"aten::multiply", pte_mul, .clamps = false},
    {"aten::rsub", pte_sum, .clamps = true},
    {"aten::sub", pte_sum, .clamps = true},
    {"aten::subtract", pte_sum, .clamps = true},
    {"aten::true_divide", pte_div, .clamps = false},
    {"corten::adaptive_pool2d", pte_adaptive_pool, .clamps = false},
    {"corten::avg_pool2d", pte_avg_pool, .clamps = false},
    {"corten::conv2d", pte_conv, .clamps = true},
    {"corten::conv_transpose2d", pte_conv_transpose, .clamps = true},
    {"corten::dequantize", pte_dequantize, .clamps = false},
    {"corten::linear", pte_linear, .clamps = true},
    {"corten::matmul", pte_matmul, .clamps = false},
    {"corten::max_pool2d", pte_max_pool, .clamps = true},
    {"corten::quantize", pte_quantize, .clamps = false},
    {"corten::reduce_max", pte_reduce_max, .clamps = false},
    {"corten::reduce_sum", pte_reduce_sum, .clamps = true},
    {"corten::relayout", pte_relayout, .clamps = false},
    {"corten::requantize", pte_requantize, .clamps = false},
    {"corten::softmax", pte_softmax, .clamps = false},
    {"corten::softmax_scaled", pte_softmax, .clamps = false},
    {"corten::table", pte_table, .clamps = false},
};

bool pte_node(Pte *t, Node *n) {
    for (size_t i = 0; i < COUNT_OF(writers); i++)
        if (node_is(n, writers[i].row)) {
            t->clamps = writers[i].clamps;
            return writers[i].write(t, n);
        }
    return (n->op->traits & OP_MOVES_DATA) && pte_movement(t, n);
}
