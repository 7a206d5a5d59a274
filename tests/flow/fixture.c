#include "flow/fixture.h"

#include <math.h>
#include <string.h>

Array *fixture_array(C *c, const ArrayList *list, const char *prefix, int index) {
    const char *name = c_format(c, "%s%d", prefix, index);
    for (int i = 0; i < list->count; i++)
        if (text_equal(list->item[i].name, name))
            return list->item[i].array;
    return NULL;
}

bool fixture_is_finite(const Array *a) {
    for (int64_t i = 0; i < array_count(a); i++)
        if (!isfinite(array_get(a, i)))
            return false;
    return true;
}

void fixture_stop_if_passed_over(C *c) {
    for (const Diag *d = c->first_diag; d; d = d->next)
        if (d->warning && strstr(d->message, " passes over ")) {
            diag_error(c, DIAG_MODEL, NULL, "%s", d->message);
            break;
        }
    diag_stop_if_errors(c);
}
