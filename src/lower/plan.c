/* Plan: when every call runs and where every buffer lies. Constants and states are laid out one
 * behind the other; buffers of the arena share memory when their lifetimes do not meet, and an
 * output may overwrite an operand that dies with its call where the kernel, or the order of a
 * strip's rows, permits it. */
#include "lower/memory.h"

#include <math.h>
#include <string.h>

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
    for (int i = 0; p->options->bind_outputs && i < g->output_count; i++) {
        Buffer *b = boundary_buffer(g, &g->output[i]);
        if (b && b->region == CTN_ARENA) /* and no state or input that is handed through */
            b->region = CTN_OUTPUTS;
    }
    for (Call *call = g->first_call; call; call = call->next) {
        const Strip *s = strip_of(g, call);
        int first = s ? s->first->index : call->index, last = s ? s->last->index : call->index;
        for (int r = 0; r < call->ref_count; r++)
            if (call->ref[r].buffer)
                live_at(call->ref[r].buffer, first + 1, last + 1);
    }
    live_at_boundaries(p);
}

/* ---- fields -------------------------------------------------------------------------------- */

const KernelField *kernel_field(int kernel, const char *name) {
    const Kernel *k = kernel_at(kernel);
    for (int i = 0; i < k->field_count;
         i++) /* estimates ask often, by what is mostly one literal */
        if (k->field[i].name == name)
            return &k->field[i];
    for (int i = 0; i < k->field_count; i++)
        if (k->field[i].name[0] == name[0] && strcmp(k->field[i].name, name) == 0)
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

/* ---- in place ------------------------------------------------------------------------------ */

static bool dies_here(const Buffer *in, const Buffer *out) {
    return in->region == CTN_ARENA && in->kind == BUFFER_VALUE && in != out &&
           in->last_call == out->first_call && in->first_call < out->first_call;
}

bool call_overwrites(const Call *call, const Buffer *b) {
    for (int r = 0; r < call->ref_count; r++)
        if (call->ref[r].buffer == b && (!call->ref[r].overwritable || call->ref[r].offset != 0))
            return false;
    return true;
}

static Buffer *overwritable(const Call *call, const Buffer *out) {
    for (int r = 0; r < call->ref_count; r++) {
        const CallRef *ref = &call->ref[r];
        if (ref->buffer && !ref->writes && dies_here(ref->buffer, out) &&
            call_overwrites(call, ref->buffer))
            return ref->buffer;
    }
    return NULL;
}

/* May the strip, whose calls run from one moment to another, be the last to read it? */
static bool dies_in_strip(const Strip *s, const Buffer *in) {
    return in->region == CTN_ARENA && in->kind == BUFFER_VALUE &&
           in->first_call <= s->first->index && in->last_call <= s->last->index + 1;
}

Buffer *strip_overlap(const Strip *s, int64_t *distance) {
    Buffer *best = NULL;
    for (const Call *call = s->first;; call = call->next) {
        for (int r = 0; r < call->ref_count; r++) {
            Buffer *in = call->ref[r].buffer;
            if (!in || in == best || call->ref[r].writes || !dies_in_strip(s, in) ||
                (best && best->bytes >= in->bytes))
                continue;
            int64_t apart = strip_distance(s, in);
            if (apart < 0)
                continue;
            best = in;
            *distance = apart;
        }
        if (call == s->last)
            return best;
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
            if (s && call == s->last && out->first_call == s->first->index + 1) {
                out->over = strip_overlap(s, &out->over_distance);
                out->over_upward = s->upward;
                out->over_step = call_overwrite_step(call);
            }
            if (!s && out->first_call == call->index + 1) {
                out->over = overwritable(call, out);
                out->over_distance = call_overwrite_distance(call);
                out->over_upward = false;
                out->over_step = call_overwrite_step(call);
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

/* ---- references ---------------------------------------------------------------------------- */

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
    for (int r = 0; r < CTN_REGIONS; r++)
        if (g->region[r].bytes >= limit)
            diag_error(c, DIAG_MODEL, &loc, "%s is too large: %lld bytes; the limit is %lld",
                       g->region[r].name, (long long)g->region[r].bytes, (long long)limit);
    diag_stop_if_errors(c);
}

static Plan plan_begin(C *c, Graph *g, const Options *o) {
    Plan p = {.c = c, .g = g, .options = o};
    int moment = 0;
    for (Call *call = g->first_call; call; call = call->next) {
        call->index = moment++;
        for (int r = 0; r < call->ref_count; r++)
            call->ref[r].overwritable = call->ref[r].buffer && !call->ref[r].writes &&
                                        call_may_overwrite(call, &call->ref[r]);
    }
    p.end = moment + 1;
    for (int i = 0; i < g->input_count; i++)
        boundary_buffer(g, &g->input[i]);
    for (int i = 0; i < g->output_count; i++)
        boundary_buffer(g, &g->output[i]);
    p.slot_of = NEW_ARRAY(c, int, g->buffer_count + 1);
    p.slot = NEW_ARRAY(c, Slot, g->buffer_count + 1);
    p.touched = NEW_ARRAY(c, bool, g->buffer_count + 1);
    return p;
}

/* 0: nothing was asked. */
static int64_t allowed(const Plan *p) {
    const Graph *g = p->g;
    int64_t rest = g->state_bytes + g->input_bytes + g->output_bytes;
    return p->options->ram_limit > rest ? p->options->ram_limit - rest : 0;
}

double plan_call_cost(const Plan *p, const Call *call) {
    enum { RUN = 100 }; /* what a call takes at least */
    double cost = call_instructions(p->g, call, p->options);
    const Strip *s = strip_of(p->g, call);
    return isnan(cost) ? (double)call->macs + RUN * (s ? s->step_count : 1) : cost;
}

void plan_memory(C *c, Graph *g, const Options *o) {
    Plan p = plan_begin(c, g, o);
    regions_begin(c, g, o);
    plan_slots(&p);
    regions_lay_boundary(g);
    p.enough = allowed(&p);
    arrange_calls(&p);
    plan_slots(&p);
    regions_place(&p);
    g->arena_lower_bound = align_up(p.bound, REGION_ALIGN);
    g->scratch_bytes = 0;
    for (int i = 0; i < p.slot_count; i++) {
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
    check_sizes(c, g);
    fill_refs(g);
    strips_settle(g);
}
