/* The arrays of an operator's fixture: in0, in1 ... are what torch was given, out0 ... what it
 * gave. */
#ifndef CORTEN_TESTS_FIXTURE_H
#define CORTEN_TESTS_FIXTURE_H

#include "base/base.h"

/* Array `prefix` `index`, or NULL. */
Array *fixture_array(C *c, const ArrayList *list, const char *prefix, int index);
bool fixture_is_finite(const Array *a);

#endif
