/* The JSON of an archive, in a zip that is whole: what a checksum would keep from a fuzzer. */
#include "fuzz.h"
#include "import/import.h"
#include "passes/passes.h"

#include <zip.h>

static const struct {
    const char *name, *text;
} others[] = {
    {"m/byteorder", "little"},
    {"m/archive_format", "pt2"},
    {"m/archive_version", "0"},
    {"m/data/weights/weight_0", "0123456789abcdef0123456789abcdef"},
    {"m/data/weights/model_weights_config.json", "{\"config\": {}}"},
    {"m/data/constants/model_constants_config.json", "{\"config\": {}}"},
};

/* The archive around a model.json, in memory that libzip owns until `source` is freed. */
static zip_source_t *pack(const Input *input) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error) : NULL;
    if (!zip)
        abort();
    zip_source_keep(source);
    zip_int64_t at = zip_file_add(zip, "m/models/model.json",
                                  zip_source_buffer(zip, input->data, input->size, 0), 0);
    zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_STORE, 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        zip_file_add(zip, others[i].name,
                     zip_source_buffer(zip, others[i].text, strlen(others[i].text), 0), 0);
    if (zip_close(zip) != 0)
        abort();
    return source;
}

static void *bytes_of(zip_source_t *source, size_t *count) {
    zip_stat_t st;
    if (zip_source_open(source) != 0 || zip_source_stat(source, &st) != 0)
        abort();
    void *bytes = malloc(st.size);
    if (!bytes || zip_source_read(source, bytes, st.size) != (zip_int64_t)st.size)
        abort();
    *count = st.size;
    zip_source_close(source);
    zip_source_free(source);
    return bytes;
}

static void body(C *c, void *user) {
    const Input *input = user;
    Graph *g = import_pt2_bytes(c, "fuzz.pt2", input->data, input->size);
    const Options options = {0};
    PipelineControl control = {.stop_after = "decompose"};
    pipeline_run(c, g, &options, &control);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count;
    void *bytes = bytes_of(pack(&(Input){data, size}), &count);
    fuzz_try(bytes, count, body);
    free(bytes);
    return 0;
}
