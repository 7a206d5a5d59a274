/* What each kind of output can express. */
#include "passes/passes.h"

const Profile profile_table[] = {
    {"c", .fine_tables = true, .small_wide = true, .unlike_means = true},
    {"tosa", .fine_tables = false, .small_wide = false, .short_norms = true},
    {"pte", .same_pools = true, .plain_softmax = true, .float_io = true, .row_major = true},
    {"npu", .fine_tables = false, .small_wide = false, .of_npu = true},
};
const int profile_table_count = COUNT_OF(profile_table);

const Profile *profile_of(const Options *o) {
    return o->profile ? o->profile : &profile_table[0];
}
