/* The program around a compiled model on a QEMU board. model_binding.h, written by the host, names
 * the model's functions and where its inputs and outputs lie.
 *   "run"    reads samples back to back from input.bin, writes outputs to output.bin and the
 *            stack's high-water mark to run.txt;
 *   "count"  runs the first sample call by call and writes instructions to count.txt.
 * Data is in the C boundary's types and layout. */
#include "board.h"
#include "ctn.h"
#include "model_binding.h"

typedef struct {
    uint32_t region, offset, bytes;
} Port;

static const Port inputs[] = {MODEL_INPUTS{0, 0, 0}};
static const Port outputs[] = {MODEL_OUTPUTS{0, 0, 0}};
enum { INPUT_COUNT = sizeof inputs / sizeof *inputs - 1 };
enum { OUTPUT_COUNT = sizeof outputs / sizeof *outputs - 1 };

#define MEMORY(name, bytes)                                                                        \
    __attribute__((section(".big"), aligned(16))) static uint8_t memory_##name[(bytes) + 16];
MODEL_MEMORY
MEMORY(inputs, MODEL_INPUT_BYTES)
MEMORY(outputs, MODEL_OUTPUT_BYTES)
static MODEL_TYPE model;

static void fail(const char *what) {
    console_print("harness: ");
    console_print(what);
    console_print("\n");
    program_exit(98);
}

/* "name number\n" */
static void write_result(int file, const char *name, uint64_t value) {
    char text[64];
    size_t n = 0;
    while (name[n]) {
        text[n] = name[n];
        n++;
    }
    text[n++] = ' ';
    char digit[20];
    size_t digits = 0;
    do
        digit[digits++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (digits > 0)
        text[n++] = digit[--digits];
    text[n++] = '\n';
    if (file_write(file, text, n) != 0)
        fail("cannot write results");
}

static uint8_t *port_at(const Port *port) {
    return MODEL_FRAME(model).base[port->region] + port->offset;
}

static uint32_t sample_bytes(void) {
    uint32_t bytes = 0;
    for (int i = 0; i < INPUT_COUNT; i++)
        bytes += inputs[i].bytes;
    return bytes;
}

static void read_sample(int file) {
    for (int i = 0; i < INPUT_COUNT; i++)
        if (file_read(file, port_at(&inputs[i]), inputs[i].bytes) != 0)
            fail("input.bin ends early");
}

__attribute__((noinline)) static void run_measured(void) {
    stack_paint();
    MODEL_RUN(&model);
}

static void run_all(int input, int results) {
    int output = file_open_write("output.bin");
    if (output < 0)
        fail("cannot write output.bin");
    uint32_t stack = 0;
    for (int32_t left = MODEL_SAMPLES; left > 0; left--) {
        read_sample(input);
        run_measured();
        uint32_t used = stack_used();
        stack = used > stack ? used : stack;
        for (int i = 0; i < OUTPUT_COUNT; i++)
            if (file_write(output, port_at(&outputs[i]), outputs[i].bytes) != 0)
                fail("cannot write output.bin");
    }
    file_close(output);
    write_result(results, "stack", stack);
}

static void count_first(int input, int results) {
    uint64_t total = 0;
    counter_start();
    read_sample(input);
    for (int k = 0; k < MODEL_CALL_COUNT; k++) {
        uint64_t before = counter_now();
        MODEL_CALL(&model, k);
        uint64_t after = counter_now();
        uint64_t instructions = counter_between(before, after);
        total += instructions;
        write_result(results, "call", instructions);
    }
    write_result(results, "total", total);
}

int main(void) {
    static char mode[64];
    if (command_line(mode, sizeof mode) != 0)
        fail("no command line");
    int counts = mode[0] == 'c';
    int input = file_open_read("input.bin");
    int results = file_open_write(counts ? "count.txt" : "run.txt");
    if (input < 0 || results < 0)
        fail("cannot open input.bin or the results");
    if ((uint32_t)file_length(input) != MODEL_SAMPLES * sample_bytes())
        fail("input.bin has the wrong length");
    if (MODEL_INIT(&model) != 0)
        fail("the model's memory is not aligned");
    MODEL_FRAME(model).base[CTN_INPUTS] = memory_inputs;
    MODEL_FRAME(model).base[CTN_OUTPUTS] = memory_outputs;
    if (counts)
        count_first(input, results);
    else
        run_all(input, results);
    file_close(results);
    file_close(input);
    return 0;
}
