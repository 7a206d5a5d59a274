/* Files of options, through the public entry point; the model is none, so that a compile ends with
 * exit 3 at the latest. */
#include "corten/corten.h"
#include "fuzz.h"

static inline void fuzz_compile(CortenOptions o) {
    static FILE *nowhere;
    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    o.model = "/dev/null";
    o.target = "cortex-m4";
    o.stop_after = "functionalize";
    o.results = o.messages = nowhere;
    int code = corten_compile(&o);
    if (code != DIAG_INPUT && code != DIAG_USAGE)
        abort();
}
