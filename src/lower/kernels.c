/* The kernel table and the variant table, made from the runtime's two lists (runtime/kernels.h),
 * and the choice of a variant. Among the rows of a kernel a later one is the better one. */
#include "lower/packing.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#define ROW_REF(name) {FIELD_REF, #name, 0, 1},
#define ROW_INT(name) {FIELD_INT, #name, 0, 1},
#define ROW_INTS(name, n) {FIELD_INTS, #name, 0, n},
#define FIELD_TABLE(name, Struct, FIELDS)                                                          \
    static KernelField fields_##name[] = {FIELDS(ROW_REF, ROW_INT, ROW_INTS)};
CTN_KERNELS(FIELD_TABLE)

#define KERNEL_ROW(name, Struct, FIELDS)                                                           \
    {#name, "Ctn" #Struct "Args", (int)sizeof(Ctn##Struct##Args), (int)COUNT_OF(fields_##name),    \
     fields_##name},
static const Kernel kernel_table[] = {CTN_KERNELS(KERNEL_ROW)};

/* Every field is 4 bytes wide and a struct has no padding: offsets are running sums. */
static void fill_offsets(void) {
    for (size_t k = 0; k < COUNT_OF(kernel_table); k++) {
        KernelField *field = (KernelField *)kernel_table[k].field;
        int offset = 0;
        for (int i = 0; i < kernel_table[k].field_count; i++) {
            field[i].offset = offset;
            offset += 4 * field[i].count;
        }
        assert(offset == kernel_table[k].args_bytes);
    }
}

const Kernel *kernel_at(int id) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_offsets);
    assert(id >= 0 && id < CTN_KERNEL_COUNT);
    return &kernel_table[id];
}

#define PLAIN_THUNK(name, Struct, FIELDS)                                                          \
    static void host_##name(const void *args, const CtnFrame *frame) {                             \
        ctn_##name(args, frame);                                                                   \
    }
#define VARIANT_THUNK(name, Struct, isa, accepts, pack)                                            \
    static void host_##name##_##isa(const void *args, const CtnFrame *frame) {                     \
        ctn_##name##_##isa(args, frame);                                                           \
    }
CTN_KERNELS(PLAIN_THUNK)
CTN_VARIANTS(VARIANT_THUNK)

#define PLAIN_ROW(name, Struct, FIELDS)                                                            \
    {CTN_KERNEL_##name, NULL,        false,    "ctn_" #name,                                       \
     #name ".c",        host_##name, any_call, keep_constants},
#define LEVEL_v6m "v6m", false
#define LEVEL_v6m_map "v6m", false
#define LEVEL_v7m "v7m", false
#define LEVEL_v7m_map "v7m", false
#define LEVEL_dsp "dsp", false
#define LEVEL_dsp_map "dsp", false
#define LEVEL_dsp_small "dsp", true
#define LEVEL_mve "mve", false
#define LEVEL_mve_map "mve", false
#define VARIANT_ROW(name, Struct, isa, accepts, pack)                                              \
    {CTN_KERNEL_##name,                                                                            \
     LEVEL_##isa,                                                                                  \
     "ctn_" #name "_" #isa,                                                                        \
     #name "_" #isa ".c",                                                                          \
     host_##name##_##isa,                                                                          \
     accepts,                                                                                      \
     pack},
const Variant variant_table[] = {CTN_KERNELS(PLAIN_ROW) CTN_VARIANTS(VARIANT_ROW)};
const int variant_table_count = COUNT_OF(variant_table);

bool any_call(const Call *call) {
    (void)call;
    return true;
}

void keep_constants(C *c, Graph *g, Call *call) {
    (void)c;
    (void)g;
    (void)call;
}

int isa_rank(const char *isa) {
    for (int i = 0; isa && i < isa_level_count; i++)
        if (strcmp(isa_levels[i], isa) == 0)
            return i;
    return -1;
}

bool variant_runs_on(const Variant *v, const char *isa) {
    return isa_rank(v->isa) <= isa_rank(isa);
}

const Variant *variant_choose(const Call *call, const char *isa) {
    const Variant *best = NULL;
    for (int i = 0; i < variant_table_count; i++) {
        const Variant *v = &variant_table[i];
        if (v->kernel == call->kernel && !v->small && variant_runs_on(v, isa) &&
            (!best || isa_rank(v->isa) >= isa_rank(best->isa)) && v->accepts(call))
            best = v;
    }
    return best;
}

bool variant_is_given(const Call *call) {
    bool listed = false;
    for (int i = 0; i < variant_table_count; i++)
        listed |= call->variant == &variant_table[i];
    return call->variant && !listed;
}

void variant_settle(Call *call, const char *isa) {
    if (variant_is_given(call))
        return;
    call->variant = variant_choose(call, isa);
    if (!call->variant->isa)
        int4_to_bytes(call, isa);
    if (linear_runs_as_pixels(call)) {
        linear_to_pixels(call->graph->c, call);
        call->variant = variant_choose(call, isa);
    }
}
