/* A compiled model on a board at a serial line: the host's side of boards/serial/serial.h. What
 * comes back is checked before it is used: frames by their checksum, the model by its sizes and the
 * digest of its source. */
#include "run/run.h"
#include "run/serial_line.h"

#include <stdlib.h>
#include <string.h>

enum { PROTOCOL = 1, TRIES = 3, HELLO_BYTES = 16 + 64 };

typedef struct {
    C *c;
    Line line;
    const char *port;
} Board;

static _Noreturn void board_failed(const Board *b, const char *what) {
    fatal(b->c, DIAG_TOOL, &(Loc){.file = b->port}, "%s", what);
}

/* The payload of the answer; damaged frames are asked for again. */
static const uint8_t *ask(Board *b, char type, const void *data, size_t bytes, char wanted,
                          size_t wanted_bytes) {
    for (int i = 0; i < TRIES; i++) {
        Frame answer;
        if (!line_send(&b->line, type, data, bytes))
            board_failed(b, "the line cannot be written");
        if (!line_receive(b->c, &b->line, &answer))
            continue;
        if (answer.type == wanted && answer.bytes == wanted_bytes)
            return answer.data;
        if (answer.type == wanted)
            board_failed(b, c_format(b->c,
                                     "the board has another model: it answers with %zu bytes, "
                                     "needed are %zu",
                                     answer.bytes, wanted_bytes));
    }
    board_failed(b, "no answer; does the board run a firmware with boards/serial/serial.c in it?");
}

static uint32_t word_at(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool crosses(const Arg *arg) {
    return arg->kind == ARG_VALUE && arg->u.value->buffer;
}

static size_t boundary_bytes(int count, const Arg *arg) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += crosses(&arg[i]) ? (size_t)value_bytes(arg[i].u.value) : 0;
    return bytes;
}

static void check_model(Board *b, const Graph *g) {
    const uint8_t *hello = ask(b, 'h', NULL, 0, 'H', HELLO_BYTES);
    C *c = b->c;
    uint32_t inputs = word_at(hello + 4), outputs = word_at(hello + 8);
    if (word_at(hello) != PROTOCOL)
        board_failed(b, "the board speaks another version of the protocol");
    if (inputs != boundary_bytes(g->input_count, g->input) ||
        outputs != boundary_bytes(g->output_count, g->output) ||
        word_at(hello + 12) != g->arena_bytes ||
        (g->source_sha256 && strncmp((const char *)hello + 16, g->source_sha256, 64) != 0))
        board_failed(b,
                     c_format(c,
                              "the board has another model: inputs of %u bytes, outputs of %u, an "
                              "arena of %u, source %.64s",
                              inputs, outputs, word_at(hello + 12), (const char *)hello + 16));
}

static void run_sample(Board *b, Graph *g, Array *const *inputs, Array **outputs, ChipRun *run) {
    C *c = b->c;
    size_t bytes = boundary_bytes(g->input_count, g->input), at = 0;
    uint8_t *sent = c_alloc(c, bytes + 1);
    for (int i = 0; i < g->input_count; i++)
        if (crosses(&g->input[i])) {
            value_save(c, g->input[i].u.value, inputs[i], sent + at);
            at += (size_t)value_bytes(g->input[i].u.value);
        }
    const uint8_t *got =
        ask(b, 'r', sent, bytes, 'R', 4 + boundary_bytes(g->output_count, g->output));
    run->cycles = word_at(got);
    got += 4;
    for (int k = 0; k < g->output_count; k++)
        if (crosses(&g->output[k])) {
            outputs[k] = value_load(c, g->output[k].u.value, got);
            got += value_bytes(g->output[k].u.value);
        }
}

ChipRun board_run(C *c, Graph *g, const char *port, int baud, const Samples *samples) {
    Board b = {.c = c, .port = port};
    ChipRun run = {.call_instructions = NEW_ARRAY(c, uint64_t, g->call_count + 1)};
    line_open(c, &b.line, port, baud);
    check_model(&b, g);
    run.outputs = NEW_ARRAY(c, Array **, samples->count + 1);
    for (int s = 0; s < samples->count; s++) {
        run.outputs[s] = NEW_ARRAY(c, Array *, g->output_count + 1);
        run_sample(&b, g, samples->sample[s], run.outputs[s], &run);
        c_progress(c, "board", (double)(s + 1) / samples->count);
    }
    line_close(&b.line);
    return run;
}
