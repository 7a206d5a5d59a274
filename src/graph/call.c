/* Kernel calls of a lowered graph and the buffers they refer to. A reference is kept beside the
 * arguments as (field, buffer, offset); plan writes it into the field when it knows where the
 * buffer is. Views share a buffer: an alias is resolved when it is made, so a value's buffer is
 * always the memory itself. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "lower/lower.h"

/* ---- values in memory --------------------------------------------------------------------- */

DType value_storage(const Value *v) {
    return v->grid ? v->grid->dtype : v->type.dtype;
}

int64_t value_bytes(const Value *v) {
    return type_count(&v->type) * dtype_size(value_storage(v));
}

static void strides_in_order(const Type *t, const int8_t *order, int64_t *stride) {
    int64_t step = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        stride[order[k]] = step;
        step *= t->dim[order[k]];
    }
}

void value_strides(const Value *v, int64_t *stride) {
    strides_in_order(&v->type, v->order, stride);
}

Elements elements_in_order(const Type *type, const int8_t *order) {
    Elements w = {.type = type};
    strides_in_order(type, order, w.stride);
    return w;
}

void elements_next(Elements *w) {
    for (int d = w->type->rank - 1; d >= 0; d--) {
        w->at += w->stride[d];
        if (++w->index[d] < w->type->dim[d])
            return;
        w->at -= w->stride[d] * w->type->dim[d];
        w->index[d] = 0;
    }
}

bool value_order_is_identity(const Value *v) {
    int last = -1;
    for (int k = 0; k < v->type.rank; k++) {
        int d = v->order[k];
        if (v->type.dim[d] == 1)
            continue;
        if (d < last)
            return false;
        last = d;
    }
    return true;
}

/* "layer1.0.conv" as a C identifier that no other buffer has. */
static const char *identifier(Graph *g, const char *name) {
    char *s = c_format(g->c, "%s%s", isdigit((unsigned char)*name) ? "_" : "", name);
    for (char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    if (word_is_reserved(s))
        s = c_format(g->c, "%s_", s);
    return name_take(g->c, g->buffer_names, s);
}

static Buffer *buffer_new(Graph *g, BufferKind kind, const char *name, DType element, int64_t bytes,
                          int align) {
    Buffer *b = NEW(g->c, Buffer);
    *b = (Buffer){.id = g->buffer_count++,
                  .kind = kind,
                  .name = identifier(g, name),
                  .element = element,
                  .bytes = bytes,
                  .align = align,
                  .first_call = -1,
                  .last_call = -1};
    g->buffer = (Buffer **)c_grow(g->c, (void *)g->buffer, b->id, &g->buffer_capacity, b->id + 1,
                                  sizeof *g->buffer);
    g->buffer[b->id] = b;
    return b;
}

/* A constant's bytes in the value's physical order. */
static const void *constant_bytes(Graph *g, const Value *v) {
    const Array *a = v->constant;
    assert(a->dtype == value_storage(v));
    if (value_order_is_identity(v))
        return a->data;
    int64_t count = type_count(&v->type);
    Elements w = elements_in_order(&v->type, v->order);
    size_t size = (size_t)dtype_size(a->dtype);
    char *out = c_calloc(g->c, (size_t)count, size);
    for (int64_t i = 0; i < count; i++, elements_next(&w))
        memcpy(out + (size_t)w.at * size, (const char *)a->data + (size_t)i * size, size);
    return out;
}

Buffer *value_buffer(Graph *g, Value *v) {
    if (v->buffer)
        return v->buffer;
    DType storage = value_storage(v);
    BufferKind kind = v->constant ? BUFFER_CONSTANT : BUFFER_VALUE;
    /* Vectors load from double words at full speed. */
    int align = v->constant ? dtype_size(storage) : 8;
    v->buffer = buffer_new(g, kind, v->name, storage, value_bytes(v), align);
    if (v->constant)
        v->buffer->data = constant_bytes(g, v);
    return v->buffer;
}

void value_alias(Graph *g, Value *out, Value *in, int64_t byte_offset) {
    Buffer *b = value_buffer(g, in);
    assert(!out->buffer);
    out->buffer = b;
    out->buffer_offset = in->buffer_offset + byte_offset;
    assert(out->buffer_offset >= 0 && out->buffer_offset + value_bytes(out) <= b->bytes);
}

/* ---- calls -------------------------------------------------------------------------------- */

/* All references of a new call are absent until they are set. */
Call *call_new(C *c, Graph *g, Node *n, int kernel) {
    const Kernel *k = kernel_at(kernel);
    Call *call = NEW(c, Call);
    *call = (Call){.graph = g, .kernel = kernel, .node = n, .index = g->call_count++};
    call->name = name_take(c, g->call_names, n ? n->name : k->name);
    call->args_bytes = k->args_bytes;
    call->args = c_alloc(c, (size_t)k->args_bytes);
    if (n)
        call->origins = n->origins;
    for (int i = 0; i < k->field_count; i++)
        if (k->field[i].kind == FIELD_REF)
            *(uint32_t *)((char *)call->args + k->field[i].offset) = CTN_NONE;
    *(g->last_call ? &g->last_call->next : &g->first_call) = call;
    g->last_call = call;
    return call;
}

static void calls_number(Graph *g) {
    g->call_count = 0;
    g->last_call = NULL;
    for (Call *call = g->first_call; call; call = call->next) {
        call->index = g->call_count++;
        g->last_call = call;
    }
}

Call *call_new_behind(C *c, Graph *g, Call *before, int kernel) {
    Call *last = g->last_call, *call = call_new(c, g, before->node, kernel);
    if (last != before) {
        last->next = NULL;
        call->next = before->next;
        before->next = call;
        calls_number(g);
    }
    call->origins = before->origins;
    return call;
}

void call_remove(Graph *g, const Call *gone) {
    Call **at = &g->first_call;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    calls_number(g);
}

static int field_offset(const Call *call, const uint32_t *field) {
    ptrdiff_t offset = (const char *)field - (const char *)call->args;
    assert(offset >= 0 && offset + 4 <= call->args_bytes);
    return (int)offset;
}

static CallRef *ref_of(Call *call, int offset) {
    for (int i = 0; i < call->ref_count; i++)
        if (call->ref[i].field_offset == offset)
            return &call->ref[i];
    return NULL;
}

/* A field that is set again refers to the new place only. */
static void call_refer(Call *call, uint32_t *field, Buffer *b, int64_t offset, bool writes) {
    int at = field_offset(call, field);
    CallRef *ref = ref_of(call, at);
    if (!ref) {
        call->ref = c_grow(call->graph->c, call->ref, call->ref_count, &call->ref_capacity,
                           call->ref_count + 1, sizeof *ref);
        ref = &call->ref[call->ref_count++];
    }
    *ref = (CallRef){at, b, offset, writes, false};
}

void call_in_at(Call *call, uint32_t *field, Value *v, int64_t byte_offset) {
    Buffer *b = value_buffer(call->graph, v);
    call_refer(call, field, b, v->buffer_offset + byte_offset, false);
}

void call_in(Call *call, uint32_t *field, Value *v) {
    call_in_at(call, field, v, 0);
}

void call_out_at(Call *call, uint32_t *field, Value *v, int64_t byte_offset) {
    Buffer *b = value_buffer(call->graph, v);
    assert(b->kind == BUFFER_VALUE);
    call_refer(call, field, b, v->buffer_offset + byte_offset, true);
}

void call_out(Call *call, uint32_t *field, Value *v) {
    call_out_at(call, field, v, 0);
}

bool buffer_follows(const Buffer *out, int64_t out_at, int64_t in_at) {
    if (out->over_step > 1 && (out_at - in_at) % out->over_step != 0)
        return false;
    if (out->over_upward)
        return out_at + out->bytes >= in_at + out->over->bytes + out->over_distance;
    return out_at + out->over_distance <= in_at;
}

Buffer *call_const(Call *call, uint32_t *field, const char *what, DType element, const void *data,
                   int64_t bytes, int align) {
    Graph *g = call->graph;
    Buffer *b = buffer_new(g, BUFFER_CONSTANT, c_format(g->c, "%s_%s", call->name, what), element,
                           bytes, align);
    b->data = c_memdup(g->c, data, (size_t)bytes);
    call_refer(call, field, b, 0, false);
    return b;
}

Buffer *call_scratch(Call *call, uint32_t *field, int64_t bytes, int align) {
    Graph *g = call->graph;
    Buffer *b = buffer_new(g, BUFFER_SCRATCH, c_format(g->c, "%s_scratch", call->name), DT_U8,
                           bytes, align);
    call_refer(call, field, b, 0, true);
    return b;
}

void call_take(Call *call, uint32_t *field, const CallRef *other) {
    if (other)
        call_refer(call, field, other->buffer, other->offset, other->writes);
    else
        call_absent(call, field);
}

void call_absent(Call *call, uint32_t *field) {
    CallRef *ref = ref_of(call, field_offset(call, field));
    if (ref)
        *ref = call->ref[--call->ref_count];
    *field = CTN_NONE;
}

/* ---- fused readers ------------------------------------------------------------------------ */

Node *node_epilogue(const Node *n) {
    const Value *v = n->out_count > 0 ? n->out[0] : NULL;
    if (!v || v->user_count != 1 || v->output_count > 0 || !v->user[0]->fused)
        return NULL;
    return v->user[0];
}

Value *node_result(const Node *n) {
    const Node *epilogue = node_epilogue(n);
    return epilogue ? epilogue->out[0] : n->out[0];
}
