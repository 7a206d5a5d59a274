/* A compiled model held in memory: the graph and the simulator live in the model's C, what one run
 * needs in a C of that run. So any number of runs takes no more memory than one. */
#include "api/session.h"

#include <stdlib.h>

struct CortenModel {
    C *c;
    Compiled compiled;
    Simulator *simulator;
};

static void load_body(C *c, Session *s) {
    CortenModel *m = s->model;
    m->compiled = compiled_load(c, s, s->o->model);
    m->simulator = simulator_new(c, m->compiled.planned);
}

int corten_model_load(const CortenOptions *o, CortenModel **model) {
    *model = NULL;
    CortenModel *m = calloc(1, sizeof *m);
    if (!m)
        return DIAG_MODEL;
    m->c = c_new();
    int code = session_run_in(m->c, o, m, load_body);
    if (code)
        corten_model_free(m);
    else
        *model = m;
    return code;
}

static void run_body(C *c, Session *s) {
    const CortenModel *m = s->model;
    Graph *g = m->compiled.planned;
    check_output_name(c, s->o);
    compiled_scaling(c, s, &m->compiled);
    Samples samples = session_samples(c, s, g);
    outputs_write(c, s, g, &samples, run_each(c, g, &samples, m->simulator));
}

int corten_model_run(CortenModel *model, const CortenOptions *o) {
    C *c = c_new();
    int code = session_run_in(c, o, model, run_body);
    c_free(c);
    return code;
}

void corten_model_reset(CortenModel *model) {
    simulator_reset(model->simulator);
}

void corten_model_free(CortenModel *model) {
    if (!model)
        return;
    c_free(model->c);
    free(model);
}
