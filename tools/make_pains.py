#!/usr/bin/env python3
"""Makes the probes of tests/unit/pains_test.c with a real torch: small modules in which other tool
chains have failed their users. tests/pains/<name>.pt2 is the archive, <name>.npz holds a few
samples in0.. (first axis: samples) and torch's own outputs out0.. for each.

    python tools/make_pains.py [glob] ...     all without arguments
"""

import copy
import fnmatch
import io
import sys
import zipfile

import numpy
import torch
import torch.nn.functional as F
from torch import nn

import make_fixtures as base

FOLDER = base.ROOT / "tests/pains"
SAMPLES = 4


class Fn(nn.Module):
    """A function of the inputs and of the modules that it uses."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def normal(*shape, scale=1.0):
    """Few mantissa bits: the files deflate well."""
    return lambda: (torch.randn(shape) * scale * 32).round() / 32


def uniform(low, high, *shape):
    return lambda: torch.rand(shape) * (high - low) + low


def batch_norm(channels):
    norm = nn.BatchNorm2d(channels)
    norm.running_mean.uniform_(-0.5, 0.5)
    norm.running_var.uniform_(0.5, 2)
    nn.init.uniform_(norm.weight, 0.5, 1.5)
    nn.init.uniform_(norm.bias, -0.5, 0.5)
    return norm


class ComputedWeight(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(12, 8) * 0.3)

    def forward(self, x):
        return F.linear(x, self.w[:8].t().contiguous().t())


class Excite(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Conv2d(8, 8, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.fc(x.mean((2, 3), keepdim=True)))


class Stream(nn.Module):
    """An LSTM whose state is kept in buffers from call to call."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.register_buffer("h", torch.zeros(1, 1, 4))
        self.register_buffer("c", torch.zeros(1, 1, 4))

    def forward(self, x):
        y, (h, c) = self.lstm(x, (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return y


def carried_lstm():
    return Fn(lambda s, x, h, c: s.lstm(x, (h, c)), lstm=nn.LSTM(4, 4, batch_first=True))


def anchored(y, stride):
    """The head of one scale as YOLOv5 has it: two anchors, boxes in pixels and scores of 0..1."""
    b, _, h, w = y.shape
    xy, wh, scores = y.view(b, 2, 7, h, w).permute(0, 1, 3, 4, 2).contiguous().sigmoid().split((2, 2, 3), 4)
    return torch.cat((xy * (2 * stride), (wh * 2) ** 2 * (3 * stride), scores), 4).view(b, 2 * h * w, 7)


def outlier_conv():
    conv = nn.Conv2d(4, 8, 3, padding=1)
    with torch.no_grad():
        conv.weight[3] *= 100
    return nn.Sequential(conv, nn.ReLU(), nn.Conv2d(8, 4, 1))


def conv_net(channels_last=False):
    net = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.SiLU())
    return net.to(memory_format=torch.channels_last) if channels_last else net


class Blocks(nn.Module):
    """What memory formats go through: residual, depthwise, pools, a resize, cat, flatten."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), batch_norm(8), nn.SiLU(inplace=True))
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.pointwise = nn.Conv2d(8, 8, 1)
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.head = nn.Linear(20 * 4, 5)

    def forward(self, x):
        x = self.stem(x)
        x = x + self.pointwise(F.relu_(self.depthwise(x)))
        low = F.max_pool2d(x, 2)
        x = torch.cat([x, F.interpolate(low, scale_factor=2.0), self.up(low)], 1)
        return self.head(F.adaptive_avg_pool2d(x, 2).flatten(1)), x


def blocks(channels_last=False):
    return Blocks().to(memory_format=torch.channels_last) if channels_last else Blocks()


def distributed_boxes():
    """A detector's sides as the mean of a distribution over bins."""
    return Fn(
        lambda s, x: s.mean(s.bins(x).view(1, 4, 8, 36).transpose(2, 1).softmax(1)).view(1, 4, 36),
        bins=nn.Conv2d(3, 32, 3), mean=nn.Conv2d(8, 1, 1, bias=False),
    )  # fmt: skip


def permutations():
    import itertools

    orders = list(itertools.permutations(range(4)))
    return Fn(lambda s, x: tuple(x.permute(*p).contiguous() for p in orders))


def mask(*shape):
    """Most of it true, the first always."""

    def draw():
        keep = torch.rand(shape) < 0.7
        keep[..., 0] = True
        return keep

    return draw


def bools_moved_as_floats():
    return Fn(lambda s, m: (m.float().roll(1, 1), m.float().view(3, 4).softmax(1)))


def masked_mean():
    """What pools the tokens of a transformer."""

    def pool(s, x, keep):
        weight = keep.float()
        return (x * weight.unsqueeze(-1)).sum(1) / weight.sum(1, keepdim=True)

    return Fn(pool)


def wide_conv1d():
    layers = [nn.Conv1d(16, 64, 7, 2, 3), nn.ReLU(), nn.Conv1d(64, 64, 7, padding=3), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv1d(64, 29, 1))


def residual(s, x):
    y = s.conv(x)
    y += x
    return F.relu_(y)


def probes():
    """(name, module, samplers of the inputs)"""
    image, wide = normal(1, 3, 16, 16), normal(1, 8, 6, 6)
    yield "shared_silu_inplace", Fn(
        lambda s, x: s.act(s.b(s.act(s.a(x)))),
        a=nn.Conv2d(3, 8, 3), b=nn.Conv2d(8, 8, 3), act=nn.SiLU(inplace=True),
    ), [image]  # fmt: skip
    yield "residual_relu_inplace", Fn(residual, conv=nn.Conv2d(8, 8, 3, padding=1)), [wide]
    yield "conv_norm_relu_inplace", nn.Sequential(*[
        layer for _ in range(3)
        for layer in (nn.Conv2d(8, 8, 3, padding=1), batch_norm(8), nn.ReLU(inplace=True))
    ]), [wide]  # fmt: skip
    yield "conv_hardswish_inplace", nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.Hardswish(inplace=True)
    ), [image]
    yield "hardsigmoid_inplace", Fn(lambda s, x: F.hardsigmoid(x + 0, inplace=True)), [
        normal(1, 40, scale=3.0)
    ]
    yield "linear_computed_weight", ComputedWeight(), [normal(2, 8)]
    pair = dict(a=nn.Conv2d(3, 8, 3), b=nn.Conv2d(3, 8, 3))
    yield "concat", Fn(lambda s, x: torch.concat([s.a(x), s.b(x)], 1), **pair), [image]
    yield "concatenate", Fn(lambda s, x: torch.concatenate([s.a(x), s.b(x)], 1), **pair), [image]
    yield "stack", Fn(lambda s, x: torch.stack([s.a(x), s.b(x)], 1), **pair), [image]
    yield "cat_of_free_and_fixed", Fn(
        lambda s, x: torch.cat([s.a(x), torch.sigmoid(s.b(x))], 1), **pair
    ), [image]
    yield "layout_contiguous", conv_net(), [image]
    yield "layout_channels_last", conv_net(True), [
        lambda: image().contiguous(memory_format=torch.channels_last)
    ]
    yield "layout_blocks_contiguous", blocks(), [image]
    yield "layout_blocks_channels_last", blocks(True), [
        lambda: image().contiguous(memory_format=torch.channels_last)
    ]
    yield "distributed_boxes", distributed_boxes(), [normal(1, 3, 8, 8)]
    yield "one_channel", nn.Conv2d(1, 4, 3), [normal(1, 1, 8, 8)]
    yield "one_pixel", nn.Conv2d(8, 8, 1), [normal(1, 8, 1, 1)]
    yield "pad_then_conv", Fn(
        lambda s, x: s.conv(F.pad(x, (1, 2, 3, 4))), conv=nn.Conv2d(3, 4, 3)
    ), [uniform(-0.5, 2.0, 1, 3, 6, 5)]
    yield "pad_same_asymmetric", nn.Sequential(
        nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(3, 8, 3, stride=2)
    ), [uniform(-0.5, 2.0, 1, 3, 8, 8)]
    yield "pad_with_one", nn.Sequential(
        nn.ConstantPad2d((0, 1, 0, 1), 1.0), nn.Conv2d(3, 8, 3, stride=2)
    ), [uniform(-0.5, 2.0, 1, 3, 8, 8)]
    yield "adaptive_avg_pool", nn.AdaptiveAvgPool2d(3), [normal(1, 4, 7, 5)]
    for counted in (False, True):
        yield f"avg_pool_ceil_{'' if counted else 'not_'}counting_pads", nn.AvgPool2d(
            3, 2, 1, ceil_mode=True, count_include_pad=counted
        ), [normal(1, 4, 5, 5)]
    yield "avg_pool_divisor", nn.AvgPool2d(3, 2, 1, divisor_override=7), [normal(1, 4, 5, 5)]
    yield "squeeze_excite", Excite(), [wide]
    yield "upsample_2", nn.Upsample(scale_factor=2), [normal(1, 3, 2, 2)]
    yield "upsample_2_25", nn.Upsample(scale_factor=2.25), [normal(1, 3, 2, 2)]
    yield "linear_of_tiny_inputs", nn.Linear(512, 10), [uniform(0, 0.002, 1, 512)]
    yield "grouped_conv_without_bias", nn.Conv2d(4, 4, 3, groups=2, bias=False), [
        normal(1, 4, 6, 6)
    ]
    yield "add_of_unlike_scales", Fn(lambda s, x, y: x + y), [
        lambda: torch.cat([torch.tensor([[0, 127.5]]), torch.rand(1, 30) * 127.5], 1),
        lambda: torch.cat([torch.tensor([[-1.40, 1.15]]), torch.rand(1, 30) * 2 - 1], 1),
    ]
    yield "permutations", permutations(), [normal(2, 3, 1, 3)]
    yield "bools_moved_as_floats", bools_moved_as_floats(), [mask(1, 12)]
    yield "masked_mean", masked_mean(), [normal(1, 10, 6), mask(1, 10)]
    state = [normal(1, 1, 4, scale=0.5), normal(1, 1, 4, scale=0.5)]
    yield "lstm_of_3", carried_lstm(), [normal(1, 3, 4), *state]
    yield "lstm_of_6", carried_lstm(), [normal(1, 6, 4), *state]
    yield "lstm_stream", Stream(), [normal(1, 3, 4)]
    yield "flatten_linear", nn.Sequential(nn.Flatten(), nn.Linear(96, 3)), [normal(1, 6, 4, 4)]
    yield "wide_conv1d", wide_conv1d(), [normal(1, 16, 24)]
    yield "boxes_and_scores", Fn(
        lambda s, x: torch.cat([s.a(x).abs() * 640, torch.sigmoid(s.b(x))], 1),
        a=nn.Conv2d(3, 4, 3), b=nn.Conv2d(3, 8, 3),
    ), [normal(1, 3, 6, 6, scale=0.5)]  # fmt: skip
    yield "boxes_and_scores_moved", Fn(
        lambda s, x: torch.cat([s.a(x).abs() * 640, torch.sigmoid(s.b(x))], 1).flatten(2).transpose(1, 2).contiguous(),
        a=nn.Conv2d(3, 4, 3), b=nn.Conv2d(3, 8, 3),
    ), [normal(1, 3, 6, 6, scale=0.5)]  # fmt: skip
    yield "boxes_and_scores_of_two_scales", Fn(
        lambda s, x: torch.cat([anchored(s.a(x), 8.0), anchored(s.b(x), 16.0)], 1),
        a=nn.Conv2d(3, 14, 3), b=nn.Conv2d(3, 14, 3, 2),
    ), [normal(1, 3, 8, 8, scale=0.5)]  # fmt: skip
    yield "outlier_channel", outlier_conv(), [normal(1, 4, 8, 8)]
    yield "norm_before_conv", nn.Sequential(
        batch_norm(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1)
    ), [wide]
    yield "norm_after_cat", Fn(
        lambda s, x: s.norm(torch.cat([s.a(x), s.b(x)], 1)), norm=batch_norm(16), **pair
    ), [image]


def single(prefix, value):
    """One sample of a value, without the leading 1 that the first axis stands for."""
    array = base.to_array(value)
    return array[0] if array.ndim > 0 and array.shape[0] == 1 else array


def arrays_bytes(arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            numpy.save(data, array)
            base.member_write(archive, name + ".npy", data.getvalue())
    return out.getvalue()


def samples_arrays(module, samples):
    columns = {}
    module = copy.deepcopy(module)
    for inputs in samples:
        with torch.no_grad():
            outputs = base.flatten(module(*copy.deepcopy(inputs)))
        for prefix, values in (("in", inputs), ("out", outputs)):
            for i, value in enumerate(values):
                if not isinstance(value, torch.Tensor):
                    continue
                columns.setdefault(f"{prefix}{i}", []).append(single(prefix, value))
    return {name: numpy.stack(column) for name, column in columns.items()}


def write(name, module, samplers):
    module = module.eval()
    samples = [tuple(sampler() for sampler in samplers) for _ in range(SAMPLES)]
    arrays = samples_arrays(module, samples)
    base.write_if_changed(FOLDER / f"{name}.pt2", base.archive_bytes(base.export(module, samples[0])))
    base.write_if_changed(FOLDER / f"{name}.npz", arrays_bytes(arrays))


def write_dynamic():
    """A batch of any size: refused, and the test reads how."""
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), (torch.randn(2, 3, 8, 8),), dynamic_shapes=shapes_of(shapes)
    )
    base.write_if_changed(FOLDER / "dynamic_batch.pt2", base.archive_bytes(program))


def shapes_of(shapes):
    return {"input": shapes[0]}


def wanted(name):
    return len(sys.argv) == 1 or any(fnmatch.fnmatch(name, w) for w in sys.argv[1:])


def main():
    torch.set_num_threads(1)
    cases = probes()
    while True:
        torch.manual_seed(0)
        case = next(cases, None)
        if case is None:
            break
        if wanted(case[0]):
            torch.manual_seed(1)
            write(*case)
    torch.manual_seed(0)
    if wanted("dynamic_batch"):
        write_dynamic()


if __name__ == "__main__":
    main()
