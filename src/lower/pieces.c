/* Cuts a function of int16 into quadratic pieces that the chip computes within a step (the kernel
 * pieces_s16). Each piece is as long as it can be, found by trying: the chip's own arithmetic
 * (ctn_piece_s16) is checked on every number of it, so that bends and jumps end a piece by
 * themselves and no property of the function is relied on. */
#include "lower/lower.h"

#include "fix.h"

#include <math.h>
#include <stdlib.h>

enum { POSITIONS = 65536, LONGEST = 32768, COEFFICIENT_LIMIT = 65535 };

/* Where the polynomial meets the function: near the nodes of Chebyshev, which share the error. */
#define FIRST_NODE 0.067

static int log2_above(int64_t n) {
    int k = 0;
    while ((int64_t)1 << k < n)
        k++;
    return k;
}

/* The parabola through three of `length` numbers, in the units of ctn_piece_s16; false if its
 * numbers are too large. */
static bool piece_draw(const double *want, int64_t length, int32_t piece[4]) {
    int64_t first = (int64_t)round(FIRST_NODE * (double)(length - 1));
    int64_t node[3] = {first, (length - 1) / 2, length - 1 - first};
    int shift = 15 - log2_above(length);
    double t[3], d1 = 0, d2 = 0;
    for (int k = 0; k < 3; k++)
        t[k] = ldexp((double)node[k], shift - 15);
    double y0 = want[node[0]], y1 = want[node[1]], y2 = want[node[2]];
    if (node[2] > node[0])
        d1 = (y2 - y0) / (t[2] - t[0]);
    if (node[1] > node[0] && node[2] > node[1]) {
        double before = (y1 - y0) / (t[1] - t[0]), after = (y2 - y1) / (t[2] - t[1]);
        d1 = before;
        d2 = (after - before) / (t[2] - t[0]);
    }
    double number[3] = {y0 - d1 * t[0] + d2 * t[0] * t[1], d1 - d2 * (t[0] + t[1]), d2};
    piece[0] = shift;
    for (int k = 0; k < 3; k++)
        piece[1 + k] = (int32_t)lround(fmax(fmin(16 * number[k], 1e9), -1e9));
    return abs(piece[2]) <= COEFFICIENT_LIMIT && abs(piece[3]) <= COEFFICIENT_LIMIT &&
           abs(piece[2] + piece[3]) < COEFFICIENT_LIMIT;
}

static bool piece_fits(const PiecesWanted *w, int64_t at, int64_t length, int32_t piece[4]) {
    if (!piece_draw(w->want + at, length, piece))
        return false;
    for (int64_t i = 0; i < length; i++) {
        int32_t got = ctn_piece_s16(piece, (int32_t)i);
        if (fabs(got - w->want[at + i]) > w->tolerance || got < w->low || got > w->high)
            return false;
    }
    return true;
}

/* A long piece: doubled while it fits, then halved in on. One number always fits. */
static int64_t piece_longest(const PiecesWanted *w, int64_t at, int32_t piece[4]) {
    int64_t fits = 1, fails = POSITIONS - at + 1;
    if (fails > LONGEST + 1)
        fails = LONGEST + 1;
    for (int64_t n = 2; n < fails && piece_fits(w, at, n, piece); n *= 2)
        fits = n;
    if (2 * fits < fails)
        fails = 2 * fits;
    while (fails - fits > 1) {
        int64_t middle = (fits + fails) / 2;
        *(piece_fits(w, at, middle, piece) ? &fits : &fails) = middle;
    }
    piece_fits(w, at, fits, piece);
    return fits;
}

Pieces pieces_fit(C *c, const PiecesWanted *w) {
    Pieces p = {0, NEW_ARRAY(c, int16_t, POSITIONS), NEW_ARRAY(c, int32_t, 4 * POSITIONS)};
    for (int64_t at = 0; at < POSITIONS;) {
        p.start[p.count] = (int16_t)(at - 32768);
        at += piece_longest(w, at, p.piece + 4 * p.count++);
    }
    return p;
}
