/* The pipeline: one table of passes and the loop that runs, times and verifies them. A pass may
 * rely on the stage its row names and must leave the graph in the stage its row promises; nothing
 * else orders passes. */
#include "passes/passes.h"

#include <string.h>
#include <time.h>

const char *const timer_names[] = {"import",  "calibrate", "quantize", "lower", "vela",
                                   "measure", "plan",      "emit",     NULL};

const Pass pass_table[] = {
    {"functionalize", "in-place writes and views become values", STAGE_IMPORTED, STAGE_FUNCTIONAL,
     "import", pass_functionalize},
    {"absorb", "quantize/dequantize pairs become pinned grids", STAGE_FUNCTIONAL, STAGE_FUNCTIONAL,
     "import", pass_absorb},
    {"fold", "constants, identities, batch norms and pads fold into their neighbours",
     STAGE_FUNCTIONAL, STAGE_FUNCTIONAL, "import", pass_fold},
    {"decompose", "composite operators become core operators", STAGE_FUNCTIONAL, STAGE_CORE,
     "import", pass_decompose},
    {"refold", "folds what decompose has uncovered", STAGE_CORE, STAGE_CORE, "import", pass_fold},
    {"masks", "what hides scores from a softmax becomes its mask", STAGE_CORE, STAGE_CORE, "import",
     pass_masks},
    {"fills", "what is filled in far away goes behind its readers", STAGE_CORE, STAGE_CORE,
     "import", pass_fills},
    {"equalize", "channels that share a grid become alike in size", STAGE_CORE, STAGE_CORE,
     "calibrate", pass_equalize},
    {"apart", "channels that are read apart become alike in size", STAGE_CORE, STAGE_CORE,
     "calibrate", pass_apart},
    {"calibrate", "runs the samples in float and observes every value", STAGE_CORE, STAGE_CORE,
     "calibrate", pass_calibrate},
    {"seen_masks", "so does what calibration has shown to hide scores", STAGE_CORE, STAGE_CORE,
     "calibrate", pass_seen_masks},
    {"precision", "decides how many bits each node gets", STAGE_CORE, STAGE_CORE, "quantize",
     pass_precision},
    {"tables", "pointwise regions of one varying input become one table each", STAGE_CORE,
     STAGE_CORE, "quantize", pass_tables},
    {"fuse", "clamps and tables move into the store of their producer", STAGE_CORE, STAGE_CORE,
     "quantize", pass_fuse},
    {"quantize", "every float value gets its grid, every constant its integers", STAGE_CORE,
     STAGE_QUANTIZED, "quantize", pass_quantize},
    {"layout", "every value gets its physical order of dimensions", STAGE_QUANTIZED,
     STAGE_QUANTIZED, "lower", pass_layout},
    {"partition", "nodes that an NPU takes are put together", STAGE_QUANTIZED, STAGE_QUANTIZED,
     "lower", pass_partition},
    {"vela", "what is together becomes a program for the NPU", STAGE_QUANTIZED, STAGE_QUANTIZED,
     "vela", pass_vela},
    {"lower", "nodes become kernel calls of the chosen ISA", STAGE_QUANTIZED, STAGE_LOWERED,
     "lower", pass_lower},
    {"plan", "buffers get their places in memory", STAGE_LOWERED, STAGE_PLANNED, "plan", pass_plan},
};
const int pass_table_count = COUNT_OF(pass_table);

static int pass_find(C *c, const char *name) {
    const char *names[COUNT_OF(pass_table)];
    for (int i = 0; i < pass_table_count; i++) {
        if (strcmp(pass_table[i].name, name) == 0)
            return i;
        names[i] = pass_table[i].name;
    }
    const char *nearest = text_nearest(name, names, pass_table_count);
    fatal(c, DIAG_USAGE, NULL, "there is no pass '%s'%s%s%s", name,
          nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static int timer_index(const char *name) {
    for (int i = 0; timer_names[i]; i++)
        if (strcmp(timer_names[i], name) == 0)
            return i;
    return 0;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pipeline_run(C *c, Graph *g, const Options *options, PipelineControl *control) {
    int first = control->from ? pass_find(c, control->from) : 0;
    int last = control->stop_after ? pass_find(c, control->stop_after) : pass_table_count - 1;
    int dump = control->dump ? pass_find(c, control->dump) : -1;
    if (first > last)
        fatal(c, DIAG_USAGE, NULL, "pass '%s' comes before '%s': nothing to run",
              pass_table[last].name, pass_table[first].name);
    for (int i = first; i <= last; i++) {
        const Pass *pass = &pass_table[i];
        if (g->stage != pass->from)
            fatal(c, DIAG_USAGE, NULL,
                  "pass '%s' cannot start from a graph of this stage: give --from PASS, the one "
                  "behind the dumped pass",
                  pass->name);
        double start = now();
        c_progress(c, pass->name, (double)i / pass_table_count);
        pass->run(c, g, options);
        diag_stop_if_errors(c);
        c_stop_if_asked(c);
        if (g->float_wanted_count > 0)
            return;
        g->stage = pass->to;
        graph_index(g);
        graph_verify(g, pass->name);
        control->seconds[timer_index(pass->timer)] += now() - start;
        if (i == dump)
            control->dumped = graph_print_whole(g);
    }
}
