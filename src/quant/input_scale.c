/* --input-scale: inputs whose quantization the user fixes, as a camera or a converter has it. The
 * grid is pinned, so that no pass moves or refines it; calibration has no say in it. */
#include "quant/quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    double scale;
    long zero_point;
} InputScale;

static bool parse(C *c, const char *text, InputScale *out) {
    const char *equals = strrchr(text, '='), *comma = equals ? strchr(equals, ',') : NULL;
    char *after_scale = NULL, *after_zero = NULL;
    if (equals && strcmp(equals, "=pixels") == 0) { /* byte / 255 */
        *out = (InputScale){c_strndup(c, text, (size_t)(equals - text)), 1.0 / 255, -128};
        return true;
    }
    if (comma) {
        out->name = c_strndup(c, text, (size_t)(equals - text));
        out->scale = strtod(equals + 1, &after_scale);
        out->zero_point = strtol(comma + 1, &after_zero, 10);
    }
    if (!comma || after_scale != comma || after_zero == comma + 1 || *after_zero) {
        diag_error(c, DIAG_USAGE, NULL,
                   "--input-scale \"%s\": NAME=SCALE,ZP or NAME=pixels is needed", text);
        return false;
    }
    bool good = out->scale >= 1e-30 && out->scale <= 1e30 && out->zero_point >= -128 &&
                out->zero_point <= 127;
    if (!good)
        diag_error(c, DIAG_USAGE, NULL,
                   "--input-scale \"%s\": a scale above 0 and a zero point of -128..127 are needed",
                   text);
    return good;
}

static Value *input_named(const Graph *g, const char *name) {
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE && g->input_name && text_equal(g->input_name[i], name))
            return g->input[i].u.value;
    return NULL;
}

static void list_inputs(C *c, const Graph *g) {
    Text all = text_new(c);
    for (int i = 0; i < g->input_count; i++)
        if (g->input[i].kind == ARG_VALUE && g->input_name && g->input_name[i])
            text_add(&all, "%s%s", all.length ? ", " : "", g->input_name[i]);
    diag_detail(c, "the inputs: %s", text_string(&all));
}

void fix_input_grids(C *c, Graph *g, const Options *o) {
    for (int i = 0; i < o->input_scale_count; i++) {
        InputScale given = {0};
        if (!parse(c, o->input_scale[i], &given))
            continue;
        Value *v = input_named(g, given.name);
        if (!v) {
            diag_error(c, DIAG_USAGE, NULL, "--input-scale: there is no input \"%s\"", given.name);
            list_inputs(c, g);
        } else if (!dtype_is_float(v->type.dtype) || (v->grid && v->grid->pinned)) {
            diag_error(c, DIAG_MODEL, NULL, "--input-scale: input \"%s\" %s", given.name,
                       v->grid ? "has its scale from the archive"
                               : "is not quantized: it is of integers");
        } else {
            v->grid = grid_fixed(c, given.scale, (int32_t)given.zero_point);
            v->grid->pinned = true;
        }
    }
    diag_stop_if_errors(c);
}
