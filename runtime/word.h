/* Four bytes at any address in one access: on levels above v6m an unaligned LDR or STR. */
#ifndef CTN_WORD_H
#define CTN_WORD_H

#include <stdint.h>

typedef struct {
    uint32_t value;
} __attribute__((packed, may_alias)) CtnPacked;

static inline uint32_t ctn_load_word(const void *p) {
    return ((const CtnPacked *)p)->value;
}

static inline void ctn_store_word(void *p, uint32_t value) {
    ((CtnPacked *)p)->value = value;
}

#endif
