/* How images become a model's input: --mean and --std, and --input-scale NAME=pixels, with which
 * the chip takes the bytes of an image as a camera has them. The graph of such a model is of
 * byte / 255, and its first nodes are the normalization, which pass fold takes into the first
 * layer. */
#include "api/session.h"

#include <stdlib.h>
#include <string.h>

static int parse_numbers(C *c, const char *option, const char *text, double out[4]) {
    int count = 0;
    for (const char *p = text; p && *p && count < 4; count++) {
        char *end;
        out[count] = strtod(p, &end);
        if (end == p || (*end && *end != ',')) {
            diag_error(c, DIAG_USAGE, NULL, "%s \"%s\": numbers with commas between are needed",
                       option, text);
            return 0;
        }
        p = *end ? end + 1 : end;
    }
    return count;
}

static void spread_one(double number[4], int count) {
    for (int k = 1; k < 4 && count == 1; k++)
        number[k] = number[0];
}

/* The names of the inputs that are pixels. */
static void find_pixels(C *c, const CortenOptions *o, ImageScaling *s) {
    s->pixels = NEW_ARRAY(c, const char *, o->input_scale_count + 1);
    for (int i = 0; i < o->input_scale_count; i++) {
        const char *text = o->input_scale[i], *equals = strrchr(text, '=');
        if (equals && strcmp(equals, "=pixels") == 0)
            s->pixels[s->pixels_count++] = c_strndup(c, text, (size_t)(equals - text));
    }
}

ImageScaling scaling_of(C *c, const CortenOptions *o) {
    ImageScaling s = {.std = {1, 1, 1, 1}};
    int means = o->mean ? parse_numbers(c, "--mean", o->mean, s.mean) : 0;
    int stds = o->std ? parse_numbers(c, "--std", o->std, s.std) : 0;
    if (means > 1 && stds > 1 && means != stds)
        diag_error(c, DIAG_USAGE, NULL, "--mean has %d numbers and --std %d", means, stds);
    for (int k = 0; k < stds; k++)
        if (s.std[k] == 0)
            diag_error(c, DIAG_USAGE, NULL, "--std must not be 0");
    spread_one(s.mean, means);
    spread_one(s.std, stds);
    s.channels = means > stds ? means : stds;
    find_pixels(c, o, &s);
    return s;
}

/* ---- the normalization as nodes ------------------------------------------------------------ */

/* %x OP numbers, a number per channel. Before all that reads x, which then reads this. */
static Value *with_numbers(Graph *g, Node *first, Value *x, const char *op, int channels,
                           const double *number) {
    int64_t dim[3] = {channels, 1, 1};
    Array *a = channels > 1 ? array_new(g->c, DT_F32, 3, dim) : array_new(g->c, DT_F32, 0, NULL);
    for (int k = 0; k < channels; k++)
        array_set(a, k, number[k]);
    return node_value(g, first, op, ARGS(arg_value(x), arg_value(value_constant(g, "pixels", a))));
}

static void normalize(C *c, Graph *g, Value *x, const ImageScaling *s) {
    int rank = x->type.rank;
    int64_t channels = rank >= 3 ? x->type.dim[rank - 3] : 0;
    if (!dtype_is_float(x->type.dtype) || channels < 1 || channels > 4 ||
        (s->channels > 1 && s->channels != channels)) {
        diag_error(c, DIAG_USAGE, NULL,
                   "--input-scale %s=pixels: an input of floats [..., channels, height, width] "
                   "with at most 4 channels is needed, and as many numbers of --mean and --std",
                   x->name);
        return;
    }
    Node *first = g->first;
    Value *away = with_numbers(g, first, x, "aten::sub.Tensor", s->channels, s->mean);
    Value *y = with_numbers(g, first, away, "aten::div.Tensor", s->channels, s->std);
    value_replace(g, x, y);
    away->def->arg[0] = arg_value(x);
}

void pixels_normalize(C *c, Graph *g, const CortenOptions *o) {
    ImageScaling s = scaling_of(c, o);
    for (int i = 0; i < g->input_count && s.channels > 0; i++)
        if (g->input[i].kind == ARG_VALUE && scaling_is_pixels(&s, g->input_name[i]))
            normalize(c, g, g->input[i].u.value, &s);
    diag_stop_if_errors(c);
}
