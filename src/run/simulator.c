/* The bit-exact simulator: a planned graph bound to host memory. It runs the very variants that the
 * chip runs (with emulated intrinsics) on the very arguments and offsets. A spread simulator takes
 * a graph that has no plan yet and gives every buffer a place of its own, so that all values can be
 * read when a run is over; the numbers are the same. */
#include "lower/memory.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

struct Simulator {
    Graph *g;
    CtnFrame frame;
    bool keep;
    Array **kept;    /* by value id, in logical order; arena memory of the last run's C */
    int64_t *spread; /* by buffer id: its place in the arena; NULL: as planned */
    void **args;     /* by call: arguments with references to these places */
    Array shown;     /* what simulator_value last gave of a spread graph */
    size_t shown_capacity;
};

static void *aligned(C *c, int64_t bytes) {
    void *p = NULL;
    if (posix_memalign(&p, 64, (size_t)bytes + 64) != 0)
        fatal(c, DIAG_MODEL, NULL, "out of memory: %lld bytes for the simulator", (long long)bytes);
    memset(p, 0, (size_t)bytes + 64);
    return p;
}

static void release(void *what) {
    simulator_free(what);
}

Simulator *simulator_new(C *c, Graph *g) {
    Simulator *s = NEW(c, Simulator);
    s->g = g;
    c_defer(c, release, s);
    for (int r = 0; r < CTN_REGIONS; r++)
        s->frame.base[r] = aligned(c, g->region[r].bytes);
    for (int i = 0; i < g->buffer_count; i++) {
        const Buffer *b = g->buffer[i];
        if (b->kind == BUFFER_CONSTANT && b->last_call >= 0 && b->bytes > 0)
            memcpy(s->frame.base[b->region] + b->offset, b->data, (size_t)b->bytes);
    }
    simulator_reset(s);
    return s;
}

/* Buffers of weights and values, one behind the other, 16 bytes between to make up for alignment.
 */
static int64_t spread_buffers(C *c, Simulator *s) {
    Graph *g = s->g;
    int64_t bytes = 0;
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE)
            value_buffer(g, g->input[i].u.value);
    s->spread = NEW_ARRAY(c, int64_t, g->buffer_count + 1);
    for (int i = 0; i < g->buffer_count; i++) {
        s->spread[i] = bytes;
        bytes = align_up(bytes + g->buffer[i]->bytes, 64);
    }
    return bytes;
}

static void *spread_args(C *c, const Simulator *s, const Call *call) {
    char *args = c_memdup(c, call->args, (size_t)call->args_bytes);
    for (int r = 0; r < call->ref_count; r++) {
        const CallRef *ref = &call->ref[r];
        uint32_t value = CTN_NONE;
        if (ref->buffer)
            value = CTN_REF(CTN_ARENA, s->spread[ref->buffer->id] + ref->offset);
        memcpy(args + ref->field_offset, &value, sizeof value);
    }
    return args;
}

Simulator *simulator_spread(C *c, Graph *g) {
    Simulator *s = NEW(c, Simulator);
    s->g = g;
    int64_t bytes = spread_buffers(c, s);
    if (bytes >= (int64_t)1 << 28)
        return NULL; /* beyond what references reach */
    c_defer(c, release, s);
    s->frame.base[CTN_ARENA] = aligned(c, bytes);
    for (int i = 0; i < g->buffer_count; i++)
        if (g->buffer[i]->kind == BUFFER_CONSTANT && g->buffer[i]->bytes > 0)
            memcpy(s->frame.base[CTN_ARENA] + s->spread[i], g->buffer[i]->data,
                   (size_t)g->buffer[i]->bytes);
    int count = 0;
    for (Call *call = g->first_call; call; call = call->next)
        call->index = count++;
    s->args = NEW_ARRAY(c, void *, count + 1);
    for (const Call *call = g->first_call; call; call = call->next)
        s->args[call->index] = spread_args(c, s, call);
    simulator_reset(s);
    return s;
}

void simulator_free(Simulator *s) {
    for (int r = 0; r < CTN_REGIONS; r++) {
        free(s->frame.base[r]);
        s->frame.base[r] = NULL;
    }
}

static uint8_t *value_memory(const Simulator *s, const Value *v) {
    if (s->spread)
        return s->frame.base[CTN_ARENA] + s->spread[v->buffer->id] + v->buffer_offset;
    return s->frame.base[v->buffer->region] + v->buffer->offset + v->buffer_offset;
}

void simulator_reset(Simulator *s) {
    for (int i = 0; i < s->g->state_count; i++) {
        const Value *v = s->g->state[i].before;
        if (v->buffer && v->initial)
            memcpy(value_memory(s, v), v->initial->data, (size_t)array_bytes(v->initial));
    }
}

void simulator_set_state(C *c, Simulator *s, int k, const Array *a) {
    const Value *v = s->g->state[k].before;
    if (v->buffer)
        value_save(c, v, a, value_memory(s, v));
}

void simulator_keep(Simulator *s, bool keep) {
    s->keep = keep;
}

/* ---- logical order to memory and back ------------------------------------------------------ */

typedef void Mover(void *memory, void *logical, size_t size);

static void into_memory(void *memory, void *logical, size_t size) {
    memcpy(memory, logical, size);
}

static void out_of_memory(void *memory, void *logical, size_t size) {
    memcpy(logical, memory, size);
}

static void walk(const Value *v, uint8_t *memory, uint8_t *logical, Mover *move) {
    int64_t count = type_count(&v->type);
    size_t size = (size_t)dtype_size(value_storage(v));
    if (value_order_is_identity(v)) {
        if (count > 0)
            move(memory, logical, size * (size_t)count);
        return;
    }
    Elements w = elements_in_order(&v->type, v->order);
    for (int64_t i = 0; i < count; i++, elements_next(&w))
        move(memory + (size_t)w.at * size, logical + (size_t)i * size, size);
}

Array *value_load(C *c, const Value *v, const void *memory) {
    Array *a = array_new(c, value_storage(v), v->type.rank, v->type.dim);
    walk(v, (uint8_t *)memory, a->data, out_of_memory);
    return a;
}

void value_save(C *c, const Value *v, const Array *a, void *memory) {
    DType want = value_storage(v);
    const Array *stored = a->dtype == want ? a
                          : v->grid        ? quantize_array(c, a, v->grid)
                                           : array_convert(c, a, want);
    walk(v, memory, stored->data, into_memory);
}

static Array *read_value(C *c, const Simulator *s, const Value *v) {
    if (v->buffer)
        return value_load(c, v, value_memory(s, v));
    Array *a = array_new(c, value_storage(v), v->type.rank, v->type.dim);
    if (v->constant)
        memcpy(a->data, v->constant->data, (size_t)array_bytes(a));
    return a;
}

/* ---- running ------------------------------------------------------------------------------- */

static void keep_outputs(C *c, Simulator *s, const Call *call) {
    if (!call->node)
        return;
    for (int k = 0; k < call->node->out_count; k++) {
        const Value *v = call->node->out[k];
        const Value *shown = v->unstored ? node_result(call->node) : v;
        if (shown->buffer && !shown->buffer->is_ring)
            s->kept[shown->id] = read_value(c, s, shown);
    }
}

/* A call on some rows: its arguments with the step's values in their places. */
static void run_item(const Simulator *s, const StripItem *item, const int32_t *v) {
    int32_t args[128];
    memcpy(args, item->call->args, (size_t)item->call->args_bytes);
    for (int i = 0; i < item->patch_count; i++)
        args[item->patch[i] / 4] = v[i];
    item->call->variant->host(args, &s->frame);
}

/* What the calls of a strip write, put together of the rows that their rings hold for a while. */
typedef struct {
    uint8_t *whole; /* NULL: not kept */
    int made;       /* rows, or pixels where the call goes by those */
} Gathered;

static int64_t row_bytes(const Rows *r) {
    return r->kind == ROWS_FLAT ? r->out_row / r->pixels : r->out_row;
}

static void gather(const Simulator *s, const Strip *strip, const Rows *r, int rows,
                   const int32_t *v, Gathered *to) {
    if (!to->whole)
        return;
    int64_t row = row_bytes(r), bytes = rows * row, at = to->made * row;
    if (strip->upward)
        at = r->out_h * r->out_row - at - bytes;
    memcpy(to->whole + at, ctn_at(&s->frame, (CtnRef)v[0]), (size_t)bytes);
    to->made += rows;
}

static void gather_begin(C *c, const Simulator *s, const Strip *strip, Gathered *gathered) {
    for (int k = 0; k < strip->call_count; k++) {
        const Rows *r = &strip->row[k];
        const Node *node = strip->call[k]->node;
        bool fits =
            node && node->out_count && value_bytes(node_result(node)) == r->out_h * r->out_row;
        gathered[k] = (Gathered){.whole = NULL};
        if (s->keep && fits && r->output->buffer->is_ring)
            gathered[k].whole = c_alloc(c, (size_t)(r->out_h * r->out_row));
    }
}

static void gather_end(C *c, const Simulator *s, const Strip *strip, const Gathered *gathered) {
    for (int k = 0; k < strip->call_count; k++)
        if (gathered[k].whole) {
            const Value *v = node_result(strip->call[k]->node);
            s->kept[v->id] = value_load(c, v, gathered[k].whole);
        }
}

static void run_strip(C *c, const Simulator *s, const Strip *strip) {
    Gathered gathered[STRIP_CALLS];
    gather_begin(c, s, strip, gathered);
    const int32_t *v = strip->value;
    for (int t = 0; t < strip->step_count; t++)
        for (int i = 0, k = 0; i < strip->item_count; i++) {
            const StripItem *item = &strip->item[i];
            int32_t rows = *v++;
            if (rows > 0 && item->call) {
                run_item(s, item, v);
                gather(s, strip, &strip->row[k], rows, v, &gathered[k]);
            } else if (rows > 0) {
                ctn_move(&(CtnMoveArgs){.output = (uint32_t)v[0],
                                        .input = (uint32_t)v[1],
                                        .count = rows},
                         &s->frame);
            }
            k += item->call != NULL;
            v += item->patch_count;
        }
    gather_end(c, s, strip, gathered);
}

static void run_call(C *c, Simulator *s, const Call *call) {
    if (s->spread) {
        call->variant->host(s->args[call->index], &s->frame);
        return;
    }
    const Strip *strip = strip_of(s->g, call);
    if (strip && call != strip->last)
        return; /* the strip runs when its last call is due */
    if (strip)
        run_strip(c, s, strip);
    else
        call->variant->host(call->args, &s->frame);
    if (s->keep)
        keep_outputs(c, s, call);
}

void simulator_run(C *c, Simulator *s, Array *const *inputs, Array **outputs) {
    Graph *g = s->g;
    if (s->keep)
        s->kept = NEW_ARRAY(c, Array *, g->value_count);
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE && g->input[i].u.value->buffer)
            value_save(c, g->input[i].u.value, inputs[i], value_memory(s, g->input[i].u.value));
    for (const Call *call = g->first_call; call; call = call->next)
        run_call(c, s, call);
    for (int i = 0; i < g->output_count; i++)
        outputs[i] = g->output[i].kind == ARG_VALUE ? read_value(c, s, g->output[i].u.value) : NULL;
}

/* One value at a time: the next one is put in its place. */
static const Array *show_value(C *c, Simulator *s, const Value *v) {
    if (!v->buffer || v->buffer->id >= s->g->buffer_count)
        return NULL;
    size_t bytes = (size_t)value_bytes(v);
    Array *a = &s->shown;
    if (bytes > s->shown_capacity) {
        a->data = c_alloc(c, bytes);
        s->shown_capacity = bytes;
    }
    a->dtype = value_storage(v);
    a->rank = v->type.rank;
    memcpy(a->dim, v->type.dim, sizeof a->dim);
    walk(v, value_memory(s, v), a->data, out_of_memory);
    return a;
}

const Array *simulator_value(C *c, Simulator *s, const Value *v) {
    if (s->spread)
        return show_value(c, s, v);
    return s->kept && v->id < s->g->value_count ? s->kept[v->id] : NULL;
}
