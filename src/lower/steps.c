/* The steps of a strip as the emitted program has them. Between its first and last steps a strip
 * does the same again and again, further down in the values that exist as a whole: with those
 * references as distances, equal steps become one row of the table. */
#include "lower/memory.h"

#include <string.h>

/* The next step after t in which the item does something; -1: none. */
static int next_active(const Strip *s, int at, int t) {
    for (t++; t < s->step_count; t++)
        if (s->value[(int64_t)t * s->width + at] > 0)
            return t;
    return -1;
}

/* Replaces what the references of a walk are at each step by how far they go on behind it; behind
 * the last one, where it does not matter, as far as before. */
static void walk_distances(const Strip *s, StripItem *item, int at, int patch, int32_t *row) {
    const int32_t *value = s->value + at + 1 + patch;
    int32_t *out = row + 1 + at + 1 + patch, distance = 0;
    int t = next_active(s, at, -1);
    item->start[patch] = t >= 0 ? value[(int64_t)t * s->width] : 0;
    while (t >= 0) {
        int next = next_active(s, at, t);
        if (next >= 0)
            distance = value[(int64_t)next * s->width] - value[(int64_t)t * s->width];
        out[(int64_t)t * (1 + s->width)] = distance;
        t = next;
    }
}

/* One row for each step; an item that rests has zeros. */
static int32_t *rows_of_steps(C *c, Strip *s) {
    int width = 1 + s->width;
    int32_t *row = NEW_ARRAY(c, int32_t, (int64_t)s->step_count * width);
    memset(row, 0, sizeof *row * (size_t)s->step_count * (size_t)width);
    for (int t = 0; t < s->step_count; t++) {
        row[(int64_t)t * width] = 1;
        const int32_t *value = s->value + (int64_t)t * s->width;
        for (int i = 0, at = 0; i < s->item_count; at += 1 + s->item[i].patch_count, i++)
            if (value[at] > 0)
                memcpy(row + (int64_t)t * width + 1 + at, value + at,
                       sizeof *row * (size_t)(1 + s->item[i].patch_count));
    }
    for (int i = 0, at = 0; i < s->item_count; at += 1 + s->item[i].patch_count, i++)
        for (int k = 0; k < s->item[i].patch_count; k++)
            if (s->item[i].walks[k])
                walk_distances(s, &s->item[i], at, k, row);
    return row;
}

void strip_find_runs(C *c, Strip *s) {
    int width = 1 + s->width;
    int32_t *row = rows_of_steps(c, s);
    s->run = row;
    s->run_count = 0;
    for (int t = 0; t < s->step_count; t++) {
        int32_t *last = row + (int64_t)(s->run_count - 1) * width;
        const int32_t *step = row + (int64_t)t * width;
        if (s->run_count > 0 && memcmp(last + 1, step + 1, sizeof *row * (size_t)s->width) == 0)
            last[0]++;
        else
            memmove(row + (int64_t)s->run_count++ * width, step, sizeof *row * (size_t)width);
    }
}
