/* Walking through the windows of a convolution, output position by output position. */
#ifndef CTN_WINDOW_H
#define CTN_WINDOW_H

#include "ctn.h"

typedef struct {
    const int8_t *image;
    int32_t y, x; /* of the first tap; outside of the image it is in the padding */
} CtnWindow;

static inline CtnWindow ctn_window_first(const CtnConv2dS8Args *a, const int8_t *input) {
    CtnWindow w = {input, -a->pad_top, -a->pad_left};
    return w;
}

static inline void ctn_window_next(const CtnConv2dS8Args *a, CtnWindow *w) {
    w->x += a->stride_w;
    if (w->x < a->out_w * a->stride_w - a->pad_left)
        return;
    w->x = -a->pad_left;
    w->y += a->stride_h;
    if (w->y < a->out_h * a->stride_h - a->pad_top)
        return;
    w->y = -a->pad_top;
    w->image += a->in_h * a->in_w * a->in_c;
}

static inline int ctn_window_within(const CtnConv2dS8Args *a, const CtnWindow *w) {
    return w->y >= 0 && w->y + (a->kernel_h - 1) * a->dilation_h < a->in_h && w->x >= 0 &&
           w->x + (a->kernel_w - 1) * a->dilation_w < a->in_w;
}

/* The first channel of a tap; NULL in the padding. */
static inline const int8_t *ctn_window_tap(const CtnConv2dS8Args *a, const CtnWindow *w, int32_t ky,
                                           int32_t kx) {
    int32_t y = w->y + ky * a->dilation_h, x = w->x + kx * a->dilation_w;
    if (y < 0 || y >= a->in_h || x < 0 || x >= a->in_w)
        return (const int8_t *)0;
    return w->image + (y * a->in_w + x) * a->in_c;
}

#endif
