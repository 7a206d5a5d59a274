/* What a planned graph becomes: C source. */
#ifndef CORTEN_EMIT_H
#define CORTEN_EMIT_H

#include "graph/graph.h"
#include "lower/lower.h"

typedef struct { /* files held in memory until everything has succeeded */
    int count, capacity;
    struct {
        const char *name;
        const void *data;
        size_t bytes;
    } * file;
} FileSet;

void fileset_add(C *c, FileSet *set, const char *name, const void *data, size_t bytes);
/* Writes all aside and renames. Replaces only files that `owned` names; a foreign file with a
 * needed name is DIAG_INPUT and nothing is written. */
void fileset_write(C *c, const FileSet *set, const char *folder, int owned_count,
                   const char *const *owned);

/* <name>.h, <name>.c, with sections <name>.ld, and runtime/ with exactly the sources that the calls
 * use. */
void emit_c(C *c, Graph *g, const Options *o, FileSet *out);
/* For each kind asked for, a folder <kind>/ with the emitted C and what a build system needs. */
typedef struct {
    const char *name, *purpose;
    const char *model, *runtime; /* where the files are in it: "src/" */
} ExportKind;
extern const ExportKind export_table[];
extern const int export_table_count;
void export_files(C *c, const Graph *g, const Options *o, FileSet *out);

/* <name>.tosa: a TOSA 1.0 program whose numbers are those of the simulator. What has no form there,
 * or is more than the NPU takes, is reported node by node. */
void emit_tosa(C *c, Graph *g, const Options *o, FileSet *out);
/* Why n, whose values have their order, cannot stand in a program for the NPU; NULL: it can. */
const char *tosa_refusal(C *c, Graph *g, Node *n, const Npu *npu);
/* The nodes from first to last, which all can, as a program of these inputs and outputs. */
const void *tosa_part(C *c, Graph *g, const Npu *npu, Node *first, const Node *last, int in_count,
                      Value *const *in, int out_count, Value *const *out, size_t *bytes);
/* <name>.pte: a program for ExecuTorch's runtime, of its Cortex-M dialect; likewise. */
void emit_pte(C *c, Graph *g, const Options *o, FileSet *out);
/* Where runtime/, boards/ and exports/ are: CORTEN_SHARE, beside the executable, or the source
 * tree. */
const char *share_folder(C *c);

#endif
