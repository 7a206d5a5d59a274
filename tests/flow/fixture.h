/* The arrays of an operator's fixture: in0, in1 ... are what torch was given, out0 ... what it
 * gave. */
#ifndef CORTEN_TESTS_FIXTURE_H
#define CORTEN_TESTS_FIXTURE_H

#include "base/base.h"

/* Array `prefix` `index`, or NULL. */
Array *fixture_array(C *c, const ArrayList *list, const char *prefix, int index);
bool fixture_is_finite(const Array *a);

/* Stops where a pattern of --precision for all nodes has passed over some: what was compiled is not
 * of the precision that is to be tested. */
void fixture_stop_if_passed_over(C *c);

#endif
