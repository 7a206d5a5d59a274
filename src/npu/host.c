/* The driver hook of the host, where there is no NPU. The simulator runs models as lowered for the
 * CPU alone, so that none of its calls ever gets here. */
#include "npu_hook.h"

#include <stdlib.h>

void ctn_npu_run(CtnNpuJob *job) {
    (void)job;
    abort();
}
