/* A graph as text; what is taken must print and read back as the same text. */
#include "fuzz.h"
#include "graph/graph.h"

static void body(C *c, void *user) {
    const Input *input = user;
    const ArrayList none = {0};
    Graph *g =
        graph_parse(c, "fuzz.txt", c_strndup(c, (const char *)input->data, input->size), &none);
    diag_stop_if_errors(c);
    graph_print(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_try(data, size, body);
    return 0;
}
