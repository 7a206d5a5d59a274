/* corten run: a compiled model on the host or the simulated chip, or the archive in float. */
#include "api/session.h"

#include <string.h>

Array ***run_each(C *c, Graph *g, const Samples *samples, Simulator *simulator) {
    Array ***outputs = NEW_ARRAY(c, Array **, samples->count + 1);
    for (int i = 0; i < samples->count; i++) {
        outputs[i] = NEW_ARRAY(c, Array *, g->output_count + 1);
        if (simulator)
            simulator_run(c, simulator, samples->sample[i], outputs[i]);
        else
            run_float(c, g, samples->sample[i], outputs[i]);
        c_progress(c, "run", (double)(i + 1) / samples->count);
        c_stop_if_asked(c);
    }
    return outputs;
}

static bool is_float_run(C *c, const CortenOptions *o, bool archive) {
    const char *on = o->on ? o->on : archive ? "float" : "host";
    bool known = !strcmp(on, "float") || !strcmp(on, "host") || !strcmp(on, "qemu");
    if (!known)
        fatal(c, DIAG_USAGE, NULL, "unknown --on \"%s\"; one of: float, host, qemu", on);
    if (archive && strcmp(on, "float") != 0)
        fatal(c, DIAG_USAGE, NULL, "an archive runs in float only: compile it to run on %s", on);
    return strcmp(on, "float") == 0;
}

void check_output_name(C *c, const CortenOptions *o) {
    if (o->output)
        return;
    if (!o->out || !*o->out)
        fatal(c, DIAG_USAGE, NULL, "no output file: give -o FILE.npy or FILE.npz");
    if (!text_ends_with(o->out, ".npy") && !text_ends_with(o->out, ".npz"))
        fatal(c, DIAG_USAGE, NULL, "-o %s: a name that ends in .npy or .npz is needed", o->out);
}

/* State goes on from sample to sample in any run; --stream makes sure that there is some. */
static void check_stream(C *c, const CortenOptions *o, const Graph *g) {
    if (o->stream && g->state_count == 0)
        fatal(c, DIAG_USAGE, NULL,
              "--stream: the model keeps no state; corten compile --state INPUT=OUTPUT makes some "
              "of what is passed in and out");
}

static void run_body(C *c, Session *s) {
    const CortenOptions *o = s->o;
    bool archive = !path_is_folder(o->model);
    bool in_float = is_float_run(c, o, archive);
    check_output_name(c, o);
    if (archive) {
        Graph *g = archive_float(c, o, o->model);
        check_stream(c, o, g);
        Samples samples = session_samples(c, s, g);
        samples = samples_real(c, &samples, g, NULL);
        outputs_write(c, s, g, &samples, run_each(c, g, &samples, NULL));
        return;
    }
    Compiled m = compiled_load(c, s, o->model);
    Graph *g = in_float ? compiled_float(c, &m) : m.planned;
    check_stream(c, o, g);
    Samples samples = session_samples(c, s, g);
    if (!in_float && o->on && strcmp(o->on, "qemu") == 0) {
        ChipRun chip = qemu_run(c, g, &s->compile, m.folder, &samples);
        outputs_write(c, s, g, &samples, chip.outputs);
        return;
    }
    if (in_float)
        samples = samples_real(c, &samples, g, m.planned);
    Simulator *simulator = in_float ? NULL : simulator_new(c, g);
    outputs_write(c, s, g, &samples, run_each(c, g, &samples, simulator));
}

int corten_run(const CortenOptions *o) {
    return session_run(o, run_body);
}
