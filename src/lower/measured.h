/* What was measured on a simulated chip and with a compiler: tables that tools write into
 * measured_*.c, each with its origin. */
#ifndef CORTEN_MEASURED_H
#define CORTEN_MEASURED_H

#include "lower/lower.h"

enum { COST_TERMS = 24 };

/* Instructions of one call of a variant: the sum of factor[k] times term k of call_terms. */
typedef struct {
    const char *isa;    /* the level that it ran on, and was compiled for */
    const char *symbol; /* of the variant */
    float factor[COST_TERMS];
} CostRow;

extern const char cost_origin[];
extern const CostRow cost_table[];
extern const int cost_table_count;

/* The sizes that a call's instructions grow with. What each term is depends on the kernel. */
void call_terms(const Call *call, double term[COST_TERMS]);

#endif
