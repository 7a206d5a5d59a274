/* The MVE intrinsics: the compiler's on the chip, plain C on the host. */
#ifdef CTN_EMULATE
#include "emul/mve.h"
#else
#include <arm_mve.h>
#endif
