#include "emit/loops.h"

#include <math.h>
#include <string.h>

int loops_of(const Movement *m, const Value *out, Loop loop[MAX_LOOPS]) {
    int count = 0;
    for (int k = 0; k < out->type.rank; k++) {
        int d = out->order[k];
        if (!m->separable || m->piece_count[d] < 0)
            return -1;
        for (int p = m->piece_count[d] - 1; p >= 0; p--)
            loop[count++] = (Loop){m->piece[d][p].count, m->piece[d][p].stride};
    }
    return count;
}

int loops_between_orders(const Type *type, const int8_t *from, const int8_t *to,
                         Loop loop[MAX_RANK]) {
    int64_t stride[MAX_RANK], dense = 1;
    for (int k = type->rank - 1; k >= 0; k--) {
        stride[from[k]] = dense;
        dense *= type->dim[from[k]];
    }
    for (int k = 0; k < type->rank; k++)
        loop[k] = (Loop){type->dim[to[k]], stride[to[k]]};
    return type->rank;
}

int loops_merged(Loop *loop, int count) {
    int merged = 0;
    for (int i = 0; i < count; i++) {
        if (loop[i].count == 1)
            continue;
        if (merged > 0 && loop[merged - 1].in == loop[i].count * loop[i].in)
            loop[merged - 1] = (Loop){loop[merged - 1].count * loop[i].count, loop[i].in};
        else
            loop[merged++] = loop[i];
    }
    return merged;
}

bool loops_permute(const Loop *loop, int count, int64_t elements, int64_t size[MAX_RANK],
                   int32_t perm[MAX_RANK]) {
    int place[MAX_RANK] = {0}; /* of the loops by their step in the input, falling */
    if (count > MAX_RANK)
        return false;
    for (int i = 0; i < count; i++)
        place[i] = i;
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && loop[place[j - 1]].in < loop[place[j]].in; j--) {
            int swap = place[j];
            place[j] = place[j - 1];
            place[j - 1] = swap;
        }
    int64_t dense = 1;
    for (int i = count - 1; i >= 0; i--) {
        if (loop[place[i]].in != dense)
            return false;
        size[i] = loop[place[i]].count;
        perm[place[i]] = i;
        dense *= size[i];
    }
    return dense == elements;
}

/* ---- boxes --------------------------------------------------------------------------------- */

/* The dims of memory, split where a loop takes every k-th of one. Returns how many; -1: too many.
 */
static int sides_of(const Value *x, const Loop *loop, int count, Side side[MAX_RANK + 1]) {
    int64_t stride[MAX_RANK];
    int sides = 0;
    value_strides(x, stride);
    for (int p = 0; p < x->type.rank; p++)
        if (x->type.dim[x->order[p]] > 1)
            side[sides++] = (Side){x->type.dim[x->order[p]], stride[x->order[p]], 0, 0};
    for (int i = 0; i < count; i++)
        for (int p = 0; p < sides; p++) {
            int64_t every = loop[i].in / side[p].stride;
            if (loop[i].in % side[p].stride != 0 || every <= 1 || every >= side[p].count ||
                side[p].count % every != 0)
                continue;
            if (sides == MAX_RANK)
                return -1;
            memmove(&side[p + 1], &side[p], sizeof *side * (size_t)(sides++ - p));
            side[p].count /= every;
            side[p].stride *= every;
            side[p + 1].count = every;
            break;
        }
    return sides;
}

/* The loop in sides, innermost first into `of`; returns how many, -1: it is not such a loop. */
static int sides_used(Side *side, int sides, Loop loop, int of[MAX_RANK]) {
    int used = 0;
    while (loop.count > 1) {
        int p = 0;
        while (p < sides && side[p].stride != loop.in)
            p++;
        if (p == sides || side[p].size > 0)
            return -1;
        int64_t left = side[p].count - side[p].start;
        side[p].size = loop.count < left ? loop.count : left;
        if (side[p].size < loop.count && (side[p].start > 0 || loop.count % side[p].size != 0))
            return -1;
        loop.count /= side[p].size;
        loop.in *= side[p].size;
        of[used++] = p;
    }
    return used;
}

bool loops_box(const Value *x, int64_t base, const Loop *loop, int count, Box *box) {
    int of[MAX_RANK], loops = 0, place[MAX_LOOPS];
    Side *side = box->side;
    int sides = sides_of(x, loop, count, side);
    for (int p = 0; p < sides; p++) {
        side[p].start = base / side[p].stride;
        base %= side[p].stride;
    }
    if (sides < 1 || base != 0)
        return false;
    for (int i = 0; i < count; i++) {
        int used = sides_used(side, sides, loop[i], of);
        if (used < 0 || loops + used > MAX_RANK)
            return false;
        while (used > 0)
            place[loops++] = of[--used];
    }
    int64_t dense = 1, stride[MAX_RANK];
    for (int p = sides - 1; p >= 0; p--) {
        side[p].size = side[p].size ? side[p].size : 1;
        stride[p] = dense;
        dense *= side[p].size;
    }
    for (int i = 0; i < loops; i++)
        box->loop[i] = (Loop){side[place[i]].size, stride[place[i]]};
    box->side_count = sides;
    box->loop_count = loops;
    return true;
}

/* ---- borders and places -------------------------------------------------------------------- */

bool movement_pads(const Movement *m, const Value *x, const Value *y, int64_t side[2 * MAX_RANK]) {
    if (!m->has_fill || !m->boxed || !m->separable || x->type.rank != y->type.rank)
        return false;
    for (int k = 0; k < y->type.rank; k++) {
        int d = y->order[k];
        side[2 * k] = m->start[d];
        side[2 * k + 1] = y->type.dim[d] - m->stop[d];
        bool whole = m->stop[d] - m->start[d] == x->type.dim[d] && x->order[k] == d;
        if (!whole)
            return false;
    }
    Loop loop[MAX_LOOPS];
    int count = loops_of(m, y, loop);
    if (count < 0)
        return false;
    count = loops_merged(loop, count);
    return count == 0 || (count == 1 && loop[0].in == 1);
}

int32_t movement_fill(const Movement *m, const Value *y) {
    Array one = {value_storage(y), 0, {0}, &(int64_t){0}};
    array_set(&one, 0, m->fill_value / value_scale(y) + value_zero_point(y));
    return (int32_t)array_get_int(&one, 0);
}

bool movement_places(C *c, const Movement *m, const Value *x, const Value *y,
                     int64_t *place[MAX_RANK]) {
    int64_t stride[MAX_RANK], base = m->base;
    if (!m->separable || m->has_fill || x->type.rank != y->type.rank)
        return false;
    value_strides(x, stride);
    for (int p = 0; p < x->type.rank; p++) {
        int d = x->order[p];
        int64_t start = base / stride[d];
        base %= stride[d];
        place[d] = NEW_ARRAY(c, int64_t, y->type.dim[d]);
        for (int64_t i = 0; i < y->type.dim[d]; i++) {
            place[d][i] = start + m->offset[d][i] / stride[d];
            if (m->offset[d][i] % stride[d] != 0 || place[d][i] < 0 ||
                place[d][i] >= x->type.dim[d])
                return false;
        }
    }
    return true;
}

int64_t places_repeat(const int64_t *place, int64_t count) {
    int64_t repeat = 1;
    while (repeat < count && place[repeat] == place[0])
        repeat++;
    for (int64_t i = 0; i < count; i++)
        if (place[i] != place[0] + i / repeat)
            return 0;
    return count % repeat == 0 ? repeat : 0;
}
