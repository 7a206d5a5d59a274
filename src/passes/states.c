/* An input and an output that --state pairs become one state, as if the model wrote a buffer: it
 * lives in memory of its own from run to run, has one grid, and is zero at first. Their slots stay
 * in the lists of inputs and outputs, and hold nothing. */
#include "passes/passes.h"

#include <stdlib.h>
#include <string.h>

/* The slot by its name, or by its number. */
static int slot_named(const char *const *name, int count, const char *text, size_t length) {
    for (int i = 0; i < count; i++)
        if (name && name[i] && strlen(name[i]) == length && memcmp(name[i], text, length) == 0)
            return i;
    char *end;
    long number = strtol(text, &end, 10);
    return end == text + length && length > 0 && number >= 0 && number < count ? (int)number : -1;
}

/* Of the slots that hold a tensor. */
static const char *names_listed(C *c, const Arg *arg, const char *const *name, int count) {
    Text t = text_new(c);
    for (int i = 0; i < count; i++)
        if (arg[i].kind == ARG_VALUE)
            text_add(&t, "%s%s", t.length ? ", " : "",
                     name && name[i] ? name[i] : c_format(c, "%d", i));
    return text_string(&t);
}

static Arg *slot_of(C *c, const char *text, size_t length, Arg *arg, const char *const *name,
                    int count, const char *what) {
    int k = slot_named(name, count, text, length);
    if (k >= 0 && arg[k].kind == ARG_VALUE)
        return &arg[k];
    diag_error(c, DIAG_USAGE, NULL, "--state: no %s \"%.*s\"", what, (int)length, text);
    diag_detail(c, "one of: %s", names_listed(c, arg, name, count));
    return NULL;
}

static void pair_up(C *c, Graph *g, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals) {
        diag_error(c, DIAG_USAGE, NULL, "--state \"%s\": INPUT=OUTPUT is needed", text);
        return;
    }
    Arg *in =
        slot_of(c, text, (size_t)(equals - text), g->input, g->input_name, g->input_count, "input");
    Arg *out = slot_of(c, equals + 1, strlen(equals + 1), g->output, g->output_name,
                       g->output_count, "output");
    if (!in || !out)
        return;
    Value *before = in->u.value, *after = out->u.value;
    if (!type_equal(&before->type, &after->type)) {
        diag_error(c, DIAG_USAGE, NULL, "--state \"%s\": %s %s is no next value of %s %s", text,
                   dtype_name(after->type.dtype), shape_text(c, after->type.rank, after->type.dim),
                   dtype_name(before->type.dtype),
                   shape_text(c, before->type.rank, before->type.dim));
        return;
    }
    State *all = NEW_ARRAY(c, State, g->state_count + 1);
    for (int i = 0; i < g->state_count; i++)
        all[i] = g->state[i];
    all[g->state_count++] =
        (State){before, after, c_strndup(c, text, (size_t)(equals - text)), (int)(in - g->input)};
    g->state = all;
    before->role = ROLE_BUFFER;
    before->initial = array_new(c, before->type.dtype, before->type.rank, before->type.dim);
    *in = arg_none();
    *out = arg_none();
}

void states_pair(C *c, Graph *g, int count, const char *const *pairs) {
    for (int i = 0; i < count; i++)
        pair_up(c, g, pairs[i]);
    diag_stop_if_errors(c);
}
