#!/usr/bin/env python3
"""Makes the modules of tests/unit/pinned_test.c with a real torch: as PT2E archives hold them, with
pairs of quantize and dequantize where values are rounded, and floats between. tests/pinned/<name>.pt2
is the archive, <name>.npz holds samples in0.. and torch's own outputs out0.. for each.

    python tools/make_pinned.py [glob] ...     all without arguments
"""

import torch
import torch.nn.functional as F
from torch import nn

import make_pains as pains
from fixtures.quantized import pair

pains.FOLDER = pains.base.ROOT / "tests/pinned"


def rounded(function, scale, zero=0, **modules):
    """The function of an input in steps of 1/32, its result in steps of `scale`."""
    return pains.Fn(lambda m, x: pair(function(m, pair(x, 1 / 32, 5)), scale, zero), **modules)


def probes():
    image = pains.uniform(-3.5, 3.5, 1, 3, 10, 7)
    yield "mean_of_few", rounded(lambda m, x: x.mean((0, 2)), 0.0127, -37), [pains.uniform(-3.5, 3.5, 2, 3, 4, 5)]
    yield "pool_of_unlike_windows", rounded(lambda m, x: F.adaptive_avg_pool2d(x, (4, 3)), 0.0131, 9), [image]
    yield "pool_of_alike_windows", rounded(lambda m, x: F.adaptive_avg_pool2d(x[:, :, :7, :6], 2), 0.0081, 9), [image]
    yield "resized_to_other_steps", rounded(
        lambda m, x: F.interpolate(x, size=(7, 9), mode="bilinear"), 0.0293, -3), [image]
    yield "variance", rounded(lambda m, x: x.var((2, 3)), 0.03, -128), [image]
    conv = nn.Conv2d(3, 3, 1, bias=False)
    conv.weight.data = torch.tensor([[1.0, 0, 0], [0, -1.0, 0], [0, 0, 0.5]]).reshape(3, 3, 1, 1)
    yield "resized_behind_floats", rounded(
        lambda m, x: F.interpolate(m.conv(x), scale_factor=2, mode="bilinear"), 0.0293, 4, conv=conv), [image]
    yield "pool_narrower_than_its_input", rounded(
        lambda m, x: F.adaptive_avg_pool2d(m.conv(x), (3, 2)), 0.011, 4, conv=conv), [image]
    yield "bias_far_beyond_products", far_bias(), [pains.uniform(-1e-6, 1e-6, 1, 2, 3, 3)]


def far_bias():
    """A hardsigmoid's 1/2 behind numbers so small that in their steps it is beyond int32."""
    q = torch.ops.quantized_decomposed

    def forward(m, x):
        w = q.dequantize_per_tensor.default(m.w, 1e-6, 0, -127, 127, torch.int8)
        return pair(F.hardsigmoid(F.conv2d(pair(x, 1e-8, 0), w)), 1 / 256, -128)

    module = pains.Fn(forward)
    module.register_buffer("w", torch.tensor([[[[3]], [[-2]]], [[[1]], [[5]]]], dtype=torch.int8))
    return module


def main():
    torch.set_num_threads(1)
    for case in probes():
        if pains.wanted(case[0]):
            torch.manual_seed(1)
            pains.write(*case)


if __name__ == "__main__":
    main()
