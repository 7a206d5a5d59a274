/* --bundle: beside an ExecuTorch program the same with inputs and the outputs that they must give,
 * which the simulator computes from the first calibration samples. */
#include "api/session.h"
#include "emit/pte_file.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = 4 };

static PteData data_of(C *c, const Value *v, const Array *a) {
    PteData d = {.scalar = value_storage(v) == DT_F32 ? PTE_FLOAT : PTE_CHAR, .rank = v->type.rank};
    for (int k = 0; k < d.rank; k++) {
        d.size[k] = (int32_t)v->type.dim[k];
        d.order[k] = (uint8_t)v->order[k];
    }
    d.bytes = (size_t)value_bytes(v);
    void *memory = c_alloc(c, d.bytes);
    value_save(c, v, a, memory);
    d.data = memory;
    return d;
}

/* Those of one run's arrays that are tensors; returns how many. */
static int take(C *c, int count, const Arg *arg, Array *const *array, PteData *to) {
    int taken = 0;
    for (int k = 0; k < count; k++)
        if (arg[k].kind == ARG_VALUE)
            to[taken++] = data_of(c, arg[k].u.value, array[k]);
    return taken;
}

static void find_program(const FileSet *files, PteBundle *p) {
    for (int i = 0; i < files->count; i++)
        if (text_ends_with(files->file[i].name, ".pte")) {
            p->program = files->file[i].data;
            p->program_bytes = files->file[i].bytes;
        }
}

void bundle_add(C *c, const Session *s, Graph *g, FileSet *files) {
    const Options *o = &s->compile;
    int count = o->sample_count < CASES ? o->sample_count : CASES;
    if (count == 0)
        fatal(c, DIAG_MODEL, NULL, "--bundle needs samples: give -c");
    PteBundle p = {.case_count = count};
    find_program(files, &p);
    PteData *in = NEW_ARRAY(c, PteData, count * g->input_count + 1);
    PteData *out = NEW_ARRAY(c, PteData, count * g->output_count + 1);
    Array **result = NEW_ARRAY(c, Array *, g->output_count + 1);
    Simulator *simulator = simulator_new(c, g);
    for (int i = 0; i < count; i++) {
        simulator_run(c, simulator, o->sample[i], result);
        p.input_count = take(c, g->input_count, g->input, o->sample[i], in + i * p.input_count);
        p.output_count = take(c, g->output_count, g->output, result, out + i * p.output_count);
    }
    p.input = in;
    p.output = out;
    size_t bytes = 0;
    void *data = pte_bundle(&p, &bytes);
    if (!data)
        fatal(c, DIAG_MODEL, NULL, "out of memory for the bundled program");
    fileset_add(c, files, c_format(c, "%s.bpte", g->name), data, bytes);
    free(data);
}
