#!/usr/bin/env python3
"""Makes the archives of tests/unit/contract_test.c with a real torch: tests/flow/<name>.pt2 and
<name>.npz with samples in<k> (k counts every argument of the call) and torch's outputs out<k>."""

import torch
import torch.nn.functional as F
from torch import nn

import make_fixtures as base
import make_pains as pains

FOLDER = base.ROOT / "tests/flow"


class Boundary(nn.Module):
    """Every kind of input and output that an exported call can have."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)
        self.register_buffer("table", torch.tensor([0.5, -1.0, 2.0]))

    def forward(self, x, times, unread, y, flag=None):
        z = self.fc(x) * times
        return z, None, z, 7, y, z.argmax(1), z > 0, self.table * 2


class Counter(nn.Module):
    """A state that does not start at zero, and is returned."""

    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.tensor([[0.5, -0.25, 1.0, 0.0]]))

    def forward(self, x):
        self.sum.mul_(0.5).add_(x)
        return self.sum.clone(), F.relu(self.sum - x)


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 6)
        self.fc = nn.Linear(6, 3)

    def forward(self, ids, shift):
        return self.fc(self.words(ids) + shift)


class Several(nn.Module):
    """Two faults of different kinds: all are reported."""

    def forward(self, x):
        a, _ = torch.sort(x, 1)
        b = F.interpolate(x[:, :, :, None].permute(0, 3, 1, 2), scale_factor=2, mode="bicubic")
        return a, b


class Narrow(nn.Module):
    """Strips, the rows of which are no whole number of any kernel's blocks of pixels."""

    def __init__(self):
        super().__init__()
        layers = []
        for wide, out, kernel in ((8, 40, 3), (40, 40, 5), (40, 8, 3)):
            layers += [nn.Conv2d(wide, wide, kernel, padding=kernel // 2, groups=wide), nn.ReLU()]
            layers += [nn.Conv2d(wide, out, 1), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


def cases():
    """(name, module, samples)"""
    normal = lambda *shape: pains.normal(*shape)()  # noqa: E731
    yield "boundary", Boundary(), [(normal(1, 6), 3, normal(1, 2), normal(1, 5)) for _ in range(5)]
    yield "counter", Counter(), [(normal(1, 4),) for _ in range(6)]
    ids = lambda: torch.randint(0, 10, (1, 4))  # noqa: E731
    yield "embedder", Embedder(), [(ids(), normal(1, 1, 6)) for _ in range(5)]
    yield "several_faults", Several(), [(normal(1, 4, 4),) for _ in range(2)]
    conv = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    yield "image", conv, [(torch.rand(1, 3, 8, 8),) for _ in range(4)]
    yield "narrow", Narrow(), [(normal(1, 8, 13, 5),) for _ in range(4)]
    drowned = pains.Fn(lambda s, x, far: (x + far) - far)
    yield "drowned", drowned, [(normal(1, 6, 6), 1e4 * normal(1, 1, 6)) for _ in range(4)]


def odd():
    """Small boundaries: outputs that are inputs, views, constants, scalars or nothing."""
    fn, table = pains.Fn, torch.tensor([0.5, -1.0, 2.0])

    def with_buffer(function, **buffers):
        module = fn(function)
        for name, value in buffers.items():
            module.register_buffer(name, value)
        return module

    x = torch.tensor([[0.5, -1.0, 1.5, 2.0]])
    mask = torch.tensor([[True, False, True, True]])
    yield "identity", fn(lambda s, x: x), (x,)
    yield "views", fn(lambda s, x: (x, x.view(2, 2), x[:, 1:3], x.t())), (x,)
    yield "nothing", fn(lambda s, x: (None, 3)), (x,)
    yield "same_twice", fn(lambda s, x: (lambda y: (y, y))(torch.relu(x))), (x,)
    yield "constant_beside", with_buffer(lambda s, x: (s.b, x + 1), b=table), (x,)
    yield "mask", fn(lambda s, x, m: torch.where(m, x, 0.0)), (x, mask)
    yield "rank_0", fn(lambda s, x, y: (x * y, x.sum())), (x, torch.tensor(2.0))
    yield "empty", fn(lambda s, x: (x[:, :0], x * 2)), (x,)
    yield "unread", fn(lambda s, x, y: x * 2), (x, torch.ones(3, 3))
    yield "written_input", fn(lambda s, x: (x.mul_(2), x + 1)[1]), (x,)
    yield "written_and_returned", fn(lambda s, x: x.relu_()), (x,)
    yield "state", with_buffer(lambda s, x: s.b.add_(x), b=torch.zeros(1, 4)), (x,)
    yield "state_unread", with_buffer(
        lambda s, x: (s.b.copy_(x), x * 1)[1], b=torch.zeros(1, 4)
    ), (x,)
    yield "count", with_buffer(
        lambda s, x: (s.n.add_(1), x * s.n)[1], n=torch.zeros((), dtype=torch.long)
    ), (x,)
    yield "batch", fn(lambda s, x: s.fc(x), fc=nn.Linear(4, 3)), (torch.randn(4, 4),)
    yield "tree", fn(lambda s, x: {"a": x * 2, "b": [x + 1, (x - 1,)]}), (x,)
    yield "zeros", fn(lambda s, x: x * 0), (x,)


class Loop(nn.Module):
    def forward(self, x):
        return torch.while_loop(lambda x: x.sum() < 9, lambda x: (x + 1,), (x,))


class NoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))

    def forward(self):
        return self.weight * 2 + 1


def findings():
    """What a compile refuses, or has something to say about."""
    fn = pains.Fn
    yield "loop", Loop(), (torch.randn(3),)
    yield "complex_input", fn(lambda s, x: torch.view_as_real(x).sum(-1)), (
        torch.randn(3, dtype=torch.complex64),
    )
    yield "no_inputs", NoInputs(), ()
    yield "decomposition_of_a_matrix", fn(lambda s, x: torch.linalg.svd(x)[1] + x.median()), (
        torch.randn(3, 3),
    )
    yield "bicubic_grid_sample", fn(lambda s, x, g: torch.nn.functional.grid_sample(
        x, g, "bicubic", align_corners=False)), (torch.randn(1, 2, 4, 4), torch.rand(1, 3, 3, 2))
    for dtype in torch.float64, torch.float16, torch.bfloat16:
        model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 4))
        x = torch.randn(1, 2, 4, 4, dtype=dtype)
        yield str(dtype).split(".")[1], model.to(dtype), (x,)
    norm = lambda s, x: F.batch_norm(x, s.m, s.v, training=True)  # noqa: E731
    training = fn(lambda s, x: F.dropout(norm(s, s.c(norm(s, x))), 0.5, True), c=nn.Conv2d(2, 2, 1))
    training.register_buffer("m", torch.zeros(2))
    training.register_buffer("v", torch.ones(2))
    yield "training", training, (torch.randn(1, 2, 3, 3),)
    yield "spectrum", fn(lambda s, x: torch.fft.rfft(x).abs()), (torch.randn(1, 16),)


def conv(scale=1.0, channel=None, bias=None):
    """A small convolution whose weights, or those of one channel, are scaled."""
    module = nn.Conv2d(3, 4, 3)
    (module.weight.data if channel is None else module.weight.data[channel]).mul_(scale)
    if bias is not None:
        module.bias.data[channel] = bias
    return module


def hard():
    """Numbers that are hard to quantize, and some that cannot be."""
    image, flat = [(torch.randn(1, 3, 6, 6),) for _ in range(3)], [(torch.full((1, 3, 6, 6), 0.75),)] * 2
    norm = nn.BatchNorm2d(3, eps=0.0)
    norm.running_var[1] = 0
    wild = nn.Linear(6, 4)
    wild.weight.data[2, 1] = float("inf")
    yield "zero_weights", nn.Sequential(conv(0.0), nn.Conv2d(4, 2, 1)), image
    yield "zero_channel", conv(0.0, 1), image
    yield "denormal_weights", nn.Sequential(conv(1e-40), nn.Conv2d(4, 2, 1)), image
    yield "tiny_channel", conv(1e-30, 1, 3.0), image
    yield "constant_input", nn.Sequential(conv(), nn.ReLU(), nn.Conv2d(4, 2, 1)), flat
    yield "never_active", pains.Fn(lambda s, x: s.b(torch.relu(s.a(x) - 100)), a=conv(), b=nn.Conv2d(4, 2, 1)), image
    yield "infinite_weight", wild, [(torch.randn(1, 6),) for _ in range(3)]
    yield "zero_variance", nn.Sequential(nn.Conv2d(3, 3, 1), norm), image
    # the sum of two large terms is always next to nothing: its grid is too fine for what is summed
    level = nn.Linear(1, 1)
    level.weight.data.fill_(1000.0)
    level.bias.data.fill_(-1000.0)
    yield "fine_output", level, [(torch.tensor([[1 + d]]),) for d in (0.0, 1e-7, -1e-7)]
    # what a relu cuts off, what made it has read before
    same = lambda: nn.Conv2d(4, 4, 3, padding=1)  # noqa: E731
    normal = [(torch.randn(1, 4, 6, 6),) for _ in range(16)]
    yield "clamped_join", pains.Fn(lambda s, x: F.relu(torch.cat([x, s.a(x)], 1)), a=same()), normal
    yield "clamped_resize", pains.Fn(
        lambda s, x: F.relu(F.interpolate(s.a(x), scale_factor=2.0, mode="bilinear")), a=same()
    ), normal
    gru = nn.GRU(8, 8, batch_first=True)
    yield "clamped_gru", pains.Fn(lambda s, x: F.relu(s.a(x)[0]), a=gru), [(torch.randn(1, 6, 8),) for _ in range(16)]
    # loud and quiet windows, which are brought to one level: of the quiet ones' powers 8 bits leave nothing
    level = [10 ** torch.empty(1, 3, 1).uniform_(-1, 0.3) for _ in range(24)]
    windows = [(a * torch.randn(1, 3, 64).clamp(-3, 3),) for a in level]
    maps = lambda: nn.Conv1d(3, 4, 3)  # noqa: E731
    yield "divided_by_deviation", pains.Fn(lambda s, x: s.a(x / (x.std(-1, keepdim=True) + 1e-5)), a=maps()), windows
    yield "root_mean_square", pains.Fn(
        lambda s, x: s.a(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)), a=maps()
    ), windows
    yield "logarithm_of_power", pains.Fn(lambda s, x: torch.log(x.pow(2).mean(-1) + 1e-3)), windows
    yield "generalized_mean", pains.Fn(
        lambda s, x: F.relu(s.a(x)).clamp(min=1e-6).pow(3).mean(-1).pow(1 / 3), a=nn.Conv1d(3, 16, 3)
    ), windows
    # the reciprocals of large numbers are small, and all of some windows
    shifted = [(torch.linspace(-1, 4, 8) + torch.linspace(0.2, 3, 8) * torch.randn(1, 16, 8).clamp(-2, 2),) for _ in range(32)]
    yield "harmonic_mean", pains.Fn(lambda s, x: 1 / (1 / (x.abs() + 0.1)).mean(1)), shifted


class Boxes(nn.Module):
    """Those of a detector, decoded in place."""

    def __init__(self):
        super().__init__()
        self.head = nn.Conv2d(8, 21, 1)
        grid = torch.meshgrid(torch.arange(5.0), torch.arange(5.0), indexing="xy")
        self.register_buffer("grid", torch.stack(grid, -1).view(1, 1, 5, 5, 2) - 0.5)
        self.register_buffer("anchor", 100 * torch.rand(1, 3, 1, 1, 2))

    def forward(self, x):
        y = self.head(x).view(1, 3, 7, 5, 5).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2 + self.grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchor
        return y.view(1, -1, 7)


def lanes():
    """Channels of unlike ranges: sensors of one input, and what layers make for several readers."""
    size = torch.tensor([100.0, 1.0, 0.1, 10.0])
    wave = lambda: torch.randn(1, 4, 16) * size.view(1, 4, 1)  # noqa: E731
    rows = lambda: torch.randn(1, 4) * size + size / 2  # noqa: E731
    far = lambda: 300 + torch.randn(1, 1, 16)  # noqa: E731
    normal = lambda: torch.randn(1, 4, 5, 5)  # noqa: E731
    halves = lambda s, x: [f(v) for f, v in zip((torch.relu, torch.tanh), s.a(x).chunk(2, 1))]  # noqa: E731
    norm = nn.BatchNorm1d(4)
    norm.running_mean.copy_(size / 2)
    norm.running_var.copy_(size**2)
    turned, grouped = nn.ConvTranspose2d(4, 8, 2, 2), nn.Sequential(nn.Conv2d(4, 8, 1), nn.GroupNorm(4, 8))
    turned.weight.data[:, :4] *= 30
    grouped[1].weight.data[:4] *= 100
    many = lambda make: [(make(),) for _ in range(32)]  # noqa: E731
    yield "gates", pains.Fn(lambda s, x: [f(v) for f, v in zip((torch.sin, torch.tanh), x[:, 1::2].unbind(1))]), many(wave)
    yield "normalized_input", nn.Sequential(norm, nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8)), many(rows)
    yield "normalized_by_hand", pains.Fn(lambda s, x: s.a((x - size / 2) / size), a=nn.Linear(4, 16)), many(rows)
    yield "normalized_last", pains.Fn(lambda s, x: s.a(x.mT / size), a=nn.Linear(4, 16)), many(wave)
    yield "far_from_zero", pains.Fn(lambda s, x: s.a(x - 300), a=nn.Conv1d(1, 4, 3)), many(far)
    yield "branches", pains.Fn(lambda s, x: [s.a(x[:, :1] / 100), s.b(x[:, 1:3])], a=nn.Conv1d(1, 4, 3), b=nn.Conv1d(2, 4, 3)), many(wave)
    yield "boxes_in_place", Boxes(), [(torch.randn(1, 8, 5, 5),) for _ in range(32)]
    yield "transposed_apart", pains.Fn(halves, a=turned), many(normal)
    yield "group_norm_apart", pains.Fn(halves, a=grouped), many(normal)
    yield "far_output", pains.Fn(lambda s, x: 230 + s.a(x).tanh() / 2, a=nn.Linear(4, 3)), [(torch.randn(1, 4),) for _ in range(32)]


class Causal(nn.Module):
    """Linear attention whose normalizer is a running sum."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (p.unflatten(-1, (2, 8)).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        sums = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        z = 1 / (torch.einsum("bhtd,bhtd->bht", q, k.cumsum(2)) + 1e-6)
        return self.out(torch.einsum("bhtd,bhtde,bht->bhte", q, sums, z).transpose(1, 2).flatten(2))


class Smoothed(nn.Module):
    """Energies over what they were before, a step at a time (PCEN)."""

    def forward(self, x):
        past = [x[..., 0]]
        for t in range(1, x.shape[-1]):
            past.append(0.9 * past[-1] + 0.1 * x[..., t])
        return (x / (torch.stack(past, -1) + 1e-6) ** 0.98 + 2) ** 0.5 - 2**0.5


def quotients():
    """What is divided by small numbers, and products of products."""
    pair = lambda: (torch.randn(1, 4, 16), torch.randn(1, 4, 16))  # noqa: E731
    yield "cosine", pains.Fn(lambda s, x, y: F.cosine_similarity(x, y, 1)), [pair() for _ in range(32)]
    yield "causal_linear_attention", Causal(), [(torch.randn(1, 12, 16),) for _ in range(32)]
    yield "smoothed_energy", Smoothed(), [(torch.randn(1, 8, 12).exp(),) for _ in range(32)]
    yield "product_of_five", pains.Fn(lambda s, x: x.prod(1)), [(torch.randn(1, 5, 8),) for _ in range(32)]


class Skip(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x):
        y = F.relu(self.a(x))
        return F.relu(y + self.b(y))


class Residual(nn.Module):
    """Sums that a convolution's store can do: of a value from before, of the input itself, with an
    activation on either side, of a shortcut; and one that it cannot, of a value read twice."""

    def __init__(self):
        super().__init__()
        same = lambda: nn.Conv2d(10, 10, 3, padding=1)  # noqa: E731
        self.a, self.b, self.c = nn.Conv2d(4, 10, 3, padding=1), same(), same()
        self.d, self.e = nn.Conv2d(10, 10, 1), same()
        self.path = nn.Conv2d(10, 12, 3, stride=2, padding=1)
        self.short = nn.Conv2d(10, 12, 1, stride=2)

    def forward(self, x):
        y = F.relu(self.a(x))
        y = F.relu(y + self.c(F.relu(self.b(y))))
        y = y + F.silu(self.d(y))
        z = self.e(y)
        y = F.silu(y - z) * z
        return F.relu(self.path(y) + self.short(y))


class Coarse(nn.Module):
    """Of each layer one output channel saturates at its clamp: of some a step of the sum is one of the
    output and more, which no fast kernel's store can scale."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(4, 24, 3, padding=1)
        self.b = nn.Conv2d(24, 24, 3, padding=1, groups=24)
        self.c = nn.ConvTranspose2d(24, 16, 2, stride=2)
        self.d = nn.Conv2d(16, 12, 1)
        self.e, self.f = nn.Linear(12, 20), nn.Linear(20, 8)
        for layer, channel in (self.a, 5), (self.b, 7), (self.d, 11), (self.e, 0), (self.f, 3):
            layer.weight.data[channel] *= 300
        self.c.weight.data[:, 2] *= 300

    def forward(self, x):
        y = F.relu6(self.b(F.relu6(self.a(x))))
        y = F.relu6(self.d(F.relu6(self.c(y))))
        y = F.relu6(self.e(y.flatten(2).transpose(1, 2)))
        return F.relu6(self.f(y.mean(1)))


class Sums(nn.Module):
    """Sums behind what is no convolution of 8 bits: a linear layer of several rows, one of a single
    row, a depthwise convolution, and a convolution that may take weights of 4 bits."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(4, 16, 3, padding=1)
        self.d = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.narrow = nn.Conv2d(16, 16, 3, padding=1)
        self.up, self.down = nn.Linear(16, 40), nn.Linear(40, 16)
        self.head = nn.Linear(16, 16)

    def forward(self, x):
        y = F.relu(self.a(x))
        y = F.relu(y + self.d(y))
        y = y + self.narrow(y)
        t = y.flatten(2).transpose(1, 2)
        t = t + self.down(F.gelu(self.up(t)))
        v = t.mean(1)
        return F.relu(v + self.head(v))


class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(32, 32), nn.Linear(16, 16)

    def forward(self, x):
        y = self.a(x).view(1, 2, 32)
        return self.b(y[:, 1, :16]) + y.flatten()[32:48]


class Joined(nn.Module):
    """Images of two sizes, joined along their pixels as a detector's heads are."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(4, 8, 3, stride=2, padding=1)
        self.c = nn.Conv1d(8, 8, 1)

    def forward(self, x):
        y = torch.cat([self.a(x).sigmoid().flatten(2), self.b(x).sigmoid().flatten(2)], 2)
        return self.c(y).mean(2)


class Scores(nn.Module):
    """Products of two heads whose rows lie between each other, the result smaller than its left side."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(8, 48), nn.Linear(8, 48), nn.Linear(13, 4)

    def forward(self, x):
        q, k = (f(x).view(1, 13, 2, 24).transpose(1, 2) for f in (self.a, self.b))
        return self.c(q @ k.transpose(2, 3))


class Branches(nn.Module):
    """Two wide values that need not live at once, in an order in which they do."""

    def __init__(self):
        super().__init__()
        self.wide, self.wide2 = nn.Linear(16, 512), nn.Linear(16, 512)
        self.narrow, self.narrow2 = nn.Linear(512, 16), nn.Linear(512, 16)

    def forward(self, x):
        a, b = self.wide(x).relu(), self.wide2(x).relu()
        return self.narrow(a) + self.narrow2(b)


def in_place():
    """Memory that is taken over, or never needed: tests/unit/strips_test.c."""
    normal = lambda *shape: pains.normal(*shape)()  # noqa: E731
    pair = lambda: [nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.ReLU(), nn.Conv2d(16, 16, 1), nn.ReLU()]  # noqa: E731
    turns = nn.Sequential(nn.Conv2d(4, 16, 3, stride=2, padding=1), nn.ReLU(), *pair(), *pair(), *pair(), *pair())
    yield "in_turns", turns, (1, 4, 25, 11)
    yield "pixels", nn.Conv2d(16, 16, 1), (1, 16, 21, 10)
    yield "by_rows", nn.Conv2d(16, 16, 3, padding=1, groups=16), (1, 16, 24, 9)
    yield "skip", Skip(), (1, 8, 12, 12)
    yield "views", Views(), (1, 2, 32)
    yield "tokens", nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32)), (1, 32, 32)
    yield "residual", Residual(), (1, 4, 13, 7)
    yield "joined", Joined(), (1, 4, 12, 12)
    yield "branches", Branches(), (1, 16)
    yield "coarse", Coarse(), (1, 4, 10, 7)
    yield "sums", Sums(), (1, 4, 12, 9)
    yield "scores", Scores(), (1, 13, 8)


def write(name, module, samples, strict):
    module = module.eval()
    program = base.export(module, samples[0], strict)
    arrays = {}
    for key, array in pains.samples_arrays(module, samples).items():
        arrays[key] = array
    base.write_if_changed(FOLDER / f"{name}.pt2", base.archive_bytes(program))
    base.write_if_changed(FOLDER / f"{name}.npz", pains.arrays_bytes(arrays))


def pictures():
    padded = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.ReLU())
    yield "image_padded", padded, [(torch.rand(1, 3, 8, 8),) for _ in range(4)]


def verified():
    """What tests of accuracy, streams and verify look at."""
    normal = lambda *shape: pains.normal(*shape)()  # noqa: E731
    apart = pains.Fn(lambda s, x, far: ((x + far) - far, x * 2, F.relu((x * 3 + far) - far) * 0.5))
    yield "apart", apart, [(normal(1, 6, 6), 1e4 * normal(1, 1, 6)) for _ in range(4)]
    delays = pains.Fn(lambda s, x, one, two: (x - one + two, x, one))
    yield "delays", delays, [tuple(normal(1, 8) for _ in range(3)) for _ in range(12)]
    # masks of which layout leaves no transpose, and rows of which nothing is left
    turned = pains.Fn(lambda s, x, m: F.softmax(x.mT.masked_fill(m.mT, -1e9), -1).mT)
    mask = lambda: torch.rand(1, 6, 6) < 0.4  # noqa: E731
    yield "mask_turned", turned, [(normal(1, 6, 6), mask()) for _ in range(8)]
    hidden = pains.Fn(lambda s, x, m: F.softmax(x.masked_fill(m, float("-inf")), -1))
    yield "hidden_rows", hidden, [(normal(1, 6, 6), mask() | (torch.arange(6) == 2)[:, None]) for _ in range(8)]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for name, module, samples in cases():
        write(name, module, samples, name == "counter")
    for name, module, inputs in odd():
        base.fixture_make(FOLDER / "odd", name, module, inputs)
    torch.manual_seed(0)
    for name, module, inputs in findings():
        module = module.eval()
        data = base.archive_bytes(base.export(module, inputs))
        base.write_if_changed(FOLDER / "findings" / f"{name}.pt2", data)
        if name.split("float")[-1].isdigit():
            arrays = base.arrays_of("in", [x.float() for x in inputs])
            base.write_if_changed(FOLDER / "findings" / f"{name}.npz", base.arrays_bytes(arrays))
    for name, module, samples in hard():
        write(f"hard/{name}", module, samples, False)
    torch.manual_seed(0)
    for name, module, samples in lanes():
        write(f"lanes/{name}", module, samples, False)
    torch.manual_seed(0)
    for name, module, samples in quotients():
        write(f"hard/{name}", module, samples, False)
    torch.manual_seed(0)
    for name, module, samples in pictures():
        write(name, module, samples, False)
    torch.manual_seed(0)
    for name, module, samples in verified():
        write(name, module, samples, False)
    torch.manual_seed(0)
    for name, module, shape in in_place():
        write(f"in_place/{name}", module, [(pains.normal(*shape)(),) for _ in range(3)], False)


if __name__ == "__main__":
    main()
