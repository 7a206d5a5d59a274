/* Plan: where every buffer lies. Constants and states are laid out one behind the other; buffers of
 * the arena share memory when their lifetimes do not meet, and an output may overwrite an operand
 * that dies with its call where the kernel, or the order of a strip's rows, permits it. */
#include "lower/memory.h"

#include <assert.h>
#include <string.h>

enum { REGION_ALIGN = 16 };

int64_t align_up(int64_t n, int align) {
    return (n + align - 1) / align * align;
}

/* ---- lifetimes ----------------------------------------------------------------------------- */

static void live_at(Buffer *b, int first, int last) {
    b->first_call = first < b->first_call ? first : b->first_call;
    b->last_call = last > b->last_call ? last : b->last_call;
}

static Buffer *boundary_buffer(Graph *g, const Arg *arg) {
    return arg->kind == ARG_VALUE ? value_buffer(g, arg->u.value) : NULL;
}

static void live_at_boundaries(Plan *p) {
    Graph *g = p->g;
    for (int i = 0; i < g->input_count; i++) {
        Buffer *b = boundary_buffer(g, &g->input[i]);
        if (b)
            live_at(b, 0, p->options->keep_inputs ? p->end : 0);
    }
    for (int i = 0; i < g->output_count; i++)
        if (boundary_buffer(g, &g->output[i]))
            live_at(boundary_buffer(g, &g->output[i]), p->end, p->end);
}

/* Moments: call i happens at i + 1; inputs are written at 0, outputs are read at the end. What a
 * strip touches lives during all of its calls. */
static void find_lifetimes(Plan *p) {
    Graph *g = p->g;
    for (int i = 0; i < g->buffer_count; i++) {
        g->buffer[i]->first_call = p->end + 1;
        g->buffer[i]->last_call = -1;
        g->buffer[i]->over = NULL;
        g->buffer[i]->region = g->buffer[i]->kind == BUFFER_CONSTANT ? CTN_WEIGHTS : CTN_ARENA;
    }
    for (int i = 0; i < g->state_count; i++)
        value_buffer(g, g->state[i].before)->region = CTN_STATE;
    for (int i = 0; p->options->bind_inputs && i < g->input_count; i++)
        if (boundary_buffer(g, &g->input[i]))
            boundary_buffer(g, &g->input[i])->region = CTN_INPUTS;
    for (Call *call = g->first_call; call; call = call->next) {
        const Strip *s = strip_of(g, call);
        int first = s ? s->first->index : call->index, last = s ? s->last->index : call->index;
        for (int r = 0; r < call->ref_count; r++)
            if (call->ref[r].buffer)
                live_at(call->ref[r].buffer, first + 1, last + 1);
    }
    live_at_boundaries(p);
}

/* ---- in place ------------------------------------------------------------------------------ */

/* Kernels that read element i of these operands, in order, before they write element i of the
 * output, and other operands only elsewhere: the output may overwrite them. */
static const struct {
    int kernel;
    const char *operand;
    const char *dims, *strides; /* INTS that must describe a dense walk; NULL: always does */
} in_place[] = {
    {CTN_KERNEL_table_s8, "input", NULL, NULL},
    {CTN_KERNEL_table_s16, "input", NULL, NULL},
    {CTN_KERNEL_add_s8, "a", "dim", "a_stride"},
    {CTN_KERNEL_add_s8, "b", "dim", "b_stride"},
    {CTN_KERNEL_add_s16, "a", "dim", "a_stride"},
    {CTN_KERNEL_add_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_mul_s8, "a", "dim", "a_stride"},
    {CTN_KERNEL_mul_s8, "b", "dim", "b_stride"},
    {CTN_KERNEL_mul_s16, "a", "dim", "a_stride"},
    {CTN_KERNEL_mul_s16, "b", "dim", "b_stride"},
    {CTN_KERNEL_prelu_s8, "input", "dim", "in_stride"},
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

const KernelField *kernel_field(int kernel, const char *name) {
    const Kernel *k = kernel_at(kernel);
    for (int i = 0; i < k->field_count; i++)
        if (strcmp(k->field[i].name, name) == 0)
            return &k->field[i];
    return NULL;
}

const CallRef *call_ref_named(const Call *call, const char *name) {
    const KernelField *field = kernel_field(call->kernel, name);
    for (int r = 0; field && r < call->ref_count; r++)
        if (call->ref[r].field_offset == field->offset && call->ref[r].buffer)
            return &call->ref[r];
    return NULL;
}

const int32_t *call_ints(const Call *call, const char *name) {
    const KernelField *field = kernel_field(call->kernel, name);
    return field ? (const int32_t *)((const char *)call->args + field->offset) : NULL;
}

bool call_walks_densely(const Call *call, const char *dims, const char *strides) {
    const int32_t *dim = call_ints(call, dims), *stride = call_ints(call, strides);
    int64_t dense = 1;
    for (int k = kernel_field(call->kernel, dims)->count - 1; k >= 0; k--) {
        if (dim[k] > 1 && stride[k] != dense)
            return false;
        dense *= dim[k];
    }
    return true;
}

static bool dies_here(const Buffer *in, const Buffer *out) {
    return in->region == CTN_ARENA && in->kind == BUFFER_VALUE && in != out &&
           in->last_call == out->first_call && in->first_call < out->first_call;
}

static Buffer *overwritable(const Call *call, const Buffer *out) {
    for (size_t i = 0; i < COUNT_OF(in_place); i++) {
        if (in_place[i].kernel != call->kernel)
            continue;
        const CallRef *ref = call_ref_named(call, in_place[i].operand);
        if (ref && ref->offset == 0 && dies_here(ref->buffer, out) &&
            ref->buffer->bytes == out->bytes &&
            (!in_place[i].dims || call_walks_densely(call, in_place[i].dims, in_place[i].strides)))
            return ref->buffer;
    }
    return NULL;
}

/* The largest buffer that dies in the strip and that its output can follow closely. */
static void overlap_strip(const Strip *s, Buffer *out) {
    for (const Call *call = s->first;; call = call->next) {
        for (int r = 0; r < call->ref_count; r++) {
            Buffer *in = call->ref[r].buffer;
            if (!in || in == out->over || call->ref[r].writes || in->region != CTN_ARENA ||
                in->kind != BUFFER_VALUE || in->last_call != out->first_call + s->call_count - 1 ||
                in->first_call >= out->first_call || (out->over && out->over->bytes >= in->bytes))
                continue;
            int64_t distance = strip_distance(s, in);
            if (distance < 0)
                continue;
            out->over = in;
            out->over_distance = distance;
            out->over_upward = s->upward;
        }
        if (call == s->last)
            return;
    }
}

static void find_overlaps(Plan *p) {
    for (const Call *call = p->g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++) {
            Buffer *out = call->ref[r].buffer;
            const Strip *s = strip_of(p->g, call);
            if (!out || !call->ref[r].writes || out->kind != BUFFER_VALUE ||
                out->region != CTN_ARENA || call->ref[r].offset != 0)
                continue;
            if (s && call == s->last && out->first_call == s->first->index + 1)
                overlap_strip(s, out);
            if (!s && out->first_call == call->index + 1) {
                out->over = overwritable(call, out);
                out->over_distance = 0;
                out->over_upward = false;
            }
        }
}

/* ---- slots --------------------------------------------------------------------------------- */

void plan_slots(Plan *p) {
    Graph *g = p->g;
    find_lifetimes(p);
    find_overlaps(p);
    p->slot_count = 0;
    for (int i = 0; i < g->buffer_count; i++) {
        Buffer *b = g->buffer[i];
        bool lives = b->region == CTN_ARENA && b->last_call >= 0 && b->bytes > 0;
        p->slot_of[b->id] = lives ? p->slot_count : -1;
        if (lives)
            p->slot[p->slot_count++] = (Slot){.buffer = b,
                                              .bytes = b->bytes,
                                              .align = b->align,
                                              .first = b->first_call,
                                              .last = b->last_call,
                                              .turn = -1,
                                              .over = -1};
    }
    for (const Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++) {
            const Buffer *b = call->ref[r].buffer;
            if (b && b->kind == BUFFER_SCRATCH && p->slot_of[b->id] >= 0)
                p->slot[p->slot_of[b->id]].turn = call->index;
        }
    for (int i = 0; i < p->slot_count; i++) {
        const Buffer *over = p->slot[i].buffer->over;
        p->slot[i].over = over ? p->slot_of[over->id] : -1;
    }
}

/* ---- the other regions --------------------------------------------------------------------- */

/* Constants that are equal to the byte share one place. */
static Buffer *same_constant(Graph *g, const Buffer *b) {
    for (int i = 0; i < b->id && i < g->buffer_count; i++) {
        Buffer *o = g->buffer[i];
        if (o->kind == BUFFER_CONSTANT && o->region == CTN_WEIGHTS && o->bytes == b->bytes &&
            o->last_call >= 0 && o->align >= b->align && o->element == b->element &&
            memcmp(o->data, b->data, (size_t)b->bytes) == 0)
            return o;
    }
    return NULL;
}

/* weights_bytes is the size of the emitted struct. */
static void place_constants(Graph *g) {
    int64_t weights = 0, state = 0, inputs = 0;
    for (int i = 0; i < g->buffer_count; i++) {
        Buffer *b = g->buffer[i];
        if (b->region == CTN_STATE) {
            state = align_up(state, REGION_ALIGN);
            b->offset = state;
            state += b->bytes;
        } else if (b->region == CTN_INPUTS) {
            inputs = align_up(inputs, REGION_ALIGN);
            b->offset = inputs;
            inputs += b->bytes;
        } else if (b->kind == BUFFER_CONSTANT && b->last_call >= 0) {
            const Buffer *same = same_constant(g, b);
            if (same) {
                b->offset = same->offset;
                continue;
            }
            int align = b->align > dtype_size(b->element) ? b->align : dtype_size(b->element);
            weights = align_up(weights, align);
            b->offset = weights;
            weights += b->bytes;
        }
    }
    g->weights_bytes = align_up(weights, CONSTANTS_ALIGN);
    g->state_bytes = align_up(state, REGION_ALIGN);
    g->input_bytes = align_up(inputs, REGION_ALIGN);
}

static void fill_refs(Graph *g) {
    for (Call *call = g->first_call; call; call = call->next)
        for (int r = 0; r < call->ref_count; r++) {
            const CallRef *ref = &call->ref[r];
            uint32_t value = CTN_NONE;
            if (ref->buffer)
                value = CTN_REF(ref->buffer->region, ref->buffer->offset + ref->offset);
            memcpy((char *)call->args + ref->field_offset, &value, sizeof value);
        }
}

/* A reference has 28 bits for its offset. */
static void check_sizes(C *c, const Graph *g) {
    int64_t limit = (int64_t)1 << 28;
    Loc loc = {.file = g->archive_path};
    if (g->arena_bytes >= limit || g->weights_bytes >= limit || g->state_bytes >= limit)
        fatal(
            c, DIAG_MODEL, &loc,
            "a region is too large: arena %lld, weights %lld, state %lld bytes; the limit is %lld",
            (long long)g->arena_bytes, (long long)g->weights_bytes, (long long)g->state_bytes,
            (long long)limit);
}

static Plan plan_begin(C *c, Graph *g, const Options *o) {
    Plan p = {.c = c, .g = g, .options = o};
    int moment = 0;
    for (Call *call = g->first_call; call; call = call->next)
        call->index = moment++;
    p.end = moment + 1;
    for (int i = 0; i < g->input_count; i++)
        boundary_buffer(g, &g->input[i]);
    for (int i = 0; i < g->output_count; i++)
        boundary_buffer(g, &g->output[i]);
    p.slot_of = NEW_ARRAY(c, int, g->buffer_count + 1);
    p.slot = NEW_ARRAY(c, Slot, g->buffer_count + 1);
    return p;
}

void plan_memory(C *c, Graph *g, const Options *o) {
    Plan p = plan_begin(c, g, o);
    strips_choose(&p);
    plan_slots(&p);
    arena_place(&p);
    g->arena_lower_bound = align_up(p.bound, REGION_ALIGN);
    g->arena_bytes = align_up(p.bytes, REGION_ALIGN);
    g->scratch_bytes = 0;
    for (int i = 0; i < p.slot_count; i++) {
        p.slot[i].buffer->offset = p.slot[i].offset;
        if (p.slot[i].buffer->kind == BUFFER_SCRATCH && p.slot[i].bytes > g->scratch_bytes)
            g->scratch_bytes = p.slot[i].bytes;
    }
    g->moment_count = p.end + 1;
    g->live = NEW_ARRAY(c, int64_t, g->moment_count);
    for (int moment = 0; moment <= p.end; moment++)
        g->live[moment] = arena_live(&p, moment);
    for (const Call *call = g->first_call; call; call = call->next)
        if (call->index + 1 == p.peak)
            g->peak_node = call->name;
    place_constants(g);
    check_sizes(c, g);
    fill_refs(g);
    strips_settle(g);
}

/* ---- limits -------------------------------------------------------------------------------- */

/* The largest buffers of one kind, with how many bytes each has. */
static void name_largest(C *c, const Graph *g, bool (*counts)(const Graph *, const Buffer *),
                         const char *what) {
    enum { NAMED = 4 };
    const Buffer *largest[NAMED] = {NULL};
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (!counts(g, b))
            continue;
        for (int k = 0; k < NAMED; k++) {
            if (largest[k] && largest[k]->bytes >= b->bytes)
                continue;
            const Buffer *next = largest[k];
            largest[k] = b;
            b = next;
            if (!b)
                break;
        }
    }
    Text t = text_new(c);
    for (int k = 0; k < NAMED && largest[k]; k++)
        text_add(&t, "%s%s (%lld)", k ? ", " : "", largest[k]->name, (long long)largest[k]->bytes);
    diag_detail(c, "%s: %s", what, text_string(&t));
}

static int peak_moment(const Graph *g) {
    int peak = 0;
    for (int m = 0; m < g->moment_count; m++)
        if (g->live[m] > g->live[peak])
            peak = m;
    return peak;
}

static bool is_at_peak(const Graph *g, const Buffer *b) {
    int peak = peak_moment(g);
    return b->region == CTN_ARENA && b->kind != BUFFER_CONSTANT && b->first_call <= peak &&
           peak <= b->last_call;
}

static bool is_stored(const Graph *g, const Buffer *b) {
    (void)g;
    return b->kind == BUFFER_CONSTANT && b->region == CTN_WEIGHTS && b->last_call >= 0;
}

static void check_ram(C *c, const Graph *g, int64_t limit) {
    Loc loc = {.file = g->archive_path};
    int64_t need = g->arena_bytes + g->state_bytes + g->input_bytes;
    if (limit == 0 || need <= limit)
        return;
    diag_error(c, DIAG_MODEL, &loc, "ram (%s) needs %lld bytes, %lld were allowed",
               g->input_bytes ? "arena, state and inputs" : "arena and state", (long long)need,
               (long long)limit);
    if (g->peak_node)
        diag_detail(c, "the peak is at %s", g->peak_node);
    name_largest(c, g, is_at_peak, "largest there, in bytes");
}

/* Constants to the byte; code from the table, or not at all if a kernel is missing there. */
static void check_flash(C *c, const Graph *g, const Options *o) {
    Loc loc = {.file = g->archive_path};
    Totals t = plan_totals(g);
    bool known = o->flash_limit > 0 && plan_code(c, g, o, &t);
    int64_t code = t.kernel_code + t.model_code;
    if (o->flash_limit == 0 || t.rodata + code <= o->flash_limit)
        return;
    diag_error(c, DIAG_MODEL, &loc, "flash (constants%s) needs %lld bytes, %lld were allowed",
               known ? " and code" : "", (long long)(t.rodata + code), (long long)o->flash_limit);
    diag_detail(c, "constants %lld, kernels %lld, the model's own code about %lld",
                (long long)t.rodata, (long long)t.kernel_code, (long long)t.model_code);
    name_largest(c, g, is_stored, "largest constants, in bytes");
}

void pass_plan(C *c, Graph *g, const Options *o) {
    plan_memory(c, g, o);
    check_ram(c, g, o->ram_limit);
    check_flash(c, g, o);
}
