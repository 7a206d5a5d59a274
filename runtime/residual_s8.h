/* A sum in the store of what makes one of its operands (ctn.h, CTN_RESIDUAL_FIELDS). The producer
 * leaves its results in a block of its scratch, a few pixels at a time, in the order of the output,
 * and has them summed there: `add` goes on by as many elements of skip and output. An element of
 * skip is read before that of the output is written. */
#ifndef CTN_RESIDUAL_S8_H
#define CTN_RESIDUAL_S8_H

#include "ctn.h"
#include "fix.h"

typedef struct {
    CTN_RESIDUAL_FIELDS(CTN_FIELD_REF, CTN_FIELD_INT)
} CtnResidualArgs;

typedef struct CtnResidual CtnResidual;
/* The next `count` results, which lie at `from`. */
typedef void CtnResidualAdd(CtnResidual *r, const int8_t *from, int32_t count);

struct CtnResidual {
    CtnResidualAdd *add;
    int8_t *block;
    const int8_t *skip;
    int8_t *output;
    const int32_t *addends; /* of x = 0 */
    const int8_t *table;
    const CtnResidualArgs *a;
};

/* args: the first field of a kernel's residual ones. */
static inline void ctn_residual_begin(CtnResidual *r, CtnResidualAdd *add, const CtnRef *args,
                                      const CtnFrame *frame, CtnRef scratch, CtnRef output) {
    const CtnResidualArgs *a = (const CtnResidualArgs *)(const void *)args;
    r->add = add;
    r->a = a;
    r->skip = ctn_at(frame, a->skip);
    r->addends = (const int32_t *)ctn_at(frame, a->addends) + 128;
    r->table = ctn_at(frame, a->sum_table);
    r->output = ctn_at(frame, output);
    r->block = scratch == CTN_NONE ? 0 : (int8_t *)ctn_at(frame, scratch) + a->block;
}

/* One element by the definition. */
static inline int8_t ctn_residual_one(const CtnResidual *r, int8_t q, int8_t s) {
    const CtnResidualArgs *a = r->a;
    int32_t sum = a->looks_up_skip ? r->addends[s] + q * a->factor : r->addends[q] + s * a->factor;
    sum = ctn_requantize(sum, a->sum_multiplier, a->sum_shift) + a->sum_zero_point;
    return ctn_finish_s8(sum, a->sum_clamp_min, a->sum_clamp_max, r->table);
}

#endif
