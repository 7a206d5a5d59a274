/* Arrays of a caller's as the library's own: nothing is copied, and what cannot be an array is
 * reported before anything reads it. */
#include "api/session.h"

#include <string.h>

static Array *array_take(C *c, const char *what, const CortenArray *given) {
    const char *name = given->name ? given->name : "without a name";
    DType dtype = given->dtype ? dtype_from_name(given->dtype) : DT_NONE;
    if (dtype == DT_NONE)
        fatal(c, DIAG_USAGE, NULL,
              "%s: array %s has dtype %s, which is none of PyTorch's that "
              "models take",
              what, name, given->dtype ? given->dtype : "NULL");
    if (given->rank < 0 || given->rank > MAX_RANK)
        fatal(c, DIAG_USAGE, NULL, "%s: array %s has %d dimensions; at most %d are taken", what,
              name, given->rank, MAX_RANK);
    Array *a = NEW(c, Array);
    *a = (Array){.dtype = dtype, .rank = given->rank, .data = (void *)given->data};
    for (int d = 0; d < a->rank; d++) {
        if (given->dim[d] < 0)
            fatal(c, DIAG_USAGE, NULL, "%s: array %s has a negative dimension", what, name);
        a->dim[d] = given->dim[d];
    }
    if (!a->data && array_count(a) > 0)
        fatal(c, DIAG_USAGE, NULL, "%s: array %s has no data", what, name);
    return a;
}

ArrayList *arrays_take(C *c, const char *what, int count, const CortenArrays *given) {
    ArrayList *list = NEW_ARRAY(c, ArrayList, count + 1);
    for (int i = 0; i < count; i++) {
        list[i].count = given[i].count;
        list[i].item = NEW_ARRAY(c, NamedArray, given[i].count + 1);
        for (int k = 0; k < given[i].count; k++) {
            const CortenArray *array = &given[i].array[k];
            list[i].item[k].name = array->name ? array->name : c_format(c, "arr_%d", k);
            list[i].item[k].array = array_take(c, what, array);
        }
    }
    return list;
}

Samples session_samples(C *c, const Session *s, const Graph *g) {
    const CortenOptions *o = s->o;
    diag_stop_if_errors(c);
    if (!o->input && o->input_data_count == 0)
        fatal(c, DIAG_USAGE, NULL, "no input data: give -i FILE or -i FOLDER");
    Samples samples;
    if (o->input_data_count > 0) {
        ArrayList *list = arrays_take(c, "input", o->input_data_count, o->input_data);
        samples = samples_take(c, g, "input", o->input_data_count, list, &s->scaling);
    } else {
        samples = samples_read(c, g, o->input, &s->scaling);
    }
    if (o->limit > 0 && o->limit < samples.count)
        samples.count = o->limit;
    return samples;
}

Array *session_labels(C *c, const Session *s) {
    const CortenOptions *o = s->o;
    if (o->labels_data)
        return array_take(c, "labels", o->labels_data);
    if (o->labels && !o->input && !text_ends_with(o->labels, ".npy"))
        fatal(c, DIAG_USAGE, NULL, "labels \"%s\": a name needs a file as input", o->labels);
    return o->labels ? labels_read(c, o->input, o->labels) : NULL;
}
