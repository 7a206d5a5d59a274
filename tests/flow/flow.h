/* What tests of the whole flow share: the library's commands run in this process with their output
 * caught, a temporary folder that goes away again, and files, arrays and reports to look at. All
 * that is returned lives as long as the program. Every test program using it starts with
 * flow_begin(). */
#ifndef CORTEN_TESTS_FLOW_H
#define CORTEN_TESTS_FLOW_H

#include "base/base.h"
#include "corten/corten.h"

#include <jansson.h>

typedef struct {
    int code; /* the exit code */
    const char *results, *messages;
} Said;

typedef int Entry(const CortenOptions *o); /* a public entry point */

/* Makes the temporary folder; it is removed when the program ends. */
void flow_begin(void);
C *flow_c(void);
const char *flow_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *flow_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

Said flow_run(Entry *command, CortenOptions o);
/* A compile of `model` with samples `data` (NULL: none) into `out`. */
Said flow_compile(const char *model, const char *data, const char *target, const char *out);
/* The same, which must succeed; returns its report. */
json_t *flow_compiled(const char *model, const char *data, const char *target, const char *out);
json_t *flow_report(const char *out);
int flow_transposes(const json_t *report); /* calls that only bring a value into another order */
/* What a command with --json has printed; NULL when it is no JSON. */
json_t *flow_json(Said said);
/* corten run; the arrays it wrote. Must succeed. */
ArrayList flow_outputs(const char *model, const char *data, const char *on);
ArrayList flow_arrays(const char *npz); /* .npz, or a .npy as a list of one */
/* A file with the first `count` samples of each array: where a test is not about the numbers. */
const char *flow_first(const char *npz, int count);
const Array *flow_array(const ArrayList *list, const char *name);
double flow_sqnr(const Array *want, const Array *got); /* of equal shapes */

/* A shell command with its two outputs together. */
Said flow_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool flow_has(const char *tool);

bool file_exists(const char *path);
const char *file_text(const char *path);
void text_write(const char *path, const char *text);
/* Both folders hold files of the same names and bytes, but for what reports say of time and of
 * where the archive was; else the first that differs. */
const char *folders_differ(const char *a, const char *b);

#define assert_code(said, wanted)                                                                  \
    do {                                                                                           \
        if ((said).code != (wanted))                                                               \
            fail_msg("exit code %d, not %d: %s", (said).code, (wanted), (said).messages);          \
    } while (0)
#define assert_says(text, part)                                                                    \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" is not in: %s", (part), (text));                                      \
    } while (0)
#define assert_silent_on(text, part)                                                               \
    do {                                                                                           \
        if (strstr((text), (part)))                                                                \
            fail_msg("\"%s\" is in: %s", (part), (text));                                          \
    } while (0)

#endif
