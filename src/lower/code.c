/* Code and stack of a planned graph, from the table of the runtime's functions (measured.h): what
 * its calls reach, each function once, and the deepest chain of frames. */
#include "lower/measured.h"
#include "lower/memory.h"

#include <stdlib.h>
#include <string.h>

/* Of the model's own functions, which the table cannot know: what GCC makes of the emitted source,
 * rounded up. Bytes for the file, for each call (in run and in call), for each strip and for each
 * field that a strip sets; frames of run and of a strip beside its arguments. */
enum { OWN_CODE = 320, CALL_CODE = 40, STRIP_CODE = 160, PATCH_CODE = 12 };
enum { RUN_FRAME = 32, STRIP_FRAME = 96 };

typedef struct {
    const CodeTable *table;
    bool *reached;
    int *depth; /* of a row with all that it calls; 0: not known yet */
} Walk;

static const CodeTable *table_of(const Options *o) {
    for (int i = 0; i < code_table_count; i++)
        if (strcmp(code_tables[i].isa, o->isa) == 0 && code_tables[i].size == o->optimize_size)
            return &code_tables[i];
    return NULL;
}

static int row_named(const CodeTable *t, const char *name) {
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->row[i].name, name) == 0)
            return i;
    return -1;
}

/* Marks what a row reaches; the stack that it needs with them. No function calls itself, so a chain
 * is no longer than the table. */
static int walk(Walk *w, int row, int length) {
    if (w->depth[row] > 0 || length > w->table->count)
        return w->depth[row];
    int deepest = 0;
    w->reached[row] = true;
    for (const char *p = w->table->row[row].calls; *p;) {
        char *end;
        int below = walk(w, (int)strtol(p, &end, 10), length + 1);
        deepest = below > deepest ? below : deepest;
        p = *end ? end + 1 : end;
    }
    return w->depth[row] = w->table->row[row].stack + deepest;
}

static int64_t strip_frame(const Strip *s) {
    int64_t bytes = STRIP_FRAME;
    for (int i = 0; i < s->item_count; i++)
        bytes += s->item[i].call ? s->item[i].call->args_bytes : 0;
    return bytes;
}

static int64_t own_code(const Graph *g) {
    int64_t bytes = OWN_CODE + (int64_t)CALL_CODE * g->call_count;
    for (int i = 0; i < g->strip_count; i++) {
        bytes += STRIP_CODE;
        for (int k = 0; k < g->strip[i].item_count; k++)
            bytes += PATCH_CODE * (1 + g->strip[i].item[k].patch_count);
    }
    return bytes;
}

bool plan_code(C *c, const Graph *g, const Options *o, Totals *t) {
    const CodeTable *table = table_of(o);
    t->kernel_code = t->model_code = t->stack = 0;
    if (!table)
        return false;
    Walk w = {table, NEW_ARRAY(c, bool, table->count), NEW_ARRAY(c, int, table->count)};
    memset(w.reached, 0, sizeof *w.reached * (size_t)table->count);
    memset(w.depth, 0, sizeof *w.depth * (size_t)table->count);
    for (const Call *call = g->first_call; call; call = call->next) {
        int row = row_named(table, call->variant->symbol);
        if (row < 0)
            return false; /* a kernel that is younger than the table */
        const Strip *s = strip_of(g, call);
        int64_t stack = RUN_FRAME + walk(&w, row, 0) + (s ? strip_frame(s) : 0);
        t->stack = stack > t->stack ? stack : t->stack;
    }
    if (g->strip_count > 0 && row_named(table, "ctn_move") >= 0)
        walk(&w, row_named(table, "ctn_move"), 0);
    for (int i = 0; i < table->count; i++)
        t->kernel_code += w.reached[i] ? table->row[i].bytes : 0;
    t->model_code = own_code(g);
    return true;
}

const char *code_origin(void) {
    return code_compiler;
}
