/* References of what moves elements or interpolates between them. */
#include "kernel/wide_math.h"

#include <math.h>
#include <string.h>

void wide_copy(const CtnCopyArgs *a, const CtnFrame *f) {
    char *output = ctn_at(f, a->output);
    const char *input = ctn_at(f, a->input);
    const int8_t *table = ctn_at(f, a->table);
    for (int64_t i = 0; i < wide_count(8, a->dim); i++) {
        char *to = output + wide_offset(8, a->dim, a->out_stride, i) * a->element_size;
        memcpy(to, input + wide_offset(8, a->dim, a->in_stride, i) * a->element_size,
               (size_t)a->element_size);
        if (table)
            *(int8_t *)to = table[*(int8_t *)to + 128];
    }
}

void wide_gather(const CtnGatherArgs *a, const CtnFrame *f) {
    const int32_t *indices = ctn_at(f, a->indices);
    for (int64_t i = 0; i < wide_count(8, a->dim); i++) {
        int64_t flat = i, from = 0;
        for (int d = 7; d >= 0; d--) {
            int64_t at = flat % a->dim[d];
            flat /= a->dim[d];
            from += a->index_start[d] < 0 ? at * a->in_stride[d] : indices[a->index_start[d] + at];
        }
        memcpy((char *)ctn_at(f, a->output) + i * a->element_size,
               (const char *)ctn_at(f, a->input) + from * a->element_size, (size_t)a->element_size);
    }
}

void wide_move(const CtnMoveArgs *a, const CtnFrame *f) {
    memmove(ctn_at(f, a->output), ctn_at(f, a->input), (size_t)a->count);
}

void wide_fill(const CtnFillArgs *a, const CtnFrame *f) {
    int64_t value = a->value;
    for (int64_t i = 0; i < (int64_t)a->runs * a->count; i++)
        memcpy((char *)ctn_at(f, a->output) +
                   (i / a->count * a->stride + i % a->count) * a->element_size,
               &value, (size_t)a->element_size);
}

void wide_take(const CtnTakeArgs *a, const CtnFrame *f) {
    const void *indices = ctn_at(f, a->indices);
    int64_t count = (int64_t)a->outer * a->count * a->inner;
    for (int64_t n = 0; n < count; n++) {
        int64_t o = n / a->inner / a->count, k = n / a->inner % a->count, which = a->each ? n : k;
        int64_t at = a->index_size == 8 ? ((const int64_t *)indices)[which]
                                        : ((const int32_t *)indices)[which];
        if (at < 0)
            at += a->rows;
        at = at < 0 ? 0 : at < a->rows ? at : a->rows - 1;
        memcpy((char *)ctn_at(f, a->output) + n * a->element_size,
               (const char *)ctn_at(f, a->input) +
                   ((o * a->rows + at) * a->inner + n % a->inner) * a->element_size,
               (size_t)a->element_size);
    }
}

/* The exact weighted mean of the four neighbours, rounded half away from zero. */
void wide_upsample(const CtnUpsampleBilinear2dS8Args *a, const CtnFrame *f, bool wide) {
    const int32_t *rows = ctn_at(f, a->rows), *columns = ctn_at(f, a->columns);
    const void *input = ctn_at(f, a->input);
    void *output = ctn_at(f, a->output);
    int64_t count = (int64_t)a->batches * a->out_h * a->out_w * a->channels;
    for (int64_t n = 0; n < count; n++) {
        int64_t c = n % a->channels, ox = n / a->channels % a->out_w;
        int64_t oy = n / a->channels / a->out_w % a->out_h;
        int64_t b = n / a->channels / a->out_w / a->out_h;
        double sum = 0;
        for (int corner = 0; corner < 4; corner++) {
            int64_t y = rows[oy] / 8192, x = columns[ox] / 8192;
            double down = rows[oy] % 8192 / 4096.0, right = columns[ox] % 8192 / 4096.0;
            double weight = (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right);
            y = y + corner / 2 < a->in_h ? y + corner / 2 : a->in_h - 1;
            x = x + corner % 2 < a->in_w ? x + corner % 2 : a->in_w - 1;
            int64_t at = ((b * a->in_h + y) * a->in_w + x) * a->channels + c;
            sum += weight * (wide ? ((const int16_t *)input)[at] : ((const int8_t *)input)[at]);
        }
        if (wide)
            ((int16_t *)output)[n] = (int16_t)round(sum);
        else
            ((int8_t *)output)[n] = (int8_t)round(sum);
    }
}

void wide_upsample_bilinear2d_s8(const CtnUpsampleBilinear2dS8Args *a, const CtnFrame *f) {
    wide_upsample(a, f, false);
}

void wide_upsample_bilinear2d_s16(const CtnUpsampleBilinear2dS16Args *a, const CtnFrame *f) {
    wide_upsample((const void *)a, f, true);
}
