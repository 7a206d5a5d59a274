/* The cases: a maker per kernel draws shapes and numbers from one generator, seeded by kernel and
 * index, so that host and chip see the same. Accumulators stay within int32 by construction. */
#include "kernel/maker.h"

#include <stdlib.h>
#include <string.h>
#ifdef CORTEN_SANITIZED
#include <sanitizer/asan_interface.h>
#endif

uint32_t next(Maker *m) { /* xorshift64* */
    m->state ^= m->state >> 12;
    m->state ^= m->state << 25;
    m->state ^= m->state >> 27;
    return (uint32_t)((m->state * 0x2545f4914f6cdd1dULL) >> 32);
}

int32_t between(Maker *m, int32_t low, int32_t high) {
    return (int32_t)(low + (int64_t)(next(m) % ((uint32_t)high - (uint32_t)low + 1)));
}

bool chance(Maker *m, int percent) {
    return between(m, 1, 100) <= percent;
}

Value *tensor(Maker *m, const char *name, DType dtype, int64_t count) {
    return value_new(m->g, name, type_make(dtype, 1, &count));
}

void constant(Call *call, uint32_t *field, DType dtype, int64_t count, const void *data) {
    call_const(call, field, "constant", dtype, data, count * dtype_size(dtype), dtype_size(dtype));
}

void random_table(Maker *m, Call *call, uint32_t *field, int percent) {
    if (!chance(m, percent)) {
        call_absent(call, field);
        return;
    }
    int8_t entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (int8_t)next(m);
    constant(call, field, DT_I8, 256, entry);
}

void random_clamp(Maker *m, int32_t *min, int32_t *max) {
    *min = -128;
    *max = 127;
    if (chance(m, 50))
        *min = between(m, -128, 0);
    if (chance(m, 30))
        *max = between(m, 1, 127);
}

void random_store(Maker *m, Call *call, int32_t *min, int32_t *max, uint32_t *table) {
    call_absent(call, table);
    if (!chance(m, 30)) {
        random_clamp(m, min, max);
        return;
    }
    int bits = chance(m, 50) ? 8 : 10;
    *min = -(1 << (bits - 1));
    *max = (1 << (bits - 1)) - 1;
    int8_t entry[1024];
    for (int i = 0; i < 1 << bits; i++)
        entry[i] = (int8_t)next(m);
    constant(call, table, DT_I8, 1 << bits, entry);
}

int32_t random_zero_point(Maker *m) {
    return chance(m, 20) ? (chance(m, 50) ? -128 : 127) : between(m, -128, 127);
}

static bool has_int4_weights(int kernel) {
    return kernel == CTN_KERNEL_conv2d_s8w4 || kernel == CTN_KERNEL_conv2d_add_s8w4 ||
           kernel == CTN_KERNEL_depthwise_conv2d_s8w4 || kernel == CTN_KERNEL_linear_s8w4;
}

static uint8_t *nibbles(Maker *m, const int8_t *w, int64_t count) {
    uint8_t *packed = NEW_ARRAY(m->c, uint8_t, (count + 1) / 2);
    for (int64_t i = 0; i < count; i++)
        packed[i / 2] |= (uint8_t)((w[i] & 15) << (i % 2 ? 4 : 0));
    return packed;
}

/* Weights, biases and factors of `channels` outputs with `depth` products each. The factors bring
 * sums to about the output's range; some are far off. */
void channel_constants(Maker *m, Call *call, int64_t channels, int64_t depth, uint32_t *weights,
                       uint32_t *bias, uint32_t *multiplier, uint32_t *shift) {
    int8_t *w = NEW_ARRAY(m->c, int8_t, channels * depth);
    int32_t *b = NEW_ARRAY(m->c, int32_t, channels), *f = NEW_ARRAY(m->c, int32_t, channels);
    int8_t *s = NEW_ARRAY(m->c, int8_t, channels);
    bool left = chance(m, 10), by_tap = call->kernel == CTN_KERNEL_depthwise_conv2d_s8 ||
                                        call->kernel == CTN_KERNEL_depthwise_conv2d_s8w4;
    int32_t top = has_int4_weights(call->kernel) ? 7 : 127;
    int bits = 0;
    while (bits < 20 && ((int64_t)1 << bits) < depth)
        bits++;
    for (int64_t i = 0; i < channels * depth; i++)
        w[i] = (int8_t)(m->extreme ? (chance(m, 50) ? top : -top) : between(m, -top, top));
    for (int64_t i = 0; i < channels; i++) {
        b[i] = between(m, -65536, 65536);
        f[i] = between(m, 1 << 30, 0x7fffffff);
        s[i] = (int8_t)(between(m, -7, -4) - bits / 2);
        if (chance(m, 5))
            s[i] = (int8_t)(chance(m, 50) ? -31 : -20);
        if (!left && chance(m, 5)) { /* as good as constant: the bias is all there is */
            b[i] = between(m, -(1 << 30), 1 << 30);
            s[i] = (int8_t)between(m, -28, -20);
            bool zeros = chance(m, 70);
            for (int64_t k = 0; zeros && k < depth; k++)
                w[by_tap ? k * channels + i : i * depth + k] = 0;
        }
        if (left)
            s[i] = (int8_t)between(m, 0, 4); /* depth * 255 * 127 + 2^16 < 2^27 */
    }
    if (chance(m, 5))
        f[0] = 0;
    if (top == 7)
        constant(call, weights, DT_U8, (channels * depth + 1) / 2, nibbles(m, w, channels * depth));
    else
        constant(call, weights, DT_I8, channels * depth, w);
    if (chance(m, 85))
        constant(call, bias, DT_I32, channels, b);
    else
        call_absent(call, bias);
    constant(call, multiplier, DT_I32, channels, f);
    constant(call, shift, DT_I8, channels, s);
}

#define MAKER(name) [CTN_KERNEL_##name] = make_##name
static void (*const makers[CTN_KERNEL_COUNT])(Maker *, Call *) = {
    MAKER(layer_norm_s8),
    MAKER(gru_s8),
    MAKER(rnn_s8),
    MAKER(move),
    MAKER(conv_f32),
    MAKER(matmul_f32),
    MAKER(pool_f32),
    MAKER(reduce_f32),
    MAKER(cumsum_f32),
    MAKER(softmax_f32),
    MAKER(layer_norm_f32),
    MAKER(resample2d_f32),
    MAKER(grid_sample2d_f32),
    MAKER(sort_f32),
    MAKER(program_f32),
    MAKER(program_erf_f32),
    MAKER(program_exp_f32),
    MAKER(program_basic_f32),
    MAKER(conv2d_s8),
    MAKER(depthwise_conv2d_s8),
    MAKER(conv3d_s8),
    MAKER(conv_transpose2d_s8),
    MAKER(conv2d_add_s8),
    MAKER(conv2d_channels_s8),
    MAKER(linear_s8),
    MAKER(matmul_s8),
    MAKER(add_s8),
    MAKER(add_s16),
    MAKER(add_map_s16),
    MAKER(mul_s8),
    MAKER(mul_s16),
    MAKER(mul_map_s16),
    MAKER(div_s8),
    MAKER(div_s16),
    MAKER(minmax_s8),
    MAKER(minmax_s16),
    MAKER(compare_s8),
    MAKER(compare_s16),
    MAKER(logical_s8),
    MAKER(where),
    MAKER(prelu_s8),
    MAKER(pointwise2_s8),
    MAKER(integer),
    MAKER(quantize_integer),
    MAKER(rescale),
    MAKER(table_s8),
    MAKER(table_s16),
    MAKER(pieces_s16),
    MAKER(copy),
    MAKER(gather),
    MAKER(fill),
    MAKER(take),
    MAKER(upsample_bilinear2d_s8),
    MAKER(upsample_bilinear2d_s16),
    MAKER(max_pool2d_s8),
    MAKER(avg_pool2d_s8),
    MAKER(reduce_sum_s8),
    MAKER(reduce_max_s8),
    MAKER(reduce_max_s16),
    MAKER(reduce_max_map_s16),
    MAKER(softmax_s8),
    MAKER(lstm_s8),
    MAKER(quantize_s8),
    MAKER(dequantize_s8),
    MAKER(quantize_s16),
    MAKER(dequantize_s16),
    MAKER(linear_s16),
    MAKER(conv2d_s16),
    MAKER(matmul_s16),
    MAKER(reduce_sum_s16),
    MAKER(reduce_sum_map_s16),
    MAKER(avg_pool2d_s16),
    MAKER(avg_pool2d_map_s16),
    MAKER(max_pool2d_s16),
    MAKER(max_pool2d_map_s16),
    MAKER(softmax_s16),
    MAKER(argmax),
    MAKER(cumsum_s8),
    MAKER(adaptive_pool2d_s8),
    MAKER(adaptive_max_indices_s8),
    MAKER(max_pool2d_indices_s8),
    MAKER(reduce_int),
    MAKER(masked_softmax_s8),
    MAKER(log_softmax_s8),
    [CTN_KERNEL_conv2d_s8w4] = make_conv2d_s8,
    [CTN_KERNEL_conv2d_add_s8w4] = make_conv2d_add_s8,
    [CTN_KERNEL_depthwise_conv2d_s8w4] = make_depthwise_conv2d_s8,
    [CTN_KERNEL_linear_s8w4] = make_linear_s8,
};

/* ---- placing ------------------------------------------------------------------------------- */

enum { GAP = 32 };

/* A generator of its own for each buffer: packing adds, moves and swaps references, and the
 * operands of a variant must be those of plain C. */
static Maker maker_of(const Maker *m, const CallRef *ref) {
    Maker own = *m;
    own.state ^= 0x9e3779b97f4a7c15ULL * (uint64_t)(ref->buffer->id + 1);
    for (int i = 0; i < 4; i++)
        next(&own);
    return own;
}

/* Activations lie anywhere: bytes at any address, wider elements aligned to themselves. Constants
 * and scratch have the alignment that they asked for and no more. */
static void place(const Maker *m, int64_t *top, const CallRef *ref) {
    Buffer *b = ref->buffer;
    Maker own = maker_of(m, ref);
    int64_t at = (*top + 63) / 64 * 64;
    if (b->kind == BUFFER_VALUE)
        at += between(&own, 0, 15) * dtype_size(b->element);
    else if (b->align < 64)
        at += b->align;
    b->offset = at;
    b->region = b->kind == BUFFER_CONSTANT ? CTN_WEIGHTS : CTN_ARENA;
    *top = at + b->bytes + GAP;
}

static bool placed_before(const Call *call, int i) {
    for (int k = 0; k < i; k++)
        if (call->ref[k].buffer == call->ref[i].buffer)
            return true;
    return false;
}

static void place_buffers(const Maker *m, KernelCase *k) {
    int64_t arena = GAP, weights = 0;
    for (int i = 0; i < k->call->ref_count; i++) {
        const CallRef *ref = &k->call->ref[i];
        uint32_t value = CTN_NONE;
        if (ref->buffer) {
            Buffer *b = ref->buffer;
            if (!placed_before(k->call, i))
                place(m, b->kind == BUFFER_CONSTANT ? &weights : &arena, ref);
            value = CTN_REF(b->region, b->offset + ref->offset);
            if (b->kind == BUFFER_SCRATCH) {
                k->scratch = b->offset;
                k->scratch_bytes = b->bytes;
            } else if (ref->writes) {
                k->output = b->offset;
                k->output_bytes = b->bytes;
            }
        }
        memcpy((char *)k->call->args + ref->field_offset, &value, sizeof value);
    }
    k->arena_bytes = arena + 64;
    k->weights_bytes = weights + 64;
}

static uint8_t *image(C *c, int64_t bytes) {
    uint8_t *p = c_alloc(c, (size_t)bytes + 64);
    return p + (64 - (uintptr_t)p % 64) % 64;
}

static void fill_operand(const Maker *m, const CallRef *ref, uint8_t *to) {
    Maker own = maker_of(m, ref);
    const Buffer *b = ref->buffer;
    for (int64_t i = 0; i < b->bytes; i++)
        to[i] = (uint8_t)(m->extreme ? (chance(&own, 50) ? 127 : 128) : next(&own));
    for (int64_t i = 0; b->element == DT_BOOL && i < b->bytes; i++)
        to[i] &= 1; /* so that a mask hides a half, as a causal one does */
    for (int64_t f = 0; b->element == DT_F32 && f < b->bytes / 4; f++) {
        float x = (float)between(&own, -4000, 4000) / (m->near_one ? 1024.0f : 64.0f);
        if (m->near_one ? !chance(&own, 2) : f % 3 == 0)
            memcpy(to + 4 * f, &x, 4);
    }
}

static void fill_images(const Maker *m, KernelCase *k) {
    k->arena = image(m->c, k->arena_bytes);
    k->weights = image(m->c, k->weights_bytes);
    Maker between_operands = *m; /* the arena's size is the variant's own */
    for (int64_t i = 0; i < k->arena_bytes; i++)
        k->arena[i] = (uint8_t)next(&between_operands);
    for (int i = 0; i < k->call->ref_count; i++) {
        const CallRef *ref = &k->call->ref[i];
        if (ref->buffer && ref->buffer->kind == BUFFER_CONSTANT)
            memcpy(k->weights + ref->buffer->offset, ref->buffer->data, (size_t)ref->buffer->bytes);
        else if (ref->buffer)
            fill_operand(m, ref, k->arena + ref->buffer->offset);
    }
}

int case_count(int kernel) {
    return !makers[kernel] ? 0 : kernel == CTN_KERNEL_copy ? 200 : 60;
}

KernelCase *case_make(C *c, const Variant *variant, int index) {
    Maker m = {.c = c, .g = graph_new(c, "case"), .index = index};
    m.large = index >= case_count(variant->kernel);
    m.state = 0x9e3779b97f4a7c15ULL * (uint64_t)(variant->kernel * 1000 + index + 1);
    m.extreme = index % 8 == 7 && !m.large;
    for (int i = 0; i < 8; i++)
        next(&m);
    KernelCase *k = NEW(c, KernelCase);
    k->graph = m.g;
    k->call = call_new(c, m.g, NULL, variant->kernel);
    k->call->variant = k->variant = variant;
    makers[variant->kernel](&m, k->call);
    if (!variant->accepts(k->call))
        return NULL;
    variant->pack(c, m.g, k->call);
    k->variant = k->call->variant; /* packing may turn a call into another kernel's */
    place_buffers(&m, k);
    fill_images(&m, k);
    return k;
}

/* Under the sanitizer only operands, output and scratch may be touched while a kernel runs. */
static void guard(const KernelCase *k, uint8_t *arena, bool on) {
#ifdef CORTEN_SANITIZED
    if (!on) {
        __asan_unpoison_memory_region(arena, (size_t)k->arena_bytes);
        return;
    }
    __asan_poison_memory_region(arena, (size_t)k->arena_bytes);
    for (int i = 0; i < k->call->ref_count; i++) {
        const Buffer *b = k->call->ref[i].buffer;
        if (b && b->kind != BUFFER_CONSTANT)
            __asan_unpoison_memory_region(arena + b->offset, (size_t)b->bytes);
    }
#else
    (void)k, (void)arena, (void)on;
#endif
}

uint8_t *case_run(C *c, const KernelCase *k) {
    uint8_t *arena = image(c, k->arena_bytes);
    memcpy(arena, k->arena, (size_t)k->arena_bytes);
    CtnFrame frame = {{arena, NULL, k->weights}};
    guard(k, arena, true);
    k->variant->host(k->call->args, &frame);
    guard(k, arena, false);
    return arena;
}

int64_t case_stray_write(const KernelCase *k, const uint8_t *after) {
    for (int64_t i = 0; i < k->arena_bytes; i++) {
        bool may = (i >= k->output && i < k->output + k->output_bytes) ||
                   (i >= k->scratch && i < k->scratch + k->scratch_bytes);
        if (!may && after[i] != k->arena[i])
            return i;
    }
    return -1;
}
