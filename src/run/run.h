/* Running a model: in float from the archive, bit-exactly on the host, and on a simulated chip. */
#ifndef CORTEN_RUN_H
#define CORTEN_RUN_H

#include "graph/graph.h"
#include "lower/lower.h"

/* Samples as design section 9 says: X is a .npy, .npz or a folder. sample[s][k] is user input k of
 * the s-th sample with exactly the input's shape and dtype; where --state has made a state of the
 * input, what it holds before that sample, or NULL. Fatal with every mismatch listed. */
typedef struct {
    int count;
    Array ***sample;
    bool single;   /* X was one sample without a sample axis: outputs have none either */
    Array *labels; /* found as `label` in an archive, or NULL */
} Samples;

typedef struct {
    double mean[4], std[4]; /* 0 and 1 where not given; a single number is that of all channels */
    int channels;           /* as many as were given; 0: none */
    int pixels_count;
    const char **pixels; /* inputs that are bytes / 255 in the graph, which normalizes them */
} ImageScaling;

bool scaling_is_pixels(const ImageScaling *s, const char *input);

Samples samples_read(C *c, const Graph *g, const char *path, const ImageScaling *scaling);
Samples samples_read_many(C *c, const Graph *g, int path_count, const char *const *paths,
                          const ImageScaling *scaling);
/* The same of arrays in memory, each list as if it were a .npz; `what` is what messages call them.
 */
Samples samples_take(C *c, const Graph *g, const char *what, int count, const ArrayList *list,
                     const ImageScaling *scaling);
Samples samples_join(C *c, const Samples *a, const Samples *b);
/* The same numbers as float reads them: integers of the type in which they cross the boundary of
 * `planned` (NULL: of no compiled model) are what they stand for there. */
Samples samples_real(C *c, const Samples *samples, const Graph *g, const Graph *planned);
/* Labels by file, or by the name of an array in `path`. NULL if there are none. */
Array *labels_read(C *c, const char *path, const char *labels);

/* outputs[k] of one sample; graph of any stage before LOWERED, in float. */
void run_float(C *c, Graph *g, Array *const *inputs, Array **outputs);
/* The same; seen is called with every node output as soon as it is computed. */
void run_float_watched(C *c, Graph *g, Array *const *inputs, Array **outputs,
                       void (*seen)(void *user, const Value *v, const Array *a), void *user);

/* A planned graph bound to host memory: the arena, state and weights, exactly as on the chip. */
typedef struct Simulator Simulator;
Simulator *simulator_new(C *c, Graph *g);
/* Of a graph that is lowered and not planned: every buffer has a place of its own, and
 * simulator_value works for all values that a call writes. NULL if that is beyond 256 MB. */
Simulator *simulator_spread(C *c, Graph *g);
void simulator_free(Simulator *s);
void simulator_reset(Simulator *s); /* state to its initial values */
/* The k-th state of the graph, in float. */
void simulator_set_state(C *c, Simulator *s, int k, const Array *a);
/* Inputs as float or already in the boundary's dtype; outputs in the boundary's dtype. */
void simulator_run(C *c, Simulator *s, Array *const *inputs, Array **outputs);
/* The value's current bytes in logical order as numbers of its storage dtype; valid only when run
 * with simulator_keep (each call's outputs copied as it ends), or of a spread simulator until the
 * next value is asked for. */
void simulator_keep(Simulator *s, bool keep);
const Array *simulator_value(C *c, Simulator *s, const Value *v);

/* A value's bytes as they lie in memory (physical order, storage dtype), from and to logical order.
 * Saving converts: floats are quantized on the value's grid. */
void value_save(C *c, const Value *v, const Array *a, void *memory);
Array *value_load(C *c, const Value *v, const void *memory);

/* Builds DIR's model for its CPU, runs all samples on QEMU, reads outputs back, bit for bit.
 * instructions[k]: of call k, counted with -icount; total per inference. */
typedef struct {
    Array ***outputs; /* [sample][output] in the boundary's dtype */
    uint64_t total_instructions;
    uint64_t *call_instructions;
    bool *shared;         /* by call: its part of what was counted for a strip as a whole */
    uint32_t stack_bytes; /* high-water mark */
    int64_t image_flash_bytes, image_ram_bytes;
    uint32_t cycles; /* of the last inference, as a board has measured it; 0: not */
} ChipRun;
/* All samples on a board at a serial line; exit code 4 when it does not answer or has another
 * model. */
ChipRun board_run(C *c, Graph *g, const char *port, int baud, const Samples *samples);
ChipRun qemu_run(C *c, Graph *g, const Options *o, const char *folder, const Samples *samples);

/* Numbers of a value, and the part of its noise that they make. */
typedef struct {
    int64_t count;
    double noise;
} NoisePart;

/* Signal and noise of one value against float, summed over samples. */
typedef struct {
    double signal;
    double sum, numbers; /* of the finite float numbers */
    NoisePart all;       /* count: of integers */
    NoisePart clipped;   /* those whose float number is beyond the grid */
    NoisePart unseen;    /* of these, those that calibration has not seen either */
    int64_t left_out;    /* numbers that are not finite in float: there is no distance from them */
    const double *seen;  /* the least and the largest number that it saw; NULL: not known */
} Noise;

double noise_db(const Noise *n); /* +INFINITY if equal, -INFINITY if all of float is 0 */
/* Of what varies: without the power of the mean, of which nobody learns anything. NAN: all numbers
 * are equal. */
double noise_varying_db(const Noise *n);
/* Of all numbers, and of all noise: 0..1. */
double noise_share(const Noise *n, const NoisePart *part);
double noise_cost(const Noise *n, const NoisePart *part);

/* A lowered graph beside its float reference. Values of calls are compared if the simulator keeps
 * them. */
typedef struct Comparison Comparison;
Comparison *comparison_new(C *c, Graph *integer, Graph *reference, Simulator *simulator);
/* One sample through both; outputs of each. */
void comparison_run(C *c, Comparison *k, Array *const *stored, Array *const *real, Array **integers,
                    Array **floats);
/* They live as long as the comparison. */
Noise *comparison_input(const Comparison *k, int input);
Noise *comparison_output(const Comparison *k, int output);
Noise *comparison_call(const Comparison *k, const Call *call); /* of what it writes */

/* Boundary conversions (design section 7): torch's quantize in float32, ties to even. */
void grid_ends(const Grid *grid, double *first, double *last); /* of the stored type */
Array *quantize_array(C *c, const Array *a, const Grid *grid);
Array *dequantize_array(C *c, const Array *a, const Grid *grid);
double sqnr_db(const Array *reference, const Array *got); /* +INFINITY if equal */
const char *db_figure(C *c, double db);                   /* "33.7", "exact", "none" */
const char *db_text(C *c, double db); /* the same with its unit, if it has one */

#endif
