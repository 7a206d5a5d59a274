/* What was measured on a simulated chip and with a compiler: tables that tools write into
 * measured_*.c, each with its origin. */
#ifndef CORTEN_MEASURED_H
#define CORTEN_MEASURED_H

#include "lower/lower.h"

enum { COST_TERMS = 64 };

/* Instructions of one call of a variant: the sum of factor[k] times term k of call_terms. */
typedef struct {
    const char *cpu;    /* what it ran on, and was compiled for */
    const char *symbol; /* of the variant */
    float factor[COST_TERMS];
} CostRow;

extern const char cost_origin[];
extern const CostRow cost_table[];
extern const int cost_table_count;

/* A function of the runtime, or one that the compiler's library supplies. */
typedef struct {
    const char *name;  /* "ctn_conv2d_s8_dsp"; static ones "file.c:name" */
    int bytes, stack;  /* code with its constants; its own frame */
    const char *calls; /* places in the table, with spaces between */
} CodeRow;

typedef struct { /* one level, compiled for speed (-O2) or size (-Os) */
    const char *isa;
    bool size;
    int count;
    const CodeRow *row;
} CodeTable;

extern const char code_compiler[];
extern const CodeTable code_tables[];
extern const int code_table_count;

/* The sizes that a call's instructions grow with. What each term is depends on the kernel. */
void call_terms(const Call *call, double term[COST_TERMS]);

#endif
