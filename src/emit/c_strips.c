/* Strips in the source of an emitted model: each is a function over its table of steps, which sets
 * what differs from step to step in copies of its calls' arguments. */
#include "emit/names.h"
#include "lower/memory.h"

/* ---- tables -------------------------------------------------------------------------------- */

static const char *const signed_types[] = {[1] = "int8_t", [2] = "int16_t", [4] = "int32_t"};
static const char *const unsigned_types[] = {[1] = "uint8_t", [2] = "uint16_t"};

enum { WIDEST = 4 };

/* The widest first: nothing then lies between them. */
void c_add_strip_members(Text *t, const Graph *g) {
    for (int bytes = WIDEST; bytes > 0; bytes /= 2)
        for (int i = 0; i < g->strip_count; i++) {
            const Strip *s = &g->strip[i];
            if (s->column_count == 0)
                continue;
            if (s->number_bytes == bytes)
                text_add(t, "    %s steps%d[%d][%d];\n", signed_types[bytes], s->first->index,
                         s->row_count, s->column_count);
            if (s->order_bytes == bytes)
                text_add(t, "    %s order%d[%d];\n", unsigned_types[bytes], s->first->index,
                         s->step_count);
        }
}

static void add_numbers(Text *t, C *c, const int32_t *number, int count) {
    int column = 8;
    for (int i = 0; i < count; i++)
        c_add_item(t, &column, c_format(c, "%d", number[i]));
}

void c_add_strip_tables(Text *t, C *c, const Graph *g) {
    for (int i = 0; i < g->strip_count; i++) {
        const Strip *s = &g->strip[i];
        if (s->column_count == 0)
            continue;
        text_add(t, "    .steps%d = {\n", s->first->index);
        for (int k = 0; k < s->row_count; k++) {
            text_add(t, "        {");
            add_numbers(t, c, s->row_table + (int64_t)k * s->column_count, s->column_count);
            text_add(t, "},\n");
        }
        text_add(t, "    },\n    .order%d = {\n        ", s->first->index);
        add_numbers(t, c, s->order, s->step_count);
        text_add(t, "\n    },\n");
    }
}

/* ---- functions ----------------------------------------------------------------------------- */

/* The C name of the field at a byte offset: "in_h", "dim[3]". */
static const char *field_at(C *c, const Call *call, int offset) {
    const Kernel *k = kernel_at(call->kernel);
    for (int i = 0; i < k->field_count; i++) {
        const KernelField *f = &k->field[i];
        if (offset < f->offset || offset >= f->offset + 4 * f->count)
            continue;
        return f->kind == FIELD_INTS ? c_format(c, "%s[%d]", f->name, (offset - f->offset) / 4)
                                     : f->name;
    }
    return "?";
}

static const char *place_text(C *c, const Graph *g, int32_t place) {
    return c_format(c, "CTN_REF(%s, %u)", region_name(c, g, (int)((uint32_t)place >> 28)),
                    (uint32_t)place & 0x0fffffffu);
}

/* Field f of an item: "CTN_REF(CTN_ARENA, 640) + (CtnRef)v[3]", "v[2]", "4". */
static const char *number_text(C *c, const Graph *g, const StripItem *item, int f) {
    StripField field = item->field[f];
    bool walks = f > 0 && item->walks[f - 1], refers = strip_field_refers(item, f);
    const char *base =
        refers && !walks ? place_text(c, g, field.base) : c_format(c, "%d", field.base);
    if (field.column < 0)
        return refers && walks ? c_format(c, "(CtnRef)%s", base) : base;
    const char *number = c_format(c, "%sv[%d]", refers ? "(CtnRef)" : "", field.column);
    return refers && !walks ? c_format(c, "%s + %s", base, number) : number;
}

/* The variable of a reference that walks through a whole value. */
static const char *walk_name(C *c, const StripItem *item, int patch) {
    return c_format(c, "%s%d_at", field_at(c, item->call, item->patch[patch]), item->call->index);
}

static void add_move(Text *t, C *c, const Graph *g, const StripItem *item, const char *indent) {
    text_add(t,
             "%sctn_move(&(CtnMoveArgs){.output = %s,\n"
             "%s                        .input = %s,\n"
             "%s                        .count = %s},\n"
             "%s         frame);\n",
             indent, number_text(c, g, item, 1), indent, number_text(c, g, item, 2), indent,
             number_text(c, g, item, 0), indent);
}

/* Numbers of the table may be negative and narrow; GCC warns of (CtnRef)v[i] as what is added. */
static void add_walk(Text *t, C *c, const Graph *g, const StripItem *item, int i,
                     const char *indent) {
    const char *name = walk_name(c, item, i);
    int column = item->field[1 + i].column;
    if (column >= 0)
        text_add(t, "%s%s = (CtnRef)((int32_t)%s + v[%d]);\n", indent, name, name, column);
    else
        text_add(t, "%s%s += %s;\n", indent, name, number_text(c, g, item, 1 + i));
}

static void add_call(Text *t, C *c, const Graph *g, const StripItem *item, const char *indent) {
    int call = item->call->index;
    for (int i = 0; i < item->patch_count; i++) {
        const char *field = field_at(c, item->call, item->patch[i]);
        if (item->walks[i]) {
            text_add(t, "%sa%d.%s = %s;\n", indent, call, field, walk_name(c, item, i));
            add_walk(t, c, g, item, i, indent);
        } else if (item->field[1 + i].column >= 0)
            text_add(t, "%sa%d.%s = %s;\n", indent, call, field, number_text(c, g, item, 1 + i));
    }
    text_add(t, "%s%s(&a%d, frame);\n", indent, item->call->variant->symbol, call);
}

/* Has the item no rows in some step, or in all? */
static void find_rests(const Strip *s, const StripItem *item, bool *some, bool *all) {
    StripField rows = item->field[0];
    *some = *all = rows.column < 0 && rows.base == 0;
    for (int k = 0; rows.column >= 0 && k < s->row_count; k++)
        *some |= s->row_table[(int64_t)k * s->column_count + rows.column] == 0;
}

static void add_strip_item(Text *t, C *c, const Graph *g, const Strip *s, const StripItem *item) {
    bool rests, always;
    find_rests(s, item, &rests, &always);
    const char *indent = rests ? "            " : "        ";
    if (always)
        return;
    if (rests)
        text_add(t, "        if (%s%s", number_text(c, g, item, 0), item->call ? ") {\n" : ")\n");
    if (item->call)
        add_call(t, c, g, item, indent);
    else
        add_move(t, c, g, item, indent);
    if (rests && item->call)
        text_add(t, "        }\n");
}

/* The arguments of a call with what is the same in all steps, and where its walks begin. */
static void add_copy(Text *t, C *c, const Graph *g, const StripItem *item) {
    int call = item->call->index;
    text_add(t, "    %s a%d = calls.call%d;\n", kernel_at(item->call->kernel)->args_type, call,
             call);
    for (int k = 0; k < item->patch_count; k++)
        if (!item->walks[k] && item->field[1 + k].column < 0)
            text_add(t, "    a%d.%s = %s;\n", call, field_at(c, item->call, item->patch[k]),
                     number_text(c, g, item, 1 + k));
    for (int k = 0; k < item->patch_count; k++)
        if (item->walks[k])
            text_add(t, "    CtnRef %s = %s;\n", walk_name(c, item, k),
                     place_text(c, g, item->start[k]));
}

static void add_strip(Text *t, C *c, const Graph *g, const Strip *s) {
    int first = s->first->index;
    const char *way = s->upward ? ", from the bottom up" : "";
    if (s->first == s->last)
        text_add(t, "/* Call %d, %d rows of its output at a time%s. */\n", first, s->rows, way);
    else
        text_add(t,
                 "/* Calls %d to %d, %d rows of the last one's output at a time%s: each reads\n"
                 " * what it needs of the rows that the one before it has just made. */\n",
                 first, s->last->index, s->rows, way);
    text_add(t, "static void strip%d(const CtnFrame *frame) {\n", first);
    for (int i = 0; i < s->item_count; i++)
        if (s->item[i].call)
            add_copy(t, c, g, &s->item[i]);
    text_add(t, "    for (int32_t i = 0; i < %d; i++) {\n", s->step_count);
    if (s->column_count > 0)
        text_add(t, "        const %s *v = calls.steps%d[calls.order%d[i]];\n",
                 signed_types[s->number_bytes], first, first);
    for (int i = 0; i < s->item_count; i++)
        add_strip_item(t, c, g, s, &s->item[i]);
    text_add(t, "    }\n}\n\n");
}

void c_add_strips(Text *t, C *c, const Graph *g) {
    for (int i = 0; i < g->strip_count; i++)
        add_strip(t, c, g, &g->strip[i]);
}
