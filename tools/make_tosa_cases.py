#!/usr/bin/env python3
"""Makes the modules of tests/tosa with a real torch: kinds of operators that TOSA programs and NPUs are
tried with beyond the real models. tests/tosa/cases/<name>.pt2 is the archive, <name>.npz its samples.

    python tools/make_tosa_cases.py
"""

import torch
import torch.nn.functional as F
from torch import nn

import make_fixtures as base
from make_pains import Fn, arrays_bytes, normal, samples_arrays

FOLDER = base.ROOT / "tests/tosa/cases"
SAMPLES = 8


class Lstm(nn.Module):
    """An LSTM between layers: the NPU has none."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(4, 8, 3, padding=1)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = F.silu(self.stem(x)).transpose(1, 2)
        x, _ = self.lstm(x)
        return F.softmax(self.head(x[:, -1]), -1)


class Recurrent(nn.Module):
    """All that a layer gives, which starts with zeros."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, states = self.layer(x)
        return (y, *states) if isinstance(states, tuple) else (y, states)


class States(nn.Module):
    """All that a layer gives, which starts with states that the caller has."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x, h, c=None):
        y, states = self.layer(x, h if c is None else (h, c))
        return (y, *states) if isinstance(states, tuple) else (y, states)


class Stream(nn.Module):
    """A state that goes from run to run, beside one of the samples before."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 6)
        self.head = nn.Linear(6, 3)
        self.register_buffer("hidden", torch.zeros(1, 6))
        self.register_buffer("before", torch.zeros(1, 4))

    def forward(self, x):
        self.hidden.copy_(self.cell(torch.cat([x, self.before], 1), self.hidden))
        self.before.copy_(x)
        return self.head(self.hidden)


class RunningMean(nn.Module):
    """A state that is read as it is by what an NPU takes, and that starts with numbers of its own."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 3, 1)
        self.register_buffer("mean", torch.randn(1, 4, 3, 3))

    def forward(self, x):
        away = x - self.mean
        self.mean.copy_(0.75 * self.mean + 0.25 * x)
        return self.conv(away)


def parameters(module):
    """Unlike one another, some below zero."""
    for p in module.parameters():
        nn.init.uniform_(p, -1.5, 1.5)
    return module


def cases():
    yield "layer_norm", parameters(nn.LayerNorm(48)), [normal(1, 5, 48)]
    yield "layer_norm_of_images", parameters(nn.LayerNorm([3, 6, 5])), [normal(1, 3, 6, 5, scale=2)]
    yield "rms_norm", parameters(nn.RMSNorm(32)), [normal(1, 4, 32)]
    yield "group_norm", parameters(nn.GroupNorm(2, 8)), [normal(1, 8, 5, 6)]
    yield "instance_norm", parameters(nn.InstanceNorm2d(4, affine=True)), [normal(1, 4, 7, 7)]
    yield "prelu_of_slopes_below_zero", parameters(nn.PReLU(6)), [normal(1, 6, 5, 4)]
    yield "groups_of_channels", nn.Conv2d(8, 12, 3, padding=1, groups=4), [normal(1, 8, 6, 6)]
    yield "softmax_of_channels", nn.Sequential(nn.Conv2d(3, 5, 1), nn.Softmax(1)), [normal(1, 3, 6, 6, scale=2)]
    yield "softmax_of_long_rows", Fn(lambda m, x: F.softmax(m.layer(x), -1), layer=nn.Linear(16, 200)), [normal(1, 3, 16)]
    yield "matmul_broadcast", Fn(lambda m, x, y: torch.matmul(x, y)), [normal(2, 3, 4, 5), normal(3, 5, 6)]
    yield "strided_slices", Fn(lambda m, x: m.layer(torch.cat([x[..., ::2, 1::2], x[..., 1::2, ::2]], 1))[:, 2],
                               layer=nn.Conv2d(6, 4, 3)), [normal(1, 3, 12, 12)]
    yield "adaptive_max_pool", nn.AdaptiveMaxPool2d((3, 2)), [normal(1, 4, 7, 5)]
    yield "average_over_padding", nn.Sequential(nn.Conv2d(2, 4, 1), nn.AvgPool2d(3, 2, 1)), [normal(1, 2, 8, 8)]
    yield "average_of_whole_images", nn.Sequential(nn.Conv2d(2, 4, 1), nn.AvgPool2d(6)), [normal(1, 2, 6, 6)]
    yield "conv_of_stride_4", nn.Sequential(nn.Conv2d(3, 8, 5, 4), nn.ReLU(), nn.Conv2d(8, 4, 1)), [normal(1, 3, 21, 21)]
    yield "lstm_between", Lstm(), [normal(1, 4, 6)]
    yield "transposed_convs", nn.Sequential(nn.ConvTranspose2d(3, 20, 3, 2, 1, 1), nn.ReLU(),
                                            nn.ConvTranspose2d(20, 4, 2, 2), nn.ConvTranspose2d(4, 2, (3, 4), 3)), \
        [normal(1, 3, 4, 5)]
    yield "differences", Fn(lambda m, x, y: torch.minimum(x - 2 * y, 3 - torch.maximum(x, 4 * y))), \
        [normal(1, 3, 4, 5), normal(3, 1, 5)]
    yield "quotients", Fn(lambda m, x, y: x / (y * y + 1)), [normal(2, 4, 5), normal(2, 4, 5)]
    yield "least_of_rows", Fn(lambda m, x: torch.cat([x.amin(1), x.amax(1), x.mean(1), x.sum(1) / 4], 1)), [normal(2, 3, 4, 5)]
    yield "flipped_and_gathered", Fn(lambda m, x: torch.cat([x.flip(1), x[:, [2, 0, 1]], x.expand(3, 3, 4).mean(0, True)], 2)), \
        [normal(1, 3, 4)]
    yield "permuted_six_dims", Fn(lambda m, x: x.view(2, 3, 2, 3, 2, 5).permute(5, 1, 3, 0, 4, 2) * 2), [normal(6, 6, 10)]
    yield "bilinear_2", nn.Sequential(nn.Conv2d(2, 4, 1), nn.Upsample(scale_factor=2, mode="bilinear")), [normal(1, 2, 5, 6)]
    yield "bilinear_aligned", nn.Upsample(size=(7, 11), mode="bilinear", align_corners=True), [normal(1, 2, 5, 6)]
    yield "linear_3", nn.Upsample(scale_factor=3, mode="linear"), [normal(1, 2, 9)]
    yield "masked_softmax", Fn(lambda m, x: F.softmax(x.masked_fill(~torch.ones(6, 6, dtype=torch.bool).tril(), -torch.inf), -1)), \
        [normal(1, 2, 6, 6, scale=3)]
    yield "operators_by_other_names", Fn(lambda m, x, y: torch.cat([
        torch.subtract(x, y), torch.rsub(x, y, alpha=2), torch.multiply(x, y), torch.fmax(x, y), torch.fmin(x, y),
        torch.max(x, y), torch.min(x, y), torch.lerp(x, y, 0.25)])), [normal(2, 3, 4), normal(2, 3, 4)]
    yield "outer_product", Fn(lambda m, x, y: x[:, :, None] * y[:, None, :]), [normal(2, 7), normal(2, 9)]
    yield "rounded_quotients", Fn(lambda m, x, y: torch.div(x, y * y + 1, rounding_mode="floor")), \
        [normal(2, 4, 5, scale=4), normal(2, 4, 5)]
    yield "long_sums", nn.Linear(1500, 8), [normal(4, 1500)]
    yield "lstm_both_ways", Recurrent(nn.LSTM(5, 6, 2, bidirectional=True)), [normal(4, 2, 5)]
    yield "lstm_from_states", States(nn.LSTM(5, 6)), [normal(3, 2, 5), normal(1, 2, 6, scale=0.5), normal(1, 2, 6)]
    yield "gru_both_ways", Recurrent(nn.GRU(5, 6, 2, bidirectional=True)), [normal(4, 2, 5)]
    yield "gru_from_states", States(nn.GRU(5, 6, bias=False)), [normal(3, 2, 5), normal(1, 2, 6, scale=0.5)]
    yield "rnn_of_tanh", Recurrent(nn.RNN(5, 6)), [normal(4, 2, 5)]
    yield "rnn_of_relu", States(nn.RNN(5, 6, nonlinearity="relu")), [normal(4, 2, 5), normal(1, 2, 6)]
    yield "gru_cell_that_streams", Stream(), [normal(1, 4)]
    yield "lstm_of_100_steps", Recurrent(nn.LSTM(2, 3)), [normal(100, 1, 2)]
    yield "running_mean", RunningMean(), [normal(1, 4, 3, 3)]
    yield "norm_of_small_deviations", Fn(lambda m, x: m.layer((x * torch.tensor([[1.0], [0.012]])).repeat(1, 1, 8)), layer=nn.LayerNorm(512)), \
        [normal(1, 2, 64)]
    yield "wide_signal", Fn(lambda m, x: m.layer(x.repeat(1, 1, 660)).amax(-1), layer=nn.Conv1d(2, 2, 3)), [normal(1, 2, 100)]
    yield "dilated_transposed_conv", nn.ConvTranspose2d(3, 4, 3, 2, 2, 1, dilation=2), [normal(1, 3, 5, 4)]
    yield "long_upsampled_signals", Fn(lambda m, x: m.layer(x.repeat(1, 1, 10)).reshape(2, 2, 3, -1).amax(-1),
                                       layer=nn.ConvTranspose1d(4, 2, 4, 4, 2, 2)), [normal(2, 4, 50)]
    yield "long_adaptive_max_pool", Fn(lambda m, x: m.layer(x.repeat(1, 1, 13)).amax(-1), layer=nn.AdaptiveMaxPool1d(900)), [normal(1, 2, 100)]
    yield "norm_of_tiny_numbers", nn.LayerNorm(48), [normal(1, 5, 48, scale=3e-4)]
    yield "rms_norm_of_32768", Fn(lambda m, x: m.layer(x.repeat(1, 512)).reshape(512, 64).amax(0), layer=nn.RMSNorm(32768, elementwise_affine=False)), \
        [normal(1, 64)]
    yield "rms_norm_of_40000", Fn(lambda m, x: m.layer(x.repeat(1, 625)).reshape(625, 64).amax(0), layer=nn.RMSNorm(40000, elementwise_affine=False)), \
        [normal(1, 64)]
    yield "far_dilated_transposed_conv", Fn(lambda m, x: m.layer(x).amax(-1), layer=nn.ConvTranspose1d(64, 64, 2, groups=64, dilation=5000)), \
        [normal(1, 64, 2)]
    yield "volumes", nn.Conv3d(2, 3, 3, padding=1), [normal(1, 2, 4, 5, 6)]
    yield "norms_before_linear", nn.Sequential(nn.LayerNorm(48), nn.Linear(48, 32), nn.GroupNorm(2, 8), nn.Linear(32, 16), nn.RMSNorm(16),
                                               nn.Linear(16, 24)), [normal(1, 8, 48)]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for name, module, inputs in cases():
        module = module.eval()
        torch.manual_seed(1)
        samples = [tuple(make() for make in inputs) for _ in range(SAMPLES)]
        base.write_if_changed(FOLDER / f"{name}.pt2", base.archive_bytes(base.export(module, samples[0])))
        base.write_if_changed(FOLDER / f"{name}.npz", arrays_bytes(samples_arrays(module, samples)))


if __name__ == "__main__":
    main()
