#include "emit/layer.h"
#include "quant/quant.h"

bool grids_equal(const Value *a, const Value *b) {
    return a->grid && b->grid ? grid_equal(a->grid, b->grid) : a->grid == b->grid;
}

bool layer_int8(const Value *v) {
    return v && v->grid && value_storage(v) == DT_I8 && v->grid->bits == 8;
}

bool layer_fits(const Node *n) {
    const Value *w = node_in(n, "weight"), *bias = node_in(n, "bias");
    return layer_int8(node_operand(n, 0)) && layer_int8(n->out[0]) && layer_int8(w) &&
           w->constant && (!bias || bias->constant);
}

LayerWindow layer_window(const Node *n) {
    const Value *x = node_operand(n, 0), *w = node_in(n, "weight"), *y = n->out[0];
    LayerWindow k = {.in_c = x->type.dim[1],
                     .out_c = w->type.dim[0],
                     .depth = w->type.dim[1],
                     .groups = node_int(n, "groups")};
    int axes = w->type.rank - 2;
    k.kernel[0] = k.in[0] = k.out[0] = 1;
    for (int a = 0; a < axes; a++) {
        k.kernel[2 - axes + a] = w->type.dim[2 + a];
        k.in[2 - axes + a] = x->type.dim[2 + a];
        k.out[2 - axes + a] = y->type.dim[2 + a];
    }
    node_ints(n, "stride", k.stride, 2);
    node_ints(n, "padding", k.side, 4);
    node_ints(n, "dilation", k.dilation, 2);
    return k;
}

bool pool_window(const Node *n, LayerWindow *k) {
    const Value *x = node_operand(n, 0), *y = n->out[0];
    if (x->type.rank != 4 || !layer_int8(x) || !layer_int8(y))
        return false;
    *k = (LayerWindow){.in_c = x->type.dim[1], .out_c = x->type.dim[1], .dilation = {1, 1}};
    node_ints(n, "kernel_size", k->kernel, 2);
    node_ints(n, "stride", k->stride, 2);
    node_ints(n, "padding", k->side, 4);
    if (node_takes(n, "dilation"))
        node_ints(n, "dilation", k->dilation, 2);
    for (int a = 0; a < 2; a++) {
        k->in[a] = x->type.dim[2 + a];
        k->out[a] = y->type.dim[2 + a];
    }
    return true;
}

int64_t window_overhang(const LayerWindow *k, int a) {
    int64_t reach = (k->out[a] - 1) * k->stride[a] + (k->kernel[a] - 1) * k->dilation[a] + 1;
    return reach - k->side[2 * a] - k->in[a];
}

const int8_t *layer_weights(C *c, const Node *n, const LayerWindow *k, bool depthwise) {
    const int8_t *from = node_in(n, "weight")->constant->data;
    int64_t taps = k->kernel[0] * k->kernel[1];
    int8_t *to = c_alloc(c, (size_t)(k->out_c * k->depth * taps));
    for (int64_t o = 0; o < k->out_c; o++)
        for (int64_t i = 0; i < k->depth; i++)
            for (int64_t p = 0; p < taps; p++)
                to[depthwise ? p * k->out_c + o : (o * taps + p) * k->depth + i] =
                    from[(o * k->depth + i) * taps + p];
    return to;
}

const int32_t *layer_bias(C *c, const Node *n, int64_t channels) {
    const Value *bias = node_in(n, "bias");
    return bias ? bias->constant->data : NEW_ARRAY(c, int32_t, channels);
}

void layer_factors(const Node *n, int64_t channels, int32_t *multiplier, int32_t *shift) {
    const Value *w = node_in(n, "weight"), *x = node_operand(n, 0);
    double factor = value_scale(x) / value_scale(n->out[0]);
    for (int k = 0; k < w->grid->part_count; k++) {
        const Part *p = &w->grid->part[k];
        int64_t start = p->axis < 0 ? 0 : p->start, stop = p->axis < 0 ? channels : p->stop;
        for (int64_t i = start; i < stop && i < channels; i++)
            multiplier_from(factor * p->scale, &multiplier[i], &shift[i]);
    }
}
