/* The steps of a strip as the emitted program has them. Between its first and last steps a strip
 * does the same again and again, further down in the values that exist as a whole: with those
 * references as distances, equal steps are one row of a table, and a list says which row each step
 * takes. What never changes has no column, and what is equal shares one. */
#include "lower/memory.h"

#include <string.h>

/* Where a number stands in a step: field 0 is the item's rows, field 1 + k its patch k. */
typedef struct {
    int rows, at; /* places in a step's values */
    bool always;  /* it counts also where the item rests */
} Place;

static bool counts(const Strip *s, Place p, int t) {
    return p.always || s->value[(int64_t)t * s->width + p.rows] > 0;
}

/* The next step after t in which the number counts; -1: none. */
static int next_counting(const Strip *s, Place p, int t) {
    for (t++; t < s->step_count; t++)
        if (counts(s, p, t))
            return t;
    return -1;
}

static int32_t value_at(const Strip *s, Place p, int t) {
    return s->value[(int64_t)t * s->width + p.at];
}

/* Replaces what the reference of a walk is at each step by how far it goes on behind it; behind the
 * last one, where it does not matter, as far as before. */
static void walk_distances(const Strip *s, Place p, int32_t *start, int32_t *number) {
    int32_t distance = 0;
    int t = next_counting(s, p, -1);
    *start = t >= 0 ? value_at(s, p, t) : 0;
    while (t >= 0) {
        int next = next_counting(s, p, t);
        if (next >= 0)
            distance = value_at(s, p, next) - value_at(s, p, t);
        number[t] = distance;
        t = next;
    }
}

/* Sets the field's base; what is left differs from step to step. References are unsigned: they
 * count from the lowest. Is anything left? */
static bool take_base(const Strip *s, Place p, bool is_reference, int32_t *number,
                      StripField *field) {
    int first = next_counting(s, p, -1);
    bool varies = false;
    field->base = first >= 0 ? number[first] : 0;
    for (int t = first; t >= 0; t = next_counting(s, p, t)) {
        varies |= number[t] != number[first];
        if ((uint32_t)number[t] < (uint32_t)field->base)
            field->base = number[t];
    }
    if (varies && !is_reference)
        field->base = 0;
    for (int t = first; t >= 0; t = next_counting(s, p, t))
        number[t] -= field->base;
    return varies;
}

/* A column that has the same numbers wherever they count; else a new one, whose numbers stay as
 * they were where they do not. */
static int column_for(const Strip *s, Place p, int32_t *number, int32_t **column, int *count) {
    for (int k = 0; k < *count; k++) {
        int t = next_counting(s, p, -1);
        while (t >= 0 && column[k][t] == number[t])
            t = next_counting(s, p, t);
        if (t < 0)
            return k;
    }
    for (int t = 0, last = next_counting(s, p, -1); t < s->step_count; t++) {
        last = counts(s, p, t) ? t : last;
        number[t] = number[last];
    }
    column[*count] = number;
    return (*count)++;
}

bool strip_field_refers(const StripItem *item, int f) {
    if (!item->call)
        return f > 0;
    for (int r = 0; f > 0 && r < item->call->ref_count; r++)
        if (item->call->ref[r].field_offset == item->patch[f - 1])
            return true;
    return false;
}

static int find_columns(C *c, Strip *s, int32_t **column) {
    int count = 0;
    for (int i = 0, at = 0; i < s->item_count; at += 1 + s->item[i].patch_count, i++) {
        StripItem *item = &s->item[i];
        for (int f = 0; f < 1 + item->patch_count; f++) {
            Place p = {at, at + f, f == 0};
            int32_t *number = NEW_ARRAY(c, int32_t, s->step_count);
            bool walks = f > 0 && item->walks[f - 1];
            for (int t = 0; t < s->step_count; t++)
                number[t] = value_at(s, p, t);
            if (walks)
                walk_distances(s, p, &item->start[f - 1], number);
            bool is_reference = !walks && strip_field_refers(item, f);
            item->field[f].column = take_base(s, p, is_reference, number, &item->field[f])
                                        ? column_for(s, p, number, column, &count)
                                        : -1;
        }
    }
    return count;
}

static int bytes_for(int64_t low, int64_t high) {
    return low >= INT16_MIN && high <= INT16_MAX ? 2 : 4;
}

/* Rows that differ, and for each step its row. */
static void find_rows(C *c, Strip *s, int32_t *const *column) {
    int width = s->column_count;
    s->row_table = NEW_ARRAY(c, int32_t, (int64_t)s->step_count * width + 1);
    s->order = NEW_ARRAY(c, int32_t, s->step_count + 1);
    s->row_count = 0;
    int64_t low = 0, high = 0;
    for (int t = 0; t < s->step_count; t++) {
        int32_t *step = s->row_table + (int64_t)s->row_count * width;
        for (int k = 0; k < width; k++) {
            step[k] = column[k][t];
            low = step[k] < low ? step[k] : low;
            high = step[k] > high ? step[k] : high;
        }
        int same = 0;
        while (memcmp(s->row_table + (int64_t)same * width, step, sizeof *step * (size_t)width) !=
               0)
            same++;
        s->order[t] = same;
        s->row_count += same == s->row_count;
    }
    s->number_bytes = bytes_for(low, high);
    s->order_bytes = s->row_count <= 256 ? 1 : 2;
}

int64_t strip_table_bytes(const Strip *s) {
    if (s->column_count == 0)
        return 0;
    return (int64_t)s->row_count * s->column_count * s->number_bytes +
           (int64_t)s->step_count * s->order_bytes;
}

void strip_find_table(C *c, Strip *s) {
    int32_t *column[STRIP_COLUMNS];
    s->column_count = find_columns(c, s, column);
    find_rows(c, s, column);
}
