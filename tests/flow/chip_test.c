/* Probes on the simulated chip: `flow_chip CPU [PROBE ...]` compiles each module of tests/pains
 * (all without names) for the CPU, runs its samples on QEMU and on the host, and compares every
 * byte. Exit code 77, which ctest takes for skipped, without the tools. */
#include "flow/flow.h"

#include <string.h>

static int fault(const char *name, const char *what, const char *more) {
    fprintf(stderr, "%s: %s: %s\n", name, what, more);
    return 1;
}

static long long number(const json_t *o, const char *key) {
    return json_integer_value(json_object_get(o, key));
}

static int check_json(const char *name, const char *text) {
    json_t *root = json_loads(text, 0, NULL);
    const json_t *instructions = json_object_get(root, "instructions");
    long long sum = 0, total = number(instructions, "total"), stack = number(root, "stack_bytes");
    size_t i;
    json_t *call;
    json_array_foreach(json_object_get(instructions, "calls"), i, call) sum += number(call, "n");
    int faults = 0;
    if (!json_is_true(json_object_get(root, "bit_exact")))
        faults += fault(name, "host and chip differ", text);
    if (stack <= 0 || stack > 4096)
        faults += fault(name, "the stack's high-water mark is no plausible number", text);
    if (total <= 0 || sum <= 0 || sum > total)
        faults += fault(name, "calls and total of instructions do not fit", text);
    printf("%-40s stack %5lld bytes, %9lld instructions\n", name, stack, total);
    json_decref(root);
    return faults;
}

static int check(const char *cpu, const char *name) {
    const char *data = flow_text("pains/%s.npz", name), *out = flow_path("%s", name);
    Said said = flow_compile(flow_text("pains/%s.pt2", name), data, cpu, out);
    if (said.code != 0)
        return fault(name, "compile", said.messages);
    CortenOptions o = {.model = out, .input = data, .on = "qemu", .json = true};
    said = flow_run(corten_verify, o);
    return said.code != 0 ? fault(name, "verify", said.messages) : check_json(name, said.results);
}

/* What a person reads: instructions and the stack; QEMU knows nothing of time. */
static int check_text(const char *name) {
    CortenOptions o = {
        .model = flow_path("%s", name), .input = flow_text("pains/%s.npz", name), .on = "qemu"};
    Said said = flow_run(corten_verify, o);
    int faults = 0;
    if (!strstr(said.results, "host and chip agree bit for bit: yes"))
        faults += fault(name, "no word of agreement", said.results);
    if (!strstr(said.results, "instructions per inference: ") || !strstr(said.results, "stack "))
        faults += fault(name, "instructions or stack are not printed", said.results);
    if (strstr(said.results, " ms") || strstr(said.results, "seconds"))
        faults += fault(name, "QEMU is not exact in time, but times are printed", said.results);
    return faults;
}

int main(int argc, char **argv) {
    int faults = 0;
    flow_begin();
    if (argc < 2 || !flow_has("arm-none-eabi-gcc") || !flow_has("qemu-system-arm")) {
        printf("arm-none-eabi-gcc and qemu-system-arm are needed\n");
        return 77;
    }
    for (int i = 2; i < argc; i++)
        faults += check(argv[1], argv[i]);
    if (argc > 2)
        return faults + check_text(argv[2]) > 0;
    const char **name;
    int count = folder_list(flow_c(), "pains", &name);
    for (int i = 0; i < count; i++)
        if (text_ends_with(name[i], ".pt2") && strcmp(name[i], "dynamic_batch.pt2") != 0)
            faults += check(argv[1], path_stem(flow_c(), name[i]));
    return faults > 0;
}
