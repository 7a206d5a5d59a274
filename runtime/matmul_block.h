/* Two dense rows by two columns of bytes, the inner loop of matmul_s8.h: in the order of the
 * assembly, all words. */
#ifndef CTN_MATMUL_BLOCK_H
#define CTN_MATMUL_BLOCK_H

#include <stdint.h>

typedef struct {
    const int8_t *row[2], *column[2];
    int32_t depth, step; /* depth > 0; step: from byte to byte of a column */
    int32_t sum[4];      /* of products: rows 0 and 1 by column 0, then by column 1 */
} CtnMatmulBlock;

#endif
