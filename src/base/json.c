/* JSON roots that are released with the arena, however the work ends. */
#include "base/base.h"

#include <jansson.h>

void json_release(void *root) {
    json_decref(root);
}
