/* Which operand a call's output may overwrite while the kernel still runs, and what of a call's
 * order of reading and writing that rests on. Its output then begins where the operand does, or
 * some rows below. */
#include "dot_dsp.h"
#include "lower/memory.h"
#include "taps.h"

#include <string.h>

static int64_t not_below_zero(int64_t n) {
    return n > 0 ? n : 0;
}

/* ---- positions in blocks ------------------------------------------------------------------- */

/* The first byte of the input that output position p of a convolution may need. */
static int64_t first_byte(const CtnConv2dS8Args *a, int64_t p) {
    int64_t x = p % a->out_w, y = p / a->out_w % a->out_h, image = p / a->out_w / a->out_h;
    int64_t row = image * a->in_h + not_below_zero(y * a->stride_h - a->pad_top);
    return (row * a->in_w + not_below_zero(x * a->stride_w - a->pad_left)) * a->in_c;
}

/* A kernel that expands the windows of `block` positions into scratch before it writes these: what
 * it has written ends before all that later positions need. */
static bool in_blocks(const Call *call, int block) {
    const CtnConv2dS8Args *a = call->args;
    int64_t needed = INT64_MAX;
    for (int64_t p = (int64_t)a->batches * a->out_h * a->out_w - 1; p > 0; p--) {
        int64_t first = first_byte(a, p);
        needed = first < needed ? first : needed;
        if (p % block == 0 && p * a->out_c > needed)
            return false;
    }
    return a->groups == 1;
}

static bool in_twos(const Call *call) {
    return in_blocks(call, 2);
}

static bool in_fours(const Call *call) {
    return in_blocks(call, 4);
}

/* A last block of fewer than three reads positions again. */
static bool in_threes(const Call *call) {
    const CtnConv2dS8Args *a = call->args;
    int64_t positions = (int64_t)a->batches * a->out_h * a->out_w;
    return positions < 3 ? in_blocks(call, 1) : positions % 3 == 0 && in_blocks(call, 3);
}

static bool one_by_one(const Call *call) {
    return in_blocks(call, 1);
}

/* Rows of products. */
static bool rows_in_blocks(const Call *call, int block) {
    const CtnLinearS8Args *a = call->args;
    return a->rows >= block && (a->rows <= block || a->columns <= a->depth);
}

static bool rows_in_twos(const Call *call) {
    return rows_in_blocks(call, 2);
}

static bool rows_in_fours(const Call *call) {
    return rows_in_blocks(call, 4);
}

/* ---- products of activations --------------------------------------------------------------- */

/* The first byte of the left side that a row of results needs, rows counted through all batches. */
static int64_t lhs_start(const CtnMatmulS8Args *a, int64_t row) {
    int64_t at = row % a->rows * a->lhs_row_stride, batch = row / a->rows;
    for (int k = 3; k >= 0; k--) {
        at += batch % a->batch[k] * a->lhs_batch_stride[k];
        batch /= a->batch[k];
    }
    return at;
}

/* Kernels that read some rows of the left side while they write as many rows of results, one batch
 * after the other: how far below these must lie so that what is written ends before all that is
 * still read. */
static int64_t rows_apart(const Call *call, int together) {
    const CtnMatmulS8Args *a = call->args;
    int64_t rows = a->rows, needed = INT64_MAX, distance = 0;
    for (int k = 0; k < 4; k++)
        rows *= a->batch[k];
    for (int64_t row = rows - 1; row >= 0; row--) {
        int64_t start = lhs_start(a, row), in_batch = row % a->rows, left = a->rows - in_batch;
        needed = start < needed ? start : needed;
        int64_t written = (row + (left < together ? left : together)) * a->columns;
        if (in_batch % together == 0 && written - needed > distance)
            distance = written - needed;
    }
    return distance;
}

static int64_t one_row(const Call *call) {
    return rows_apart(call, 1);
}

static int64_t two_rows(const Call *call) {
    return rows_apart(call, 2);
}

/* Three rows, the last three of a batch anew where they do not come out even, are expanded before
 * their results are written: these end below all that later blocks read. */
static int64_t three_rows(const Call *call) {
    const CtnMatmulS8Args *a = call->args;
    int64_t rows = a->rows, block = rows < CTN_DOT_ROWS ? 1 : CTN_DOT_ROWS;
    int64_t batches = 1, needed = INT64_MAX, distance = 0;
    for (int k = 0; k < 4; k++)
        batches *= a->batch[k];
    for (int64_t batch = batches - 1; batch >= 0; batch--)
        for (int64_t row = (rows - 1) / block * block; row >= 0; row -= block) {
            int64_t first = batch * rows + (row < rows - block ? row : rows - block);
            int64_t written = (first + block) * a->columns, start = lhs_start(a, first);
            distance = written - needed > distance ? written - needed : distance;
            needed = start < needed ? start : needed;
        }
    return distance;
}

/* Strides that go down are nobody's. */
static bool rows_go_up(const Call *call) {
    const CtnMatmulS8Args *a = call->args;
    bool up = a->lhs_row_stride >= 0 && a->lhs_depth_stride >= 0;
    for (int k = 0; k < 4; k++)
        up &= a->lhs_batch_stride[k] >= 0;
    return up;
}

/* Are all columns packed at once, so that no row is read again? A single column is taken as a row.
 */
static bool rows_are_read_once(const Call *call) {
    const CtnMatmulS8Args *a = call->args;
    return rows_go_up(call) && a->columns > 1 &&
           a->columns <= ctn_dot_columns_s16(a->columns, ctn_dot_steps(a->depth));
}

/* ---- channel by channel -------------------------------------------------------------------- */

/* Depthwise kernels that take some channels of the whole image, then the next: nobody else reads or
 * writes these channels, so only their own rows count. */
static bool by_channels(const Call *call) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    int64_t in = (int64_t)a->in_h * a->in_w, out = (int64_t)a->out_h * a->out_w;
    return a->in_c == a->out_c && (a->batches == 1 || out <= in);
}

/* Four channels at a time; the rows under the kernel are copied to scratch before a row of output
 * is written. */
static bool row_by_row(const Call *call) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    bool fits = by_channels(call) && a->out_c % 4 == 0 && a->dilation_h == 1 && a->dilation_w == 1;
    for (int64_t y = 0; y + 1 < a->out_h; y++) {
        int64_t read = not_below_zero(y * a->stride_h - a->pad_top + a->kernel_h);
        read = read < a->in_h ? read : a->in_h;
        fits &= (y + 1) * a->out_w <= read * a->in_w || read == a->in_h;
    }
    return fits;
}

/* Output rows of a channel that kernels by taps.h make after they have read what these need; 0: not
 * row by row. */
static int rows_of_taps(const Call *call) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    CtnTapsAxis line, run;
    ctn_taps_axes(a, &line, &run);
    int lines = ctn_taps_lines(&line, &run);
    if (a->turned)
        return lines >= line.out ? CTN_TAPS_BLOCK : 0;
    return run.out <= CTN_TAPS_BLOCK ? lines : 0;
}

bool call_reads_first(const Call *call, int rows) {
    bool taps = strcmp(call->variant->symbol, "ctn_depthwise_conv2d_s8_v6m") == 0 ||
                strcmp(call->variant->symbol, "ctn_depthwise_conv2d_s8_v7m") == 0;
    return taps && by_channels(call) && rows <= rows_of_taps(call);
}

static bool by_taps(const Call *call) {
    const CtnDepthwiseConv2dS8Args *a = call->args;
    int rows = rows_of_taps(call);
    bool fits = by_channels(call) && rows > 0;
    for (int64_t y = rows; fits && y < a->out_h; y += rows)
        fits = y * a->out_w <= not_below_zero(y * a->stride_h - a->pad_top) * a->in_w;
    return fits;
}

/* ---- the lists ----------------------------------------------------------------------------- */

/* Kernels that read element i of these operands, in order, before they write element i of the
 * output, and other operands only elsewhere: the output may overwrite them. */
static const struct {
    int kernel;
    const char *operand;
    const char *dims, *strides; /* INTS that must describe a dense walk; NULL: always does */
} elementwise[] = {
    {CTN_KERNEL_table_s8, "input", NULL, NULL},
    {CTN_KERNEL_table_s16, "input", NULL, NULL},
    {CTN_KERNEL_pieces_s16, "input", NULL, NULL},
    {CTN_KERNEL_add_s8, "a", "dim", "a_stride"},
    {CTN_KERNEL_add_s8, "b", "dim", "b_stride"},
    {CTN_KERNEL_add_s16, "a", "dim", "a_stride"},
    {CTN_KERNEL_add_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_add_map_s16, "a", "dim", "a_stride"},
    {CTN_KERNEL_add_map_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_mul_s8, "a", "dim", "a_stride"},
    {CTN_KERNEL_mul_s8, "b", "dim", "b_stride"},
    {CTN_KERNEL_mul_s16, "a", "dim", "a_stride"},
    {CTN_KERNEL_mul_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_mul_map_s16, "a", "dim", "a_stride"},
    {CTN_KERNEL_mul_map_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_prelu_s8, "input", "dim", "in_stride"},
    {CTN_KERNEL_conv2d_add_s8, "skip", NULL, NULL},
    {CTN_KERNEL_conv2d_add_s8w4, "skip", NULL, NULL},
    {CTN_KERNEL_softmax_s8, "input", NULL, NULL},
    {CTN_KERNEL_softmax_f32, "input", NULL, NULL},
    {CTN_KERNEL_program_f32, "a", "dim", "a_stride"},
    {CTN_KERNEL_program_f32, "b", "dim", "b_stride"},
    {CTN_KERNEL_program_f32, "c", "dim", "c_stride"},
    {CTN_KERNEL_program_erf_f32, "a", "dim", "a_stride"},
    {CTN_KERNEL_program_erf_f32, "b", "dim", "b_stride"},
    {CTN_KERNEL_program_erf_f32, "c", "dim", "c_stride"},
    {CTN_KERNEL_program_exp_f32, "a", "dim", "a_stride"},
    {CTN_KERNEL_program_exp_f32, "b", "dim", "b_stride"},
    {CTN_KERNEL_program_exp_f32, "c", "dim", "c_stride"},
    {CTN_KERNEL_program_basic_f32, "a", "dim", "a_stride"},
    {CTN_KERNEL_program_basic_f32, "b", "dim", "b_stride"},
    {CTN_KERNEL_program_basic_f32, "c", "dim", "c_stride"},
};

/* Variants that read, in an order of their own, what they need before they write over it. */
static const struct {
    const char *symbol, *operand;
    bool (*fits)(const Call *call);
    int64_t (*distance)(const Call *call); /* NULL: 0 */
    bool channels;                         /* by channels: only at a distance of whole pixels */
} ordered[] = {
    {"ctn_conv2d_s8_v6m", "input", in_twos, NULL, false},
    {"ctn_conv2d_s8_v7m", "input", in_fours, NULL, false},
    {"ctn_conv2d_s8_dsp", "input", in_threes, NULL, false},
    {"ctn_conv2d_s8_dsp_small", "input", one_by_one, NULL, false},
    {"ctn_linear_s8_v6m", "input", rows_in_twos, NULL, false},
    {"ctn_linear_s8_v7m", "input", rows_in_fours, NULL, false},
    {"ctn_matmul_s8_v6m", "lhs", rows_go_up, two_rows, false},
    {"ctn_matmul_s8_v7m", "lhs", rows_go_up, two_rows, false},
    {"ctn_matmul_s8_dsp", "lhs", rows_are_read_once, three_rows, false},
    {"ctn_matmul_s8_mve", "lhs", rows_go_up, one_row, false},
    {"ctn_depthwise_conv2d_s8_v6m", "input", by_taps, NULL, true},
    {"ctn_depthwise_conv2d_s8_v7m", "input", by_taps, NULL, true},
    {"ctn_depthwise_conv2d_s8_dsp", "input", row_by_row, NULL, true},
};

static bool elementwise_over(const Call *call, const CallRef *operand) {
    const CallRef *output = call_ref_named(call, "output");
    for (size_t i = 0; i < COUNT_OF(elementwise); i++)
        if (elementwise[i].kernel == call->kernel &&
            call_ref_named(call, elementwise[i].operand) == operand)
            return output && output->buffer->bytes == operand->buffer->bytes &&
                   (!elementwise[i].dims ||
                    call_walks_densely(call, elementwise[i].dims, elementwise[i].strides));
    return false;
}

static size_t ordered_row(const Call *call) {
    size_t i = 0;
    while (i < COUNT_OF(ordered) && strcmp(ordered[i].symbol, call->variant->symbol) != 0)
        i++;
    return i;
}

bool call_may_overwrite(const Call *call, const CallRef *operand) {
    size_t i = ordered_row(call);
    if (operand->offset != 0)
        return false;
    if (i < COUNT_OF(ordered))
        return operand == call_ref_named(call, ordered[i].operand) && ordered[i].fits(call);
    return elementwise_over(call, operand);
}

int64_t call_overwrite_distance(const Call *call) {
    size_t i = ordered_row(call);
    return i < COUNT_OF(ordered) && ordered[i].distance ? ordered[i].distance(call) : 0;
}

int call_overwrite_step(const Call *call) {
    size_t i = ordered_row(call);
    return i < COUNT_OF(ordered) && ordered[i].channels ? *call_ints(call, "in_c") : 1;
}
