/* A whole archive of torch.export. */
#include "fuzz.h"
#include "import/import.h"
#include "passes/passes.h"

static void body(C *c, void *user) {
    const Input *input = user;
    Graph *g = import_pt2_bytes(c, "fuzz.pt2", input->data, input->size);
    const Options options = {0};
    PipelineControl control = {.stop_after = "decompose"};
    pipeline_run(c, g, &options, &control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_try(data, size, body);
    return 0;
}
