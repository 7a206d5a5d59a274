/* What the public entry points share: one compilation from options to exit code, and a model that
 * an earlier compile left in a folder. */
#ifndef CORTEN_SESSION_H
#define CORTEN_SESSION_H

#include "corten/corten.h"
#include "emit/emit.h"
#include "import/import.h"
#include "passes/passes.h"
#include "report/report.h"
#include "run/run.h"

typedef struct {
    const CortenOptions *o;
    FILE *results, *messages;
    double start;    /* seconds of the monotonic clock */
    Options compile; /* o, checked and parsed */
    ImageScaling scaling;
    CortenModel *model; /* of the functions that take one */
} Session;

/* Runs body in a fresh C, tells what was recorded, and returns the exit code. */
int session_run(const CortenOptions *o, void (*body)(C *c, Session *s));
/* The same in a C of the caller's, for a model. */
int session_run_in(C *c, const CortenOptions *o, CortenModel *model,
                   void (*body)(C *c, Session *s));

/* --mean, --std and the inputs that are pixels; wrong ones are recorded. */
ImageScaling scaling_of(C *c, const CortenOptions *o);
/* Puts the normalization of inputs that are pixels into an imported graph. */
void pixels_normalize(C *c, Graph *g, const CortenOptions *o);

/* CPU, ISA, observer, io ... from text; all wrong ones are reported (exit 2). */
void session_options(C *c, Session *s);
/* --memory, --arena and the limits of single memories (memory_file.c); for session_options. */
void memory_options(C *c, Session *s);
/* Arrays of the program's that are arenas must not be named as something of the model's. */
void memory_symbols_check(C *c, const Session *s, const char *model);
/* What messages call the file or text of precision rules. */
const char *precision_name(const CortenOptions *o);

/* Fatal unless `path` is the folder of a compiled model. */
void session_need_folder(C *c, const char *path);

/* DIR of an earlier compile: its quantized graph, lowered again for the same CPU and options, and
 * the archive it was made from. */
typedef struct {
    const char *folder;
    const char *report; /* report.json's text */
    Graph *planned;
    const char *archive; /* path; --model overrides */
    const char *archive_sha256;
    const CortenOptions *o; /* as it was compiled, with what is asked for now */
} Compiled;

/* The options of that compile, and where its archive is; for a model that is made anew. */
void compiled_options(C *c, Session *s, const char *folder);
Compiled compiled_load(C *c, Session *s, const char *folder);
/* What a command found becomes a part of the folder's report.html, where that can be written. */
void compiled_page_add(C *c, const char *folder, const char *part, const char *found);
/* How a later run of m takes images. */
void compiled_scaling(C *c, Session *s, const Compiled *m);
/* The archive of a compiled model, functional and in float; fatal when it is gone or changed. */
Graph *compiled_float(C *c, const Compiled *m);
/* o->model or the archive in memory: as exported, and at the stage where it can be run in float. */
Graph *archive_import(C *c, const CortenOptions *o, const char *path);
Graph *archive_float(C *c, const CortenOptions *o, const char *path);

/* A lowered graph that has no plan yet beside the float reference, on the calibration samples; NULL
 * if it is too large. What it shows, noted in the graph for the report. */
Comparison *measure(C *c, const Session *s, Graph *lowered, Graph *reference);
void measure_note(C *c, Graph *lowered, const Comparison *k);

/* The model of o->model or in memory, calibrated, and as the options let it be quantized. */
Graph *session_calibrated(C *c, Session *s, Graph **quantized);
/* The archive through all passes, on the samples that the options hold: nothing is measured. */
Graph *session_planned(C *c, Session *s);

/* What a model will need on a CPU, before there is any data (estimate.c). */
typedef struct {
    const char *numeric, *why;
} EstimatedNode;

typedef struct {
    const char *why_not; /* it could not be had */
    Totals bytes;
    int64_t macs;
    double instructions; /* of the calls whose cost is known */
    int unknown_calls;   /* the others */
    bool has_code;       /* code and stack among the bytes are known */
    int calls, float_nodes, node_count;
    EstimatedNode *node; /* by archive node */
} Estimate;

Estimate estimate_needs(C *c, const Session *s);

/* Adds <name>.bpte, of the program among the files and the simulator's outputs. */
void bundle_add(C *c, const Session *s, Graph *g, FileSet *files);

/* Adds to the options what --accuracy-budget raises to 16 bits, so that the passes can go on; fatal
 * when it cannot be met. */
void budget_meet(C *c, Session *s, const Graph *calibrated, const Graph *reference);

/* The arrays of a caller's, which live on; wrong ones are reported. */
ArrayList *arrays_take(C *c, const char *what, int count, const CortenArrays *given);
/* --input or arrays for the graph's inputs, at most --limit samples of it. */
Samples session_samples(C *c, const Session *s, const Graph *g);
Array *session_labels(C *c, const Session *s);
/* One after the other; no simulator: in float. */
Array ***run_each(C *c, Graph *g, const Samples *samples, Simulator *simulator);
void check_output_name(C *c, const CortenOptions *o);
/* outputs[sample][k] as arrays for a file or its callback: see design section 9 (Arrays). */
void outputs_write(C *c, const Session *s, const Graph *g, const Samples *samples,
                   Array ***outputs);

#endif
