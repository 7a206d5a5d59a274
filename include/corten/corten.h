/* Corten's host library: PyTorch archives to integer C for Cortex-M.
 *
 * Every function takes a CortenOptions, writes results to options->results and diagnostics and
 * progress to options->messages (stdout and stderr when NULL), and returns an exit code:
 * 0 done, 1 the model cannot be compiled as asked, 2 usage, 3 a file is missing, malformed or not
 * writable, 4 a tool is missing, 70 a bug in Corten. No function keeps state between calls. */
#ifndef CORTEN_H
#define CORTEN_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *model;  /* a .pt2 archive, or the folder of an earlier compile */
    const char *target; /* "cortex-m55" */
    const char *out;    /* compile: folder; run: .npy or .npz */
    const char *isa;    /* NULL: the target's own */

    const char *const *calibrate; /* .npy, .npz, folders */
    int calibrate_count;
    const char *observer;           /* minmax, percentile, mse; NULL: the default */
    const char *precision_file;     /* lines "GLOB = int8|int16|w4|float" */
    const char *const *input_scale; /* "NAME=SCALE,ZP" */
    int input_scale_count;
    double accuracy_budget_db;
    bool allow_float;

    const char *io;        /* int8, int16, float; NULL: as quantized */
    const char *io_layout; /* nchw, nhwc; NULL: as exported */
    const char *emit;      /* "c"; NULL: the same */
    const char *const *exports; /* cmake, make, arduino, zephyr, cmsis-pack: folders in `out` */
    int exports_count;
    const char *optimize;  /* speed, size; NULL: speed */
    long long ram, flash;  /* refuse above; 0: no limit */
    bool keep_inputs;
    bool bind_inputs; /* inputs lie in memory that is bound before each run */
    int threads; /* calibration; 0: as many as there are processors */

    const char *input;      /* run, verify: the data */
    const char *labels;     /* verify: a .npy, or the name of an array in `input` */
    int limit;              /* run, verify: only the first samples; 0: all */
    const char *on;         /* float, host, qemu; NULL: host (an archive: float) */
    const char *archive;    /* run, verify: where the .pt2 is now (--model) */
    bool raw;               /* run: integers instead of float32 */
    const char *mean, *std; /* images: "0.5,0.5,0.5" */

    const char *dump, *stop_after, *from; /* passes */
    bool json, quiet, verbose, colour;
    FILE *results, *messages;
} CortenOptions;

int corten_inspect(const CortenOptions *o);
int corten_compile(const CortenOptions *o);
int corten_run(const CortenOptions *o);
int corten_verify(const CortenOptions *o);
int corten_report(const CortenOptions *o);
int corten_ops(const CortenOptions *o);
int corten_targets(const CortenOptions *o);

const char *corten_version(void);

#ifdef __cplusplus
}
#endif
#endif
