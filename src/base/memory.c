/* Arenas: blocks chained in the order of use, carved from the front, and freed all at once. Every
 * block comes zeroed from calloc and no byte is handed out twice, which is why allocations are
 * zeroed without a memset. */
#include "base/base.h"

#include <assert.h>
#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16
#define ARENA_LIMIT ((size_t)16 << 30)
#define RESERVE_BYTES 2048

/* Under AddressSanitizer every allocation is a block of its own, so that running past its end is
 * seen. */
#ifdef CORTEN_SANITIZED
#define BLOCK_BYTES 0
#else
#define BLOCK_BYTES ((size_t)256 << 10)
#endif

typedef struct Block {
    struct Block *next;
    alignas(ALIGNMENT) unsigned char data[];
} Block;

typedef struct Deferred {
    struct Deferred *next;
    void (*release)(void *);
    void *what;
} Deferred;

struct Arena {
    Block *blocks;
    unsigned char *front; /* the free part of the block that is being carved */
    size_t left;
    size_t used; /* bytes of all blocks */
    Deferred *deferred;
    /* What the "out of memory" diagnostic itself is made of. */
    bool reserve_open;
    size_t reserve_used;
    alignas(ALIGNMENT) unsigned char reserve[RESERVE_BYTES];
};

static _Noreturn void die_out_of_memory(void) {
    fputs("corten: error: out of memory\n", stderr);
    exit(DIAG_MODEL);
}

Arena *arena_new(void) {
    Arena *a = calloc(1, sizeof *a);
    if (a == NULL)
        die_out_of_memory();
    return a;
}

void arena_free(Arena *a) {
    if (a == NULL)
        return;
    for (Deferred *d = a->deferred; d != NULL; d = d->next)
        d->release(d->what);
    for (Block *b = a->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

static void *reserve_alloc(Arena *a, size_t bytes) {
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > RESERVE_BYTES || rounded > RESERVE_BYTES - a->reserve_used)
        die_out_of_memory();
    void *p = a->reserve + a->reserve_used;
    a->reserve_used += rounded;
    return p;
}

static _Noreturn void out_of_memory(C *c, size_t bytes) {
    c->arena->reserve_open = true;
    fatal(c, DIAG_MODEL, NULL, "out of memory: %zu more bytes are needed", bytes);
}

/* A new block with room for `bytes`, or NULL. */
static Block *block_new(Arena *a, size_t bytes) {
    if (bytes > ARENA_LIMIT - a->used)
        return NULL;
    Block *b = calloc(1, sizeof(Block) + bytes);
    if (b == NULL)
        return NULL;
    a->used += bytes;
    b->next = a->blocks;
    a->blocks = b;
    return b;
}

void *c_alloc(C *c, size_t bytes) {
    Arena *a = c->arena;
    if (a->reserve_open)
        return reserve_alloc(a, bytes);
    if (bytes == 0)
        bytes = 1;
    if (bytes > BLOCK_BYTES / 4) { /* large: its own block, and the carved one stays in use */
        Block *b = block_new(a, bytes);
        if (b == NULL)
            out_of_memory(c, bytes);
        return b->data;
    }
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (rounded > a->left) {
        Block *b = block_new(a, BLOCK_BYTES);
        if (b == NULL)
            out_of_memory(c, bytes);
        a->front = b->data;
        a->left = BLOCK_BYTES;
    }
    void *p = a->front;
    a->front += rounded;
    a->left -= rounded;
    return p;
}

void *c_calloc(C *c, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size)
        out_of_memory(c, SIZE_MAX);
    return c_alloc(c, count * size);
}

void *c_memdup(C *c, const void *p, size_t bytes) {
    void *copy = c_alloc(c, bytes);
    if (bytes > 0)
        memcpy(copy, p, bytes);
    return copy;
}

void *c_grow(C *c, void *items, int count, int *capacity, int need, size_t size) {
    assert(count >= 0 && count <= *capacity);
    if (need <= *capacity)
        return items;
    int grown = *capacity > INT_MAX / 2 ? INT_MAX : *capacity * 2;
    if (grown < 8)
        grown = 8;
    if (grown < need)
        grown = need;
    void *storage = c_calloc(c, (size_t)grown, size);
    if (count > 0)
        memcpy(storage, items, (size_t)count * size);
    *capacity = grown;
    return storage;
}

void c_defer(C *c, void (*release)(void *), void *what) {
    Deferred *d = NEW(c, Deferred);
    *d = (Deferred){c->arena->deferred, release, what};
    c->arena->deferred = d;
}

char *c_strndup(C *c, const char *s, size_t n) {
    size_t length = strnlen(s, n);
    char *copy = c_alloc(c, length + 1);
    memcpy(copy, s, length);
    return copy;
}

char *c_strdup(C *c, const char *s) {
    return c_memdup(c, s, strlen(s) + 1);
}

char *c_vformat(C *c, const char *format, va_list args) {
    va_list measured;
    va_copy(measured, args);
    int length = vsnprintf(NULL, 0, format, measured);
    va_end(measured);
    assert(length >= 0);
    char *s = c_alloc(c, (size_t)length + 1);
    vsnprintf(s, (size_t)length + 1, format, args);
    return s;
}

char *c_format(C *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *s = c_vformat(c, format, args);
    va_end(args);
    return s;
}
