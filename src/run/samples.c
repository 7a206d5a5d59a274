/* Data for a model's inputs, read as design section 9 says and brought to exactly the inputs'
 * shapes. Every array that does not fit is reported; then the run ends (exit 3). */
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    C *c;
    const Graph *g;
    const ImageScaling *scaling;
    Samples *out;
    int capacity;
    bool all_single;
} Reader;

static const Type *input_type(const Graph *g, int k) {
    return g->input[k].kind == ARG_VALUE ? &g->input[k].u.value->type : NULL;
}

/* The type of an input that --state has made a state of. */
static const Type *state_type(const Graph *g, int k) {
    for (int i = 0; i < g->state_count; i++)
        if (g->state[i].slot == k)
            return &g->state[i].before->type;
    return NULL;
}

static bool dims_equal(const int64_t *a, const int64_t *b, int rank) {
    for (int d = 0; d < rank; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

enum { ONE_WITHOUT_AXIS = -1, DOES_NOT_FIT = -2 };

/* How many samples an array holds for an input along its first axis, or one of the above. */
static int64_t samples_in(const Array *a, const Type *t) {
    if (a->rank == t->rank && dims_equal(a->dim, t->dim, t->rank))
        return ONE_WITHOUT_AXIS;
    bool leading = t->rank > 0 && t->dim[0] == 1;
    if (leading && a->rank == t->rank - 1 && dims_equal(a->dim, t->dim + 1, a->rank))
        return ONE_WITHOUT_AXIS;
    if (a->rank == t->rank + 1 && dims_equal(a->dim + 1, t->dim, t->rank))
        return a->dim[0];
    if (leading && a->rank == t->rank && dims_equal(a->dim + 1, t->dim + 1, t->rank - 1))
        return a->dim[0];
    return DOES_NOT_FIT;
}

/* Numbers for an integer input must be integers, for a float input finite. int8 and int16 for a
 * float input are taken as already quantized. */
static bool check_numbers(Reader *r, const Loc *loc, const char *name, const Array *a,
                          const Type *t) {
    if (dtype_is_float(t->dtype) && !dtype_is_float(a->dtype))
        return true;
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        double x = array_get(a, i);
        if (!isfinite(x)) {
            diag_error(r->c, DIAG_INPUT, loc,
                       "array %s is not finite: element %lld is %s; finite numbers are needed",
                       name, (long long)i, isnan(x) ? "nan" : "infinite");
            return false;
        }
        if (!dtype_is_float(t->dtype) && x != floor(x)) {
            diag_error(r->c, DIAG_INPUT, loc,
                       "array %s holds %g at element %lld; the input needs %s", name, x,
                       (long long)i, dtype_name(t->dtype));
            return false;
        }
    }
    return true;
}

static Array *slice(Reader *r, const Array *a, int64_t at, const Type *t) {
    Array *one = array_new(r->c, a->dtype, t->rank, t->dim);
    size_t bytes = (size_t)array_bytes(one);
    if (bytes > 0)
        memcpy(one->data, (const char *)a->data + (size_t)at * bytes, bytes);
    bool quantized =
        dtype_is_float(t->dtype) && (a->dtype == DT_I8 || a->dtype == DT_I16 || a->dtype == DT_U8);
    return a->dtype == t->dtype || quantized ? one : array_convert(r->c, one, t->dtype);
}

static void add_sample(Reader *r, Array **inputs) {
    r->out->sample = c_grow(r->c, r->out->sample, r->out->count, &r->capacity, r->out->count + 1,
                            sizeof *r->out->sample);
    r->out->sample[r->out->count++] = inputs;
}

bool scaling_is_pixels(const ImageScaling *s, const char *input) {
    for (int i = 0; s && input && i < s->pixels_count; i++)
        if (strcmp(s->pixels[i], input) == 0)
            return true;
    return false;
}

static bool takes_pixels(const Reader *r, int k) {
    return scaling_is_pixels(r->scaling, r->g->input_name ? r->g->input_name[k] : NULL);
}

static int channel_of(const Type *t, int64_t i) {
    int64_t plane = t->dim[t->rank - 2] * t->dim[t->rank - 1];
    return (int)(i / plane % t->dim[t->rank - 3]);
}

/* What the archive's model takes, or bytes, as byte / 255. */
static Array *to_pixels(Reader *r, const Array *a, const Type *t) {
    if (a->dtype == DT_I8 || a->dtype == DT_I16)
        return (Array *)a; /* quantized already */
    Array *p = array_new(r->c, DT_F32, t->rank, t->dim);
    for (int64_t i = 0, n = array_count(p); i < n; i++) {
        int k = channel_of(t, i);
        double x = array_get(a, i);
        array_set(p, i, a->dtype == DT_U8 ? x / 255 : x * r->scaling->std[k] + r->scaling->mean[k]);
    }
    return p;
}

/* Of input k; a state is in the type that the model has. */
static Array *sample_of(Reader *r, const Array *a, int64_t at, int k) {
    const Type *t = input_type(r->g, k), *state = state_type(r->g, k);
    if (!t)
        return array_convert(r->c, slice(r, a, at, state), state->dtype);
    Array *one = slice(r, a, at, t);
    return takes_pixels(r, k) ? to_pixels(r, one, t) : one;
}

/* ---- which array is for which input -------------------------------------------------------- */

static const Array *named(const ArrayList *list, const char *name) {
    for (int i = 0; name && i < list->count; i++)
        if (text_equal(list->item[i].name, name))
            return list->item[i].array;
    return NULL;
}

/* "out3", "label": what data sets hold besides inputs. */
static bool is_ignored(const char *name) {
    if (strcmp(name, "label") == 0 || strcmp(name, "labels") == 0)
        return true;
    return strncmp(name, "out", 3) == 0 && name[3] && name[3 + strspn(name + 3, "0123456789")] == 0;
}

/* Takes the array of that name. */
static const Array *take(const ArrayList *list, bool *taken, const char *name) {
    for (int i = 0; name && i < list->count; i++)
        if (!taken[i] && text_equal(list->item[i].name, name)) {
            taken[i] = true;
            return list->item[i].array;
        }
    return NULL;
}

/* Which array is for which input is a guess if several have names that no input has. */
static void warn_of_order(Reader *r, const Loc *loc, const ArrayList *list, const bool *taken) {
    Text all = text_new(r->c);
    int count = 0;
    for (int i = 0; i < list->count; i++)
        if (!taken[i] && !is_ignored(list->item[i].name))
            text_add(&all, "%s%s", count++ ? ", " : "", list->item[i].name);
    if (count < 2)
        return;
    diag_warning(r->c, loc,
                 "no input has the name of these arrays; they are taken in this order: %s",
                 text_string(&all));
    Text inputs = text_new(r->c);
    for (int k = 0; k < r->g->input_count; k++)
        text_add(&inputs, "%s%s", k ? ", " : "",
                 r->g->input_name ? r->g->input_name[k] : c_format(r->c, "in%d", k));
    diag_detail(r->c, "the inputs: %s", text_string(&inputs));
}

/* By name, by in<k> or arr_<k> (k counts every slot of the call), else in the file's order. What is
 * for a constant input is passed over; a state's slot may go without. */
static void assign(Reader *r, const Loc *loc, const ArrayList *list, const Array **array,
                   const char **name) {
    const Graph *g = r->g;
    bool *taken = NEW_ARRAY(r->c, bool, list->count + 1);
    for (int k = 0; k < g->input_count; k++) {
        name[k] = g->input_name ? g->input_name[k] : NULL;
        array[k] = take(list, taken, name[k]);
    }
    for (int k = 0; k < g->input_count; k++) {
        if (!array[k])
            array[k] = take(list, taken, name[k] = c_format(r->c, "in%d", k));
        if (!array[k])
            array[k] = take(list, taken, name[k] = c_format(r->c, "arr_%d", k));
    }
    int left = 0;
    for (int i = 0; i < list->count; i++)
        left += !taken[i] && !is_ignored(list->item[i].name);
    int missing = 0, slots = 0;
    for (int k = 0; k < g->input_count; k++) {
        missing += !array[k] && g->input[k].kind == ARG_VALUE;
        slots += !array[k];
    }
    bool every_slot = left >= slots && slots > missing;
    if (missing > 0)
        warn_of_order(r, loc, list, taken);
    for (int k = 0, next = 0; k < g->input_count; k++) {
        if (array[k] || (g->input[k].kind != ARG_VALUE && !every_slot))
            continue;
        while (next < list->count && (taken[next] || is_ignored(list->item[next].name)))
            next++;
        if (next == list->count)
            break;
        name[k] = list->item[next].name;
        array[k] = list->item[next++].array;
    }
    for (int k = 0; k < g->input_count; k++)
        if (g->input[k].kind != ARG_VALUE && !state_type(g, k))
            array[k] = NULL;
}

/* Whether array k fits input k, and how many samples all inputs have. */
static bool check_array(Reader *r, const Loc *loc, const char *name, const Array *a, int k,
                        const Type *t, int64_t *count, bool first) {
    int64_t has = samples_in(a, t);
    if (has == DOES_NOT_FIT) {
        diag_error(r->c, DIAG_INPUT, loc,
                   "array %s has shape %s; input %d needs %s, or that with a first axis of samples",
                   name, shape_text(r->c, a->rank, a->dim), k, shape_text(r->c, t->rank, t->dim));
        return false;
    }
    if (has == 0) {
        diag_error(r->c, DIAG_INPUT, loc, "array %s holds no sample: its shape is %s", name,
                   shape_text(r->c, a->rank, a->dim));
        return false;
    }
    int64_t have = *count == ONE_WITHOUT_AXIS ? 1 : *count;
    if (!first && (has == ONE_WITHOUT_AXIS ? 1 : has) != have) {
        diag_error(r->c, DIAG_INPUT, loc, "array %s has %lld samples, another input %lld", name,
                   (long long)(has == ONE_WITHOUT_AXIS ? 1 : has), (long long)have);
        return false;
    }
    if (first || has != ONE_WITHOUT_AXIS)
        *count = has;
    return check_numbers(r, loc, name, a, t);
}

static void add_arrays(Reader *r, const char *path, const ArrayList *list) {
    const Graph *g = r->g;
    Loc loc = {.file = path};
    const Array **array = NEW_ARRAY(r->c, const Array *, g->input_count + 1);
    const char **name = NEW_ARRAY(r->c, const char *, g->input_count + 1);
    int64_t count = ONE_WITHOUT_AXIS;
    bool good = true, first = true;
    assign(r, &loc, list, array, name);
    for (int k = 0; k < g->input_count; k++) {
        const Type *input = input_type(g, k), *t = input ? input : state_type(g, k);
        if (!t || (!array[k] && !input))
            continue;
        if (!array[k]) {
            diag_error(r->c, DIAG_INPUT, &loc, "no array for input %d, %s %s%s", k,
                       g->input_name ? g->input_name[k] : "", dtype_name(t->dtype),
                       shape_text(r->c, t->rank, t->dim));
            good = false;
            continue;
        }
        good &= check_array(r, &loc, name[k], array[k], k, t, &count, first);
        first = false;
    }
    if (!good)
        return;
    r->all_single &= count == ONE_WITHOUT_AXIS;
    for (int64_t s = 0; s < (count == ONE_WITHOUT_AXIS ? 1 : count); s++) {
        Array **inputs = NEW_ARRAY(r->c, Array *, g->input_count + 1);
        for (int k = 0; k < g->input_count; k++)
            inputs[k] = array[k] ? sample_of(r, array[k], s, k) : NULL;
        add_sample(r, inputs);
    }
    const Array *labels = named(list, "label") ? named(list, "label") : named(list, "labels");
    if (labels && !r->out->labels)
        r->out->labels = (Array *)labels;
}

/* ---- files --------------------------------------------------------------------------------- */

static void add_image(Reader *r, const char *path) {
    Loc loc = {.file = path};
    const Type *t = r->g->input_count ? input_type(r->g, 0) : NULL;
    const int64_t *dim = t && t->rank >= 3 ? t->dim + t->rank - 3 : NULL;
    if (r->g->input_count != 1 || !dim || t->rank > 4 || (t->rank == 4 && t->dim[0] != 1) ||
        dim[0] < 1 || dim[0] > 4 || dim[1] < 1 || dim[2] < 1) {
        diag_error(
            r->c, DIAG_INPUT, &loc,
            "an image needs a model with one input of shape [1, channels, height, width] and "
            "at most 4 channels");
        return;
    }
    int given = r->scaling ? r->scaling->channels : 0;
    if (given > 1 && given != dim[0]) {
        diag_error(r->c, DIAG_USAGE, &loc, "%d numbers of mean or std for %lld channels", given,
                   (long long)dim[0]);
        return;
    }
    Array *pixels = image_read(r->c, path, (int)dim[0], (int)dim[1], (int)dim[2]);
    Array *a = array_new(r->c, DT_F32, t->rank, t->dim);
    bool normalize = given && !takes_pixels(r, 0);
    for (int64_t i = 0, n = array_count(a); i < n; i++) {
        int k = channel_of(t, i);
        double x = array_get(pixels, i) / 255;
        array_set(a, i, normalize ? (x - r->scaling->mean[k]) / r->scaling->std[k] : x);
    }
    Array **inputs = NEW_ARRAY(r->c, Array *, 2);
    inputs[0] = dtype_is_float(t->dtype) ? a : array_convert(r->c, pixels, t->dtype);
    add_sample(r, inputs);
    r->all_single = false;
}

static void add_file(Reader *r, const char *path) {
    if (path_is_image(path)) {
        add_image(r, path);
        return;
    }
    ArrayList list = {0};
    NamedArray one;
    if (text_ends_with(path, ".npz")) {
        list = npz_read(r->c, path);
    } else {
        one = (NamedArray){path_stem(r->c, path), npy_read(r->c, path)};
        list = (ArrayList){1, &one};
    }
    add_arrays(r, path, &list);
}

static bool is_data(const char *name) {
    return text_ends_with(name, ".npy") || text_ends_with(name, ".npz") || path_is_image(name);
}

static void add_path(Reader *r, const char *path) {
    if (!path_is_folder(path)) {
        add_file(r, path);
        return;
    }
    const char **names;
    int count = folder_list(r->c, path, &names), used = 0;
    for (int i = 0; i < count; i++) {
        if (!is_data(names[i]))
            continue;
        add_file(r, path_join(r->c, path, names[i]));
        used++;
    }
    r->all_single = false;
    Loc loc = {.file = path};
    if (used == 0)
        diag_error(r->c, DIAG_INPUT, &loc, "no .npy, .npz or image in this folder");
}

Samples samples_read_many(C *c, const Graph *g, int path_count, const char *const *paths,
                          const ImageScaling *scaling) {
    Samples samples = {0};
    Reader r = {c, g, scaling, &samples, 0, true};
    for (int i = 0; i < path_count; i++)
        add_path(&r, paths[i]);
    diag_stop_if_errors(c);
    samples.single = r.all_single && samples.count == 1;
    return samples;
}

Samples samples_take(C *c, const Graph *g, const char *what, int count, const ArrayList *list,
                     const ImageScaling *scaling) {
    Samples samples = {0};
    Reader r = {c, g, scaling, &samples, 0, true};
    for (int i = 0; i < count; i++)
        add_arrays(&r, count == 1 ? what : c_format(c, "%s %d", what, i), &list[i]);
    diag_stop_if_errors(c);
    samples.single = r.all_single && samples.count == 1;
    return samples;
}

Samples samples_join(C *c, const Samples *a, const Samples *b) {
    Samples all = *a;
    all.count = a->count + b->count;
    all.sample = NEW_ARRAY(c, Array **, all.count + 1);
    for (int i = 0; i < all.count; i++)
        all.sample[i] = i < a->count ? a->sample[i] : b->sample[i - a->count];
    all.single = false;
    return all;
}

Samples samples_read(C *c, const Graph *g, const char *path, const ImageScaling *scaling) {
    return samples_read_many(c, g, 1, &path, scaling);
}

static void warn_of_bytes(C *c, const Graph *g, int k) {
    diag_warning(c, NULL,
                 "input %s is float and gets bytes: they are taken as numbers from 0 to 255, while "
                 "images are scaled to 0..1",
                 g->input_name ? g->input_name[k] : c_format(c, "%d", k));
    diag_detail(c, "give floats as the model was trained on, or --input-scale NAME=pixels with "
                   "--mean and --std");
}

Samples samples_real(C *c, const Samples *samples, const Graph *g, const Graph *planned) {
    Samples real = *samples;
    real.sample = NEW_ARRAY(c, Array **, samples->count + 1);
    for (int s = 0; s < samples->count; s++) {
        real.sample[s] = NEW_ARRAY(c, Array *, g->input_count + 1);
        for (int k = 0; k < g->input_count; k++) {
            Array *a = samples->sample[s][k];
            const Type *t = input_type(g, k);
            const Value *v = planned && t ? planned->input[k].u.value : NULL;
            if (s == 0 && !planned && a && t && a->dtype == DT_U8 && dtype_is_float(t->dtype))
                warn_of_bytes(c, g, k);
            if (a && t && dtype_is_float(t->dtype) && !dtype_is_float(a->dtype))
                a = v && v->grid && v->grid->dtype == a->dtype ? dequantize_array(c, a, v->grid)
                                                               : array_convert(c, a, t->dtype);
            real.sample[s][k] = a;
        }
    }
    return real;
}

static _Noreturn void fatal_no_labels(C *c, const Loc *loc, const char *labels,
                                      const ArrayList *list) {
    const char **names = NEW_ARRAY(c, const char *, list->count + 1);
    Text all = text_new(c);
    for (int i = 0; i < list->count; i++) {
        names[i] = list->item[i].name;
        text_add(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = text_nearest(labels, names, list->count);
    diag_error(c, DIAG_INPUT, loc, "no array named %s for the labels%s%s%s", labels,
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    diag_detail(c, "the arrays: %s", text_string(&all));
    diag_stop_if_errors(c);
    abort();
}

Array *labels_read(C *c, const char *path, const char *labels) {
    if (text_ends_with(labels, ".npy"))
        return npy_read(c, labels);
    Loc loc = {.file = path};
    if (!text_ends_with(path, ".npz"))
        fatal(c, DIAG_INPUT, &loc, "labels \"%s\": an array's name needs an .npz as input", labels);
    ArrayList list = npz_read(c, path);
    const Array *a = named(&list, labels);
    if (!a)
        fatal_no_labels(c, &loc, labels, &list);
    return (Array *)a;
}
