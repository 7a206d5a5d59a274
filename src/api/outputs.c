/* Outputs of a run as files. Samples are stacked along a first axis; an output's own leading 1 is
 * left out then. Quantized outputs become float32 unless --raw. */
#include "api/session.h"

#include <jansson.h>
#include <string.h>

static const char *unique_name(C *c, const NamedArray *taken, int count, const char *name) {
    const char *want = name;
    for (int suffix = 1;; suffix++) {
        bool clash = false;
        for (int i = 0; i < count; i++)
            clash |= strcmp(taken[i].name, want) == 0;
        if (!clash)
            return want;
        want = c_format(c, "%s_%d", name, suffix);
    }
}

static Array *stack(C *c, const Samples *samples, Array *const *one) {
    if (samples->single)
        return one[0];
    const Array *first = one[0];
    int64_t dim[MAX_RANK] = {samples->count};
    int skip = first->rank > 0 && first->dim[0] == 1;
    int rank = first->rank - skip + 1;
    for (int d = 1; d < rank; d++)
        dim[d] = first->dim[d - 1 + skip];
    Array *all = array_new(c, first->dtype, rank, dim);
    size_t bytes = (size_t)array_bytes(first);
    for (int s = 0; s < samples->count; s++)
        if (bytes > 0)
            memcpy((char *)all->data + (size_t)s * bytes, one[s]->data, bytes);
    return all;
}

/* Output k of all samples, in the form in which it is written. */
static Array *collect(C *c, const Session *s, const Graph *g, const Samples *samples, int k,
                      Array ***outputs) {
    const Value *v = g->output[k].u.value;
    Array **one = NEW_ARRAY(c, Array *, samples->count);
    for (int i = 0; i < samples->count; i++) {
        Array *a = outputs[i][k];
        bool real = v->grid && !s->o->raw && !dtype_is_float(a->dtype);
        one[i] = real ? dequantize_array(c, a, v->grid) : a;
    }
    return stack(c, samples, one);
}

static void tell_output(const CortenOptions *o, const NamedArray *item) {
    const Array *a = item->array;
    CortenArray told = {item->name, dtype_name(a->dtype), a->rank, a->dim, a->data};
    o->output(o->user, &told);
}

/* --json: what now stands in the file. */
static void print_written(const Session *s, const Samples *samples, int count,
                          const NamedArray *item) {
    json_t *root = json_pack("{s:s, s:i}", "file", s->o->out, "samples", samples->count),
           *outputs = json_array();
    for (int i = 0; i < count; i++) {
        json_t *shape = json_array();
        for (int d = 0; d < item[i].array->rank; d++)
            json_array_append_new(shape, json_integer(item[i].array->dim[d]));
        json_array_append_new(outputs, json_pack("{s:s, s:s, s:o}", "name", item[i].name, "dtype",
                                                 dtype_name(item[i].array->dtype), "shape", shape));
    }
    json_object_set_new(root, "outputs", outputs);
    json_dumpf(root, s->results, JSON_INDENT(1));
    fprintf(s->results, "\n");
    json_decref(root);
}

void outputs_write(C *c, const Session *s, const Graph *g, const Samples *samples,
                   Array ***outputs) {
    NamedArray *item = NEW_ARRAY(c, NamedArray, g->output_count + 1);
    int count = 0;
    for (int k = 0; k < g->output_count; k++) {
        const char *name =
            g->output_name && g->output_name[k] ? g->output_name[k] : c_format(c, "out%d", k);
        Array *a = NULL;
        if (g->output[k].kind == ARG_VALUE) {
            a = collect(c, s, g, samples, k, outputs);
        } else if (g->output[k].kind == ARG_INT) {
            a = array_new(c, DT_I64, 0, NULL);
            array_set_int(a, 0, g->output[k].u.i);
        }
        if (!a)
            continue;
        item[count].name = unique_name(c, item, count, name);
        item[count++].array = a;
    }
    if (s->o->output) {
        for (int i = 0; i < count; i++)
            tell_output(s->o, &item[i]);
        return;
    }
    bool many = text_ends_with(s->o->out, ".npz");
    if (!many && count != 1)
        fatal(c, DIAG_USAGE, NULL, "%d outputs do not fit a .npy: give -o a name that ends in .npz",
              count);
    if (many)
        npz_write(c, s->o->out, &(ArrayList){count, item});
    else
        npy_write(c, s->o->out, item[0].array);
    if (s->o->json)
        print_written(s, samples, count, item);
}
