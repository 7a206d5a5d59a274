/* A part of the model that an Ethos-U runs: its memory, handed to the driver hook. */
#include "npu_hook.h"

static void give(CtnNpuJob *job, int region, const CtnFrame *frame, CtnRef ref, int32_t bytes) {
    job->base[region] = (uint64_t)(uintptr_t)ctn_at(frame, ref);
    job->size[region] = (size_t)bytes;
}

void ctn_npu(const CtnNpuArgs *a, const CtnFrame *frame) {
    CtnNpuJob job = {.frame = frame};
    job.commands = ctn_at(frame, a->commands);
    job.command_bytes = a->command_bytes;
    give(&job, CTN_NPU_WEIGHTS, frame, a->weights, a->weight_bytes);
    give(&job, CTN_NPU_SCRATCH, frame, a->scratch, a->scratch_bytes);
    give(&job, CTN_NPU_FAST, frame, a->fast, a->fast_bytes);
    ctn_npu_run(&job);
}
