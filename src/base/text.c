/* Growing strings, glob patterns and spelling suggestions. A Text's data always has room for its
 * terminator: length < capacity once anything was added. */
#include "base/base.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WORD_LIMIT 127 /* longer words get no suggestions */

Text text_new(C *c) {
    return (Text){.c = c};
}

static void text_reserve(Text *t, size_t more) {
    if (t->capacity - t->length > more)
        return;
    size_t need = more < SIZE_MAX - t->length ? t->length + more + 1 : SIZE_MAX;
    size_t capacity = t->capacity > SIZE_MAX / 2 ? SIZE_MAX : t->capacity * 2;
    if (capacity < 64)
        capacity = 64;
    if (capacity < need)
        capacity = need;
    char *data = c_alloc(t->c, capacity);
    if (t->length > 0)
        memcpy(data, t->data, t->length);
    t->data = data;
    t->capacity = capacity;
}

void text_add(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(length >= 0);
    text_reserve(t, (size_t)length);
    va_start(args, format);
    vsnprintf(t->data + t->length, (size_t)length + 1, format, args);
    va_end(args);
    t->length += (size_t)length;
}

void text_add_bytes(Text *t, const void *bytes, size_t count) {
    text_reserve(t, count);
    if (count > 0)
        memcpy(t->data + t->length, bytes, count);
    t->length += count;
    t->data[t->length] = '\0';
}

const char *text_string(const Text *t) {
    return t->data == NULL ? "" : t->data;
}

bool text_equal(const char *a, const char *b) {
    if (a == NULL || b == NULL)
        return a == b;
    return strcmp(a, b) == 0;
}

bool text_ends_with(const char *s, const char *suffix) {
    size_t length = strlen(s), tail = strlen(suffix);
    return length >= tail && strcmp(s + length - tail, suffix) == 0;
}

int64_t text_bytes(const char *s) {
    char *end;
    long long n = strtoll(s, &end, 10);
    if (end == s || n < 0 || n > (1LL << 40))
        return -1;
    int shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;
    end += shift != 0;
    return *end || n > (1LL << 40) >> shift ? -1 : n << shift;
}

/* After a mismatch only the last '*' need take one more character, so the time is at most the
 * product of the lengths. */
bool glob_match(const char *pattern, const char *s) {
    const char *star = NULL, *resume = NULL;
    while (*s != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            resume = s;
        } else if (*pattern == '?' || *pattern == *s) {
            pattern++;
            s++;
        } else if (star != NULL) {
            pattern = star;
            s = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours; both words within WORD_LIMIT. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][WORD_LIMIT + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    int width = (int)strlen(b);
    for (int j = 0; j <= width; j++)
        above[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        row[0] = i;
        for (int j = 1; j <= width; j++) {
            int change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[width];
}

/* "m4" of "cortex-m4" */
static bool is_last_part(const char *word, const char *of) {
    size_t length = strlen(word), whole = strlen(of);
    return length >= 2 && whole > length && strcmp(of + whole - length, word) == 0 &&
           strchr("-_./", of[whole - length - 1]);
}

/* Of those equally near the first that begins with the word: it may not have been finished. If none
 * is near, one whose last part it is. */
const char *text_nearest(const char *word, const char *const *candidates, int count) {
    size_t length = strlen(word);
    if (length > WORD_LIMIT)
        return NULL;
    const char *nearest = NULL, *part = NULL;
    int best = (int)length / 3 + 1; /* a third of the letters may be wrong, and always one */
    if (length < 2)
        best = 0;
    for (int i = 0; i < count; i++) {
        if (strlen(candidates[i]) > WORD_LIMIT)
            continue;
        int distance = edit_distance(word, candidates[i]);
        bool begins = strncmp(candidates[i], word, length) == 0;
        bool began = nearest && strncmp(nearest, word, length) == 0;
        if (distance < best || (distance == best && (!nearest || (begins && !began)))) {
            nearest = candidates[i];
            best = distance;
        }
        if (!part && is_last_part(word, candidates[i]))
            part = candidates[i];
    }
    return nearest ? nearest : part;
}
