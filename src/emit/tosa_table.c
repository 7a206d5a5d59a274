/* Functions of one number, and numbers on another grid, in TOSA. Of 8 bits a TABLE has every entry;
 * of 16 it interpolates between 513 as the kernel does, or else an entry for each number is
 * gathered. */
#include "emit/tosa.h"
#include "ops/ops.h"

#include <string.h>

enum { BYTES = 256, POSITIONS = 65536, APART_BITS = 7 };

TosaType tosa_type(const Value *v) {
    return layer_int16(v) ? TOSA_INT16 : tosa_is_index(v) ? TOSA_INT32 : TOSA_INT8;
}

int tosa_lookup(Tosa *t, int tensor, const int8_t entry[BYTES]) {
    int in[] = {tensor, tosa_const(t, TOSA_INT8, &(TosaDims){1, {BYTES}}, entry)};
    TosaDims dims = tosa_dims(t, tensor);
    return tosa_add(t, TOSA_TABLE, NULL, 2, in, TOSA_INT8, &dims);
}

int tosa_entries(Tosa *t, int tensor, int32_t bias, TosaType type, int64_t count,
                 const void *entry) {
    TosaDims dims = tosa_dims(t, tensor);
    int64_t elements = dims_count(dims.rank, dims.dim);
    int place = tosa_pair(t, TOSA_ADD, tensor, tosa_number_like(t, tensor, bias));
    int in[] = {tosa_const(t, type, &(TosaDims){3, {1, count, 1}}, entry),
                tosa_reshape(t, place, &(TosaDims){2, {1, elements}})};
    int found = tosa_add(t, TOSA_GATHER, NULL, 2, in, type, &(TosaDims){3, {1, elements, 1}});
    return tosa_reshape(t, found, &dims);
}

/* ctn_interpolate_s16: a TABLE leaves the fraction for a RESCALE to round. */
static int interpolated(Tosa *t, int tensor, const int16_t entry[WIDE_ENTRIES]) {
    const int32_t multiplier = 1 << 30, shift = 1 - APART_BITS;
    int in[] = {tensor, tosa_const(t, TOSA_INT16, &(TosaDims){1, {WIDE_ENTRIES}}, entry)};
    TosaDims dims = tosa_dims(t, tensor);
    int fine = tosa_add(t, TOSA_TABLE, NULL, 2, in, TOSA_INT32, &dims);
    return tosa_rescale_once(t, fine, TOSA_INT16, 0, 1, &multiplier, &shift);
}

/* TOSA wants neighbours whose difference is a number of 16 bits. */
static bool is_gentle(const int16_t entry[WIDE_ENTRIES]) {
    for (int i = 1; i < WIDE_ENTRIES; i++)
        if (entry[i] - entry[i - 1] != (int16_t)(entry[i] - entry[i - 1]))
            return false;
    return true;
}

/* Of bytes, numbers of 16 bits: bytes times 256 meet every second entry, and what lies between
 * does not matter. */
static int widened_by_table(Tosa *t, const Node *table, int tensor) {
    int32_t number[BYTES];
    int16_t entry[WIDE_ENTRIES];
    table_numbers(table, number);
    for (int i = 0; i < WIDE_ENTRIES; i++) {
        int low = i / 2 < BYTES ? i / 2 : BYTES - 1, high = (i + 1) / 2;
        high = high < BYTES ? high : BYTES - 1;
        entry[i] = (int16_t)((number[low] + number[high]) / 2);
    }
    return interpolated(t, tosa_rescale_by(t, tensor, TOSA_INT16, 0, 0, BYTES), entry);
}

/* Of 16 bits, by an entry for each number. */
static int table_gathered(Tosa *t, const Node *table, int tensor) {
    const int32_t *number = table_wide_numbers(t->c, table);
    TosaType type = tosa_type(node_result(table));
    int16_t *half = NEW_ARRAY(t->c, int16_t, POSITIONS);
    int8_t *byte = c_alloc(t->c, POSITIONS);
    for (int i = 0; i < POSITIONS; i++) {
        half[i] = (int16_t)number[i];
        byte[i] = (int8_t)number[i];
    }
    return tosa_entries(t, tosa_widened(t, tensor, 0, 0), POSITIONS / 2, type, POSITIONS,
                        type == TOSA_INT8 ? (const void *)byte : half);
}

int tosa_table(Tosa *t, const Node *table, const Value *x, int tensor) {
    const Value *y = node_result(table);
    int8_t entry[TABLE_ENTRIES];
    int16_t wide[WIDE_ENTRIES];
    if (layer_int16(x))
        return layer_int16(y) && table_interpolates(table, wide) && is_gentle(wide)
                   ? interpolated(t, tensor, wide)
                   : table_gathered(t, table, tensor);
    if (layer_int16(y))
        return widened_by_table(t, table, tensor);
    if (tosa_is_truth(x) || tosa_is_truth(y)) {
        int32_t number[BYTES];
        table_numbers(table, number);
        for (int i = 0; i < BYTES; i++)
            entry[i] = (int8_t)number[i];
        return tosa_lookup(t, tensor, entry);
    }
    int count = table_fill(t->c, table, x->grid, y->grid, entry);
    if (count != BYTES)
        fatal(t->c, DIAG_MODEL, &table->loc, "a table of %d entries; TOSA has 256", count);
    return tosa_lookup(t, tensor, entry);
}

bool tosa_write_table(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!tosa_is_taken(x) || !tosa_is_taken(y))
        return false;
    tosa_store(t, n, tosa_table(t, n, x, tosa_value_in(t, x, y->order)));
    return true;
}

int tosa_regridded(Tosa *t, int tensor, const Value *x, const Value *y) {
    int32_t multiplier, shift;
    int8_t entry[BYTES];
    if (layer_int8(x) && layer_int8(y)) {
        table_requantize(x->grid, y->grid, entry);
        return tosa_lookup(t, tensor, entry);
    }
    rescale_factor(&x->grid->part[0], &y->grid->part[0], &multiplier, &shift);
    tensor = tosa_rescale(t, tensor, tosa_type(y), value_zero_point(x), value_zero_point(y), 1,
                          &multiplier, &shift);
    return layer_int16(y) ? tosa_clamp(t, tensor, -INT16_MAX, INT16_MAX) : tensor;
}

bool tosa_requantize(Tosa *t, Node *n) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (!layer_quantized(x) || !layer_quantized(y) || x->grid->part_count > 1 ||
        y->grid->part_count > 1)
        return false;
    tosa_store(t, n, tosa_regridded(t, tosa_value_in(t, x, y->order), x, y));
    return true;
}
