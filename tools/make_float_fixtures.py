#!/usr/bin/env python3
"""Makes tests/float/<case>.pt2 and .npz with a real torch: models of which some nodes have no integer
form, for --allow-float.

    python tools/make_float_fixtures.py
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F

from make_fixtures import ROOT, fixture_make


class Bicubic(nn.Module):
    """Between two convolutions."""

    def __init__(self):
        super().__init__()
        self.before = nn.Conv2d(3, 8, 3, padding=1)
        self.behind = nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.before(x))
        x = F.interpolate(x, scale_factor=2, mode="bicubic")
        return self.behind(x)


class SpatialTransformer(nn.Module):
    """Sampled at places that a linear layer computes."""

    def __init__(self):
        super().__init__()
        self.place = nn.Linear(64, 6)
        self.conv = nn.Conv2d(3, 4, 3)
        self.place.weight.data.mul_(0.1)
        self.place.bias.data = torch.tensor([1.0, 0, 0, 0, 1, 0])

    def forward(self, x):
        theta = self.place(x.mean(1).flatten(1)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        return F.relu(self.conv(F.grid_sample(x, grid, align_corners=False)))


class BestScores(nn.Module):
    """Values and places of the largest; two nodes without integer form, one of them twice."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 32)

    def forward(self, x):
        value, place = torch.topk(self.linear(x), 5)
        order = torch.argsort(value * -1.5, dim=-1)
        return value * 2, place, order


class Slopes(nn.Module):
    """An operator that has an integer form only while its weight is constant."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.conv = nn.Conv2d(4, 4, 1)

    def forward(self, x, style):
        return torch.relu(F.conv3d(self.conv(x)[:, :, None], self.linear(style).view(4, 4, 1, 1, 1)))


class Kinds(nn.Module):
    """Both kinds at once: an operator without integer form, and one without it here."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x):
        y = torch.sort(self.linear(x), dim=-1)[0]
        return torch.softmax(y.repeat(1, 1200), -1)


class Stream(nn.Module):
    """A state that only float nodes touch, and one that integer nodes read."""

    def __init__(self):
        super().__init__()
        self.register_buffer("best", torch.zeros(1, 4))
        self.register_buffer("last", torch.zeros(1, 4))
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x + self.last)
        self.best.copy_(torch.sort(torch.cat([self.best, y], 1), descending=True)[0][:, :4])
        self.last.copy_(torch.sort(y)[0])
        return self.best + 0, y


class Functions(nn.Module):
    """Every function that programs have, for a run wholly in float."""

    def forward(self, x, y):
        wide = x * 3000 - 1500
        return torch.stack([
            torch.exp(x * 4 - 2), torch.expm1(x - 0.5), torch.log(x), torch.log2(x), torch.log10(x),
            torch.log1p(x), torch.tanh(x * 4 - 2), torch.sigmoid(x * 8 - 4), torch.erf(x * 4 - 2),
            torch.erfc(x * 4 - 2), torch.sin(wide), torch.cos(wide), torch.tan(x), torch.asin(x),
            torch.acos(x), torch.atan(x * 8 - 4), torch.sinh(x), torch.cosh(x), torch.asinh(wide),
            torch.acosh(x + 1), torch.atanh(x), torch.pow(x, y), torch.atan2(x - 0.5, y),
            torch.fmod(wide, y + 3), torch.remainder(wide, y + 3), torch.sqrt(x), torch.rsqrt(x),
            torch.round(wide), torch.floor(wide), F.gelu(x * 4 - 2), F.mish(x * 4 - 2),
            F.softplus(x * 4 - 2), torch.where(x > y, x, y), F.elu(x - 0.5),
        ])


def cases():
    yield "bicubic", Bicubic(), [torch.randn(1, 3, 8, 8)]
    yield "spatial_transformer", SpatialTransformer(), [torch.randn(1, 3, 8, 8)]
    yield "best_scores", BestScores(), [torch.randn(2, 16)]
    yield "computed_weight", Slopes(), [torch.randn(1, 4, 5, 5), torch.randn(4, 8)]
    yield "two_kinds", Kinds(), [torch.randn(2, 8)]
    yield "stream", Stream(), [torch.randn(1, 4)]
    yield "functions", Functions(), [torch.rand(64) * 0.98 + 0.01, torch.randn(64)]


def main():
    torch.set_num_threads(1)
    for name, module, inputs in cases():
        torch.manual_seed(0)
        fixture_make(ROOT / "tests/float", name, module, inputs)


if __name__ == "__main__":
    torch.manual_seed(0)
    sys.exit(main())
