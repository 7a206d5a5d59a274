/* einsum, taken apart into permutations and matrix products: operands are multiplied left to right,
 * and a label is summed over as soon as nothing to the right and not the result has it. */
#include "ops/ops.h"

#include <string.h>

#define LABELS (52 + MAX_RANK) /* letters, and the dims that "..." stands for */

typedef struct { /* a tensor with a label for each dim */
    Value *value;
    int rank;
    int label[MAX_RANK];
} Term;

static bool einsum_refuse(C *c, const Node *n, const char *why) {
    diag_error(c, DIAG_MODEL, &n->loc, "einsum '%s': %s", node_string(n, "equation"), why);
    return false;
}

static int label_of(char ch) {
    return ch >= 'a' && ch <= 'z' ? ch - 'a' : ch >= 'A' && ch <= 'Z' ? ch - 'A' + 26 : -1;
}

/* Reads labels up to ',', '-' or the end; dims of "..." are numbered from the right. `hidden` is
 * how many dims "..." has here. NULL when malformed. */
static const char *term_parse(const char *s, int hidden, Term *t) {
    t->rank = 0;
    for (; *s && *s != ',' && *s != '-'; s++) {
        if (*s == ' ')
            continue;
        if (strncmp(s, "...", 3) == 0) {
            for (int k = hidden - 1; k >= 0; k--) {
                if (t->rank == MAX_RANK)
                    return NULL;
                t->label[t->rank++] = 52 + k;
            }
            s += 2;
            continue;
        }
        if (label_of(*s) < 0 || t->rank == MAX_RANK)
            return NULL;
        t->label[t->rank++] = label_of(*s);
    }
    return s;
}

static int term_letters(const char *s) {
    int count = 0;
    for (; *s && *s != ',' && *s != '-'; s++)
        count += label_of(*s) >= 0;
    return count;
}

static int term_find(const Term *t, int label) {
    for (int k = 0; k < t->rank; k++)
        if (t->label[k] == label)
            return k;
    return -1;
}

static bool term_repeats(const Term *t) {
    for (int k = 0; k < t->rank; k++)
        if (term_find(t, t->label[k]) != k)
            return true;
    return false;
}

/* A label that stands twice in one operand means its diagonal, which comes last. */
static bool term_diagonals(C *c, Graph *g, Node *n, Term *t) {
    for (int i = 0; i < t->rank; i++) {
        int label = t->label[i], j = i + 1;
        while (j < t->rank && t->label[j] != label)
            j++;
        if (j == t->rank)
            continue;
        if (t->value->type.dim[i] != t->value->type.dim[j])
            return einsum_refuse(c, n, "sizes of a label differ");
        t->value = MAKE("aten::diagonal", arg_value(t->value), arg_int(0), arg_int(i), arg_int(j));
        int kept = 0;
        for (int k = 0; k < t->rank; k++)
            if (k != i && k != j)
                t->label[kept++] = t->label[k];
        t->label[kept++] = label;
        t->rank = kept;
        i = -1; /* the label may stand a third time */
    }
    return true;
}

/* t with its dims in the order of `label`, all of which it has. */
static void term_permute(C *c, Graph *g, Node *n, Term *t, int count, const int *label) {
    int64_t perm[MAX_RANK];
    bool same = true;
    for (int k = 0; k < count; k++) {
        perm[k] = term_find(t, label[k]);
        same = same && perm[k] == k;
    }
    if (!same)
        t->value = MAKE("aten::permute", arg_value(t->value), arg_ints(c, count, perm));
    memcpy(t->label, label, (size_t)count * sizeof *label);
}

/* Sums over the labels that nobody else has. */
static void term_sum(C *c, Graph *g, Node *n, Term *t, const bool *needed) {
    int64_t dim[MAX_RANK];
    int count = 0, kept = 0;
    for (int k = 0; k < t->rank; k++)
        if (!needed[t->label[k]])
            dim[count++] = k;
        else
            t->label[kept++] = t->label[k];
    t->rank = kept;
    if (count > 0)
        t->value = MAKE("aten::sum.dim_IntList", arg_value(t->value), arg_ints(c, count, dim));
}

typedef struct { /* labels of a product of two terms by where they stand */
    int count[4];
    int label[4][MAX_RANK];
} Roles;
enum { BATCH, LEFT, RIGHT, SUMMED };

static void roles_add(Roles *r, int role, int label) {
    if (r->count[role] < MAX_RANK)
        r->label[role][r->count[role]++] = label;
}

/* t's dims in the order of three roles, each role one dim. */
static Value *term_matrix(C *c, Graph *g, Node *n, Term *t, const Roles *r, const int role[3]) {
    int label[MAX_RANK], count = 0;
    int64_t dim[3] = {1, 1, 1};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < r->count[role[k]]; i++)
            label[count++] = r->label[role[k]][i];
    term_permute(c, g, n, t, count, label);
    for (int k = 0, d = 0; k < 3; k++)
        for (int i = 0; i < r->count[role[k]]; i++)
            dim[k] *= t->value->type.dim[d++];
    return MAKE("aten::reshape", arg_value(t->value), arg_ints(c, 3, dim));
}

/* a * b summed over labels that are not needed; the result's labels are batch, left, right. */
static bool term_multiply(C *c, Graph *g, Node *n, Term *a, Term *b, const bool *needed) {
    Roles r = {0};
    int64_t dim[MAX_RANK], size[LABELS];
    for (int k = 0; k < a->rank; k++) {
        int other = term_find(b, a->label[k]);
        size[a->label[k]] = a->value->type.dim[k];
        if (other >= 0 && b->value->type.dim[other] != a->value->type.dim[k])
            return einsum_refuse(c, n, "sizes of a label differ, or there are too many labels");
        roles_add(&r, other < 0 ? LEFT : needed[a->label[k]] ? BATCH : SUMMED, a->label[k]);
    }
    for (int k = 0; k < b->rank; k++)
        if (term_find(a, b->label[k]) < 0) {
            size[b->label[k]] = b->value->type.dim[k];
            roles_add(&r, RIGHT, b->label[k]);
        }
    if (r.count[BATCH] + r.count[LEFT] + r.count[RIGHT] > MAX_RANK)
        return einsum_refuse(c, n, "sizes of a label differ, or there are too many labels");
    Value *x = term_matrix(c, g, n, a, &r, (int[]){BATCH, LEFT, SUMMED});
    Value *y = term_matrix(c, g, n, b, &r, (int[]){BATCH, SUMMED, RIGHT});
    a->rank = 0;
    for (int role = BATCH; role <= RIGHT; role++)
        for (int i = 0; i < r.count[role]; i++) {
            dim[a->rank] = size[r.label[role][i]];
            a->label[a->rank++] = r.label[role][i];
        }
    /* with nothing to sum over a product of elements */
    const char *row = r.count[SUMMED] > 0 ? "aten::matmul" : "aten::mul.Tensor";
    Value *z = MAKE(row, arg_value(x), arg_value(y));
    a->value = MAKE("aten::reshape", arg_value(z), arg_ints(c, a->rank, dim));
    return true;
}

/* Terms and result of the equation; without "->" the labels that stand once, in order. */
static bool einsum_parse(C *c, const Node *n, int count, Value **operand, Term *term, Term *out) {
    const char *s = node_string(n, "equation");
    int seen[LABELS] = {0}, hidden = 0;
    for (int i = 0; i < count; i++) {
        int own = operand[i]->type.rank - term_letters(s);
        const char *end = own < 0 ? NULL : term_parse(s, own, &term[i]);
        if (!end || term[i].rank != operand[i]->type.rank || (i + 1 < count && *end != ','))
            return einsum_refuse(c, n, "does not fit its operands");
        term[i].value = operand[i];
        hidden = own > hidden ? own : hidden;
        for (int k = 0; k < term[i].rank; k++)
            seen[term[i].label[k]]++;
        s = i + 1 < count ? end + 1 : end;
    }
    out->rank = 0;
    if (*s == '-') {
        if (s[1] != '>' || !term_parse(s + 2, hidden, out) || term_repeats(out))
            return einsum_refuse(c, n, "malformed result");
        for (int k = 0; k < out->rank; k++)
            if (!seen[out->label[k]])
                return einsum_refuse(c, n, "a label of the result is in no operand");
        return true;
    }
    for (int k = MAX_RANK - 1; k >= 0; k--)
        if (seen[52 + k])
            out->label[out->rank++] = 52 + k;
    for (char ch = 'A'; ch <= 'z' && out->rank < MAX_RANK; ch++)
        if (label_of(ch) >= 0 && seen[label_of(ch)] == 1)
            out->label[out->rank++] = label_of(ch);
    return *s == 0 || einsum_refuse(c, n, "malformed");
}

/* Left to right; a label is needed while a later operand or the result has it. */
static void einsum_needed(const Term *out, int from, int count, const Term *term, bool *needed) {
    memset(needed, 0, LABELS * sizeof *needed);
    for (int k = 0; k < out->rank; k++)
        needed[out->label[k]] = true;
    for (int i = from; i < count; i++)
        for (int k = 0; k < term[i].rank; k++)
            needed[term[i].label[k]] = true;
}

#define EINSUM_OPERANDS 16

static void einsum_decompose(C *c, Graph *g, Node *n) {
    Value *operand[EINSUM_OPERANDS];
    int count = node_values(n, "tensors", operand, EINSUM_OPERANDS);
    Term term[EINSUM_OPERANDS], out;
    bool needed[LABELS];
    if (count < 1 || count >= EINSUM_OPERANDS) {
        einsum_refuse(c, n, "needs 1 to 15 operands");
        return;
    }
    if (!einsum_parse(c, n, count, operand, term, &out))
        return;
    for (int i = 0; i < count; i++)
        if (!term_diagonals(c, g, n, &term[i]))
            return;
    for (int i = 1; i < count; i++) {
        einsum_needed(&out, i + 1, count, term, needed);
        for (int k = 0; k < term[0].rank; k++)
            needed[term[0].label[k]] = true;
        term_sum(c, g, n, &term[i], needed);
        einsum_needed(&out, i, count, term, needed);
        term_sum(c, g, n, &term[0], needed);
        einsum_needed(&out, i + 1, count, term, needed);
        if (!term_multiply(c, g, n, &term[0], &term[i], needed))
            return;
    }
    einsum_needed(&out, count, count, term, needed);
    term_sum(c, g, n, &term[0], needed);
    term_permute(c, g, n, &term[0], out.rank, out.label);
    value_replace(g, n->out[0], term[0].value);
}

/* A letter for each of `rank` dims but those in `without`. */
static char *letters_but(char *to, int rank, const int64_t *without, int count) {
    for (int d = 0; d < rank; d++) {
        bool out = false;
        for (int k = 0; k < count; k++)
            out = out || without[k] == d;
        if (!out)
            *to++ = (char)('a' + d);
    }
    *to = 0;
    return to;
}

/* The product of three tensors that are spread over the dims in expand1, expand2, expand3, summed
 * over those in sumdim: an einsum. */
static void trilinear_decompose(C *c, Graph *g, Node *n) {
    static const char *const tensor[] = {"i1", "i2", "i3"};
    static const char *const spread[] = {"expand1", "expand2", "expand3"};
    char text[4 * (MAX_RANK + 3)], *to = text;
    int64_t dim[MAX_RANK];
    Value *part[3];
    int rank = 0;
    for (int k = 0; k < 3; k++) {
        part[k] = node_in(n, tensor[k]);
        int count = node_ints(n, spread[k], dim, MAX_RANK);
        if (k > 0 && part[k]->type.rank + count != rank) {
            movement_refuse(c, n, "%s of rank %d with %d dims in %s", tensor[k], part[k]->type.rank,
                            count, spread[k]);
            return;
        }
        rank = part[k]->type.rank + count;
        if (rank > MAX_RANK) {
            movement_refuse(c, n, "rank %d, at most %d", rank, MAX_RANK);
            return;
        }
        to = letters_but(to, rank, dim, count);
        *to++ = k < 2 ? ',' : '-';
    }
    *to++ = '>';
    letters_but(to, rank, dim, node_ints(n, "sumdim", dim, MAX_RANK));
    value_replace(g, n->out[0],
                  MAKE("aten::einsum", arg_string(c_strdup(c, text)), arg_values(c, 3, part)));
}

static const Op rows[] = {
    {.schema = "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, "
               "int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
     COMPOSITE(trilinear_decompose)},
    {.schema = "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
     COMPOSITE(einsum_decompose)},
};

OPS_FAMILY(einsum, rows);
