/* The driver hook of models with parts for an Ethos-U. A model calls it where such a part has its
 * turn; what it does is yours, since the NPU, its interrupt and its clock are. */
#ifndef CTN_NPU_HOOK_H
#define CTN_NPU_HOOK_H

#include "ctn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Regions that a command stream addresses: weights (only read), scratch (activations, where inputs
 * lie already and outputs will), and fast scratch, of size 0 unless Vela was asked for it. */
enum { CTN_NPU_WEIGHTS, CTN_NPU_SCRATCH, CTN_NPU_FAST, CTN_NPU_REGIONS };

typedef struct {
    const void *commands; /* as Vela wrote them, with the header that Arm's driver reads */
    int32_t command_bytes;
    uint64_t base[CTN_NPU_REGIONS]; /* addresses; each 16-byte aligned */
    size_t size[CTN_NPU_REGIONS];
    const CtnFrame *frame; /* of the instance that runs */
} CtnNpuJob;

/* Yours: returns when the NPU is done. It cleans and invalidates caches that the NPU does not see,
 * and decides what a failure means: the outputs are then not to be used. With Arm's driver
 * (ethos-u-core-driver) it is
 *     ethosu_invoke_v3(driver, job->commands, job->command_bytes, job->base, job->size,
 *                      CTN_NPU_REGIONS, NULL)
 * between ethosu_reserve_driver() and ethosu_release_driver(). job->base may be changed: an NPU
 * that sees memory at other addresses than the CPU needs its own. */
void ctn_npu_run(CtnNpuJob *job);

#ifdef __cplusplus
}
#endif
#endif
