/* Corten's host library: PyTorch archives to integer C for Cortex-M.
 *
 * Every function takes a CortenOptions, writes results to options->results and diagnostics and
 * progress to options->messages (stdout and stderr when NULL), or calls those who want them, and
 * returns an exit code: 0 done, 1 the model cannot be compiled as asked, 2 usage, 3 a file is
 * missing, malformed or not writable, 4 a tool is missing, 70 a bug in Corten, 130 stopped by
 * options->progress. No function keeps state between calls but what a CortenModel holds; any number
 * of threads may call at once, each with a CortenModel of its own. Callbacks come on the calling
 * thread; what they are given lives until they return. */
#ifndef CORTEN_H
#define CORTEN_H

#include "corten/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Grows with every function or member added. Members are only added, at the end of their group,
 * and zero means what was so before. */
#define CORTEN_API_VERSION 6

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {       /* row-major, without gaps */
    const char *name;  /* of the input or output; NULL: inputs go by their position */
    const char *dtype; /* "float32", "int8" ... as PyTorch names it */
    int rank;          /* at most 8 */
    const int64_t *dim;
    const void *data;
} CortenArray;

typedef struct { /* arrays that belong together, as a .npz holds them */
    int count;
    const CortenArray *array;
} CortenArrays;

typedef struct {         /* texts and numbers that are not known are NULL and 0 */
    int code;            /* the exit code that this leads to; 0: a warning */
    const char *message; /* one line */
    const char *detail;  /* further lines */
    const char *file;    /* the user's Python file, or a file that was read */
    int line;
    const char *source; /* that line's text */
    const char *node, *module, *output;
    const char *member; /* of the archive, and where in it */
    int64_t byte;
} CortenDiagnostic;

typedef struct {
    const char *model;  /* a .pt2 archive, or the folder of an earlier compile */
    const char *target; /* "cortex-m55", "ethos-u55-128", "cortex-m7+ethos-u55-128" */
    const char *out;    /* compile: folder; run: .npy or .npz */
    const char *isa;    /* NULL: the target's own */

    const char *const *calibrate; /* .npy, .npz, folders */
    int calibrate_count;
    const char *observer;           /* minmax, percentile, mse; NULL: the default */
    const char *precision_file;     /* lines "GLOB = int8|int16|w4|float" */
    const char *const *input_scale; /* "NAME=SCALE,ZP", "NAME=pixels" */
    int input_scale_count;
    double accuracy_budget_db;
    bool allow_float;

    const char *io;             /* int8, int16, float, uint8; NULL: as quantized */
    const char *io_layout;      /* nchw, nhwc; NULL: as exported */
    const char *emit;           /* c, tosa, pte; NULL: c */
    const char *const *exports; /* cmake, make, arduino, zephyr, cmsis-pack: folders in `out` */
    int exports_count;
    const char *optimize; /* speed, size; NULL: speed */
    long long ram, flash; /* refuse above; 0: no limit */
    bool keep_inputs;
    bool bind_inputs; /* inputs lie in memory that is bound before each run */
    int threads;      /* calibration; 0: as many as there are processors */

    const char *input;      /* run, verify: the data */
    const char *labels;     /* verify: a .npy, or the name of an array in `input` */
    int limit;              /* run, verify: only the first samples; 0: all */
    const char *on;         /* float, host, qemu; NULL: host (an archive: float) */
    const char *port;       /* verify on a board: its serial line */
    int baud;               /* of it; 0: 115200 */
    const char *archive;    /* run, verify: where the .pt2 is now (--model) */
    bool raw;               /* run: integers instead of float32 */
    const char *mean, *std; /* images: "0.5,0.5,0.5" */

    const char *dump, *stop_after, *from; /* passes */
    const char *const *state;             /* "INPUT=OUTPUT": kept by the model from run to run */
    int state_count;
    bool stream; /* run: the samples are one sequence; refused for a model without state */
    bool json, quiet, verbose, colour;
    FILE *results, *messages;

    /* An archive in memory: `model` (of run and verify: `archive`) is then only its name, and
     * compile puts it into `out` beside the model. */
    const void *archive_data;
    size_t archive_bytes;
    const CortenArrays *calibrate_data; /* besides `calibrate` */
    int calibrate_data_count;
    const char *precision_text;     /* the lines themselves, instead of `precision_file` */
    const CortenArrays *input_data; /* instead of `input` */
    int input_data_count;
    const CortenArray *labels_data; /* instead of `labels` */
    const char *share;              /* the folder of runtime/ and boards/; NULL: as installed */

    const char *memory_file;   /* --memory: JSON of the chip's memories */
    const char *memory_text;   /* the same, instead of the file */
    const char *const *limits; /* "MEMORY=BYTES": of one memory, what ram and flash are of all */
    int limits_count;
    const char *arena; /* the program's array that is the arena; NULL: the model's own */
    bool bind_outputs; /* outputs lie in memory that is bound before each run */
    bool bundle;       /* with emit pte: also a program with inputs and expected outputs */
    const char *vela;  /* Arm's compiler for an Ethos-U; NULL: "vela" in PATH */
    const char *const *vela_arguments; /* what it gets besides Corten's own */
    int vela_arguments_count;
    const char *name; /* compile: what the C calls the model; NULL: after the archive's file */

    void *user;                                                      /* what the callbacks get */
    void (*result)(void *user, const char *text, size_t bytes);      /* not to results */
    void (*diagnostic)(void *user, const CortenDiagnostic *d);       /* not to messages */
    bool (*progress)(void *user, const char *what, double fraction); /* false: stop */
    void (*output)(void *user, const CortenArray *array);            /* run: instead of `out` */
} CortenOptions;

int corten_inspect(const CortenOptions *o);
int corten_compile(const CortenOptions *o);
int corten_run(const CortenOptions *o);
int corten_verify(const CortenOptions *o);
int corten_sensitivity(const CortenOptions *o); /* what each node's rounding costs */
int corten_report(const CortenOptions *o);
int corten_ops(const CortenOptions *o);
int corten_targets(const CortenOptions *o);
int corten_passes(const CortenOptions *o); /* lists them */
int corten_doctor(const CortenOptions *o); /* tells which tools are there */

/* The model that an earlier compile left in the folder o->model, held to be run again and again by
 * the bit-exact simulator: its state goes on from run to run until it is reset. */
typedef struct CortenModel CortenModel;
int corten_model_load(const CortenOptions *o, CortenModel **model); /* not 0: *model is NULL */
int corten_model_run(CortenModel *model, const CortenOptions *o);   /* input..., out or output */
void corten_model_reset(CortenModel *model);
void corten_model_free(CortenModel *model);

const char *corten_version(void); /* "1.2.3" */
int corten_api_version(void);     /* the CORTEN_API_VERSION that the library was built with */

#ifdef __cplusplus
}
#endif
#endif
