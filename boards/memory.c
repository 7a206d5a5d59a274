/* The functions that a freestanding compiler may still call. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict out, const void *restrict in, size_t bytes);
void *memmove(void *out, const void *in, size_t bytes);
void *memset(void *out, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);

/* or the compiler would make a call of memcpy out of memcpy's own loop */
#ifdef __clang__
#define PLAIN_LOOPS __attribute__((no_builtin))
#else
#define PLAIN_LOOPS __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

PLAIN_LOOPS void *memcpy(void *restrict out, const void *restrict in, size_t bytes) {
    uint8_t *to = out;
    const uint8_t *from = in;
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0)
        for (; bytes >= 4; bytes -= 4, to += 4, from += 4)
            *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from;
    for (; bytes > 0; bytes--)
        *to++ = *from++;
    return out;
}

PLAIN_LOOPS void *memmove(void *out, const void *in, size_t bytes) {
    uint8_t *to = out;
    const uint8_t *from = in;
    if ((uintptr_t)to - (uintptr_t)from >= bytes)
        return memcpy(out, in, bytes);
    while (bytes > 0) {
        bytes--;
        to[bytes] = from[bytes];
    }
    return out;
}

PLAIN_LOOPS void *memset(void *out, int value, size_t bytes) {
    uint8_t *to = out;
    uint32_t word = (uint8_t)value * 0x01010101u;
    for (; bytes > 0 && ((uintptr_t)to & 3) != 0; bytes--)
        *to++ = (uint8_t)value;
    for (; bytes >= 4; bytes -= 4, to += 4)
        *(uint32_t *)(void *)to = word;
    for (; bytes > 0; bytes--)
        *to++ = (uint8_t)value;
    return out;
}

PLAIN_LOOPS int memcmp(const void *a, const void *b, size_t bytes) {
    const uint8_t *p = a, *q = b;
    for (; bytes > 0; bytes--, p++, q++)
        if (*p != *q)
            return *p - *q;
    return 0;
}

PLAIN_LOOPS size_t strlen(const char *text) {
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}
