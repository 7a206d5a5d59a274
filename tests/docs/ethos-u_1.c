/* The hook around Arm's driver, of which this declares what the page uses. */
#include <stddef.h>
#include <stdint.h>

struct ethosu_driver *ethosu_reserve_driver(void);
void ethosu_release_driver(struct ethosu_driver *driver);
int ethosu_invoke_v3(struct ethosu_driver *driver, const void *custom_data_ptr,
                     const int custom_data_size, uint64_t *const base_addr,
                     const size_t *base_addr_size, const int num_base_addr, void *user_arg);

static volatile int npu_failed;

#include "block.c"
