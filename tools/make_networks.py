#!/usr/bin/env python3
"""Makes tests/networks/: small networks of the kinds that people bring, trained for a moment on pictures
of shapes, so that weights and activations have the statistics of trained ones. <name>.pt2 is the
archive, calibration.npz has pictures to calibrate all on, tests.npz others, <name>.npz torch's outputs
out0 for them, and simulated: the SQNR of a simulation with int8 weights per channel, int8 activations per
tensor over the calibrated range, and everything else in float.

    python tools/make_networks.py [name ...]
"""

import copy
import sys

import numpy
import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.experimental.optimization import fuse

import make_fixtures as base

FOLDER = base.ROOT / "tests/networks"
SIZE, CALIBRATION, TESTS, STEPS = 24, 24, 64, 120


def pictures(count):
    """A disc, a square or a cross on noise: pictures, kinds, masks and boxes (x, y, half a side)."""
    kind, half = torch.randint(0, 3, (count,)), torch.randint(3, 8, (count,))
    x, y = (torch.randint(0, SIZE, (count,)).clamp(8, SIZE - 9) for _ in range(2))
    row, column = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    dx, dy = (column - x[:, None, None]).abs(), (row - y[:, None, None]).abs()
    size = half[:, None, None]
    disc, square = dx**2 + dy**2 <= size**2, torch.maximum(dx, dy) <= size
    cross = square & (torch.minimum(dx, dy) <= 1)
    mask = torch.where(kind[:, None, None] == 0, disc, torch.where(kind[:, None, None] == 1, square, cross))
    colour = torch.rand(count, 3, 1, 1) * 1.5 + 0.5
    image = mask[:, None] * colour + 0.3 * torch.randn(count, 3, SIZE, SIZE) - 0.5
    return (image * 32).round() / 32, kind, mask.long(), torch.stack([x, y, half], 1).float()


def block(inputs, outputs, size, act, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs), act())


class Excite(nn.Module):
    def __init__(self, channels, act, gate):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 4, 1), nn.Conv2d(4, channels, 1)
        self.act, self.gate = act(), gate()

    def forward(self, x):
        return x * self.gate(self.up(self.act(self.down(x.mean((2, 3), keepdim=True)))))


class Inverted(nn.Module):
    """MobileNet's and EfficientNet's block."""

    def __init__(self, channels, act, gate):
        super().__init__()
        wide = 3 * channels
        self.body = nn.Sequential(block(channels, wide, 1, act), block(wide, wide, 3, act, groups=wide),
                                  Excite(wide, nn.ReLU if gate is nn.Hardsigmoid else act, gate),
                                  nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return x + self.body(x)


class Grouped(nn.Module):
    """RegNet's block."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(block(channels, channels, 1, nn.ReLU),
                                  block(channels, channels, 3, nn.ReLU, groups=channels // 8),
                                  Excite(channels, nn.ReLU, nn.Sigmoid),
                                  nn.Conv2d(channels, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return F.relu(x + self.body(x))


def classifier(act, *blocks):
    return nn.Sequential(block(3, 16, 3, act, stride=2), *blocks, block(16, 32, 3, act, stride=2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 3))


class Segmenter(nn.Module):
    """A U-Net of two levels."""

    def __init__(self):
        super().__init__()
        self.enter, self.down = block(3, 8, 3, nn.ReLU), block(8, 16, 3, nn.ReLU, stride=2)
        self.deep, self.up = block(16, 16, 3, nn.ReLU), nn.ConvTranspose2d(16, 8, 2, 2)
        self.join, self.leave = block(16, 8, 3, nn.ReLU), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        x = self.enter(x)
        return self.leave(self.join(torch.cat([x, self.up(self.deep(self.down(x)))], 1)))


class Detector(nn.Module):
    """A YOLO's head on two scales: distances to the sides as a mean over softmax, scores by sigmoid, joined."""

    BINS = 8

    def __init__(self):
        super().__init__()
        self.enter, self.down = block(3, 16, 3, nn.SiLU, stride=2), block(16, 16, 3, nn.SiLU, stride=2)
        self.mix = block(16, 16, 3, nn.SiLU)
        self.deep, self.near = block(16, 16, 3, nn.SiLU, stride=2), block(32, 16, 1, nn.SiLU)
        self.box, self.score = nn.Conv2d(16, 4 * self.BINS, 1), nn.Conv2d(16, 3, 1)
        self.register_buffer("bins", torch.arange(self.BINS).float())
        steps = torch.cat([torch.full((36,), 4.0), torch.full((9,), 8.0)])
        grids = [torch.stack(torch.meshgrid(torch.arange(n), torch.arange(n), indexing="xy"), 0).flatten(1) + 0.5
                 for n in (6, 3)]
        self.register_buffer("steps", steps)
        self.register_buffer("anchors", torch.cat(grids, 1))

    def forward(self, x):
        near = self.mix(self.down(self.enter(x)))
        deep = self.deep(near)
        near = self.near(torch.cat([near, F.interpolate(deep, scale_factor=2.0, mode="nearest")], 1))
        box = torch.cat([self.box(near).flatten(2), self.box(deep).flatten(2)], 2)
        score = torch.cat([self.score(near).flatten(2), self.score(deep).flatten(2)], 2)
        parts = box.reshape(box.shape[0], 4, self.BINS, 45).softmax(2)
        sides = (parts * self.bins[None, None, :, None]).sum(2)
        first, last = self.anchors - sides[:, :2], self.anchors + sides[:, 2:]
        boxes = torch.cat([(first + last) / 2, last - first], 1) * self.steps
        return torch.cat([boxes, score.sigmoid()], 1)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 24, 4, 4)
        self.place = nn.Parameter(0.1 * torch.randn(1, 36, 24))
        self.blocks = nn.Sequential(Attention(24, 2), Attention(24, 2))
        self.norm, self.head = nn.LayerNorm(24), nn.Linear(24, 3)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.place
        return self.head(self.norm(self.blocks(x)).mean(1))


def kind_loss(out, kind, mask, box):
    return F.cross_entropy(out, kind)


def mask_loss(out, kind, mask, box):
    return F.cross_entropy(out, mask)


def box_loss(model):
    def loss(out, kind, mask, box):
        centre = model.anchors * model.steps
        near = ((centre[None] - box[:, :2, None]).abs().amax(1) < box[:, 2:]).float()
        error = (out[:, :2] - box[:, :2, None]).abs().sum(1) + (out[:, 2:4] - 2 * box[:, 2:, None]).abs().sum(1)
        wanted = F.one_hot(kind, 3)[:, :, None] * near[:, None]
        return (error * near).sum() / near.sum() / 10 + 5 * F.binary_cross_entropy(out[:, 4:], wanted)
    return loss


def networks():
    yield "mobilenet_v3", classifier(nn.Hardswish, *[Inverted(16, nn.Hardswish, nn.Hardsigmoid) for _ in range(3)]), kind_loss
    yield "efficientnet", classifier(nn.SiLU, *[Inverted(16, nn.SiLU, nn.Sigmoid) for _ in range(3)]), kind_loss
    yield "regnet", classifier(nn.ReLU, *[Grouped(16) for _ in range(4)]), kind_loss
    yield "unet", Segmenter(), mask_loss
    detector = Detector()
    yield "detector", detector, box_loss(detector)
    yield "transformer", Transformer(), kind_loss


def train(model, loss):
    optimizer = torch.optim.Adam(model.parameters(), 0.005)
    for _ in range(STEPS):
        image, *truth = pictures(32)
        optimizer.zero_grad()
        loss(model(image), *truth).backward()
        optimizer.step()


# ---- the simulation

ACTIVATIONS = {"relu", "hardswish", "silu", "hardsigmoid", "sigmoid", "gelu"}


class Simulation(fx.Interpreter):
    """Rounds every result that is stored: those that an activation alone reads are not."""

    def __init__(self, module):
        super().__init__(module)
        self.range, self.rounds = {}, False

    def is_stored(self, node):
        reader = next(iter(node.users)) if len(node.users) == 1 else None
        if reader is None:
            return True
        name = type(self.fetch_attr(reader.target)).__name__ if reader.op == "call_module" else getattr(
            reader.target, "__name__", str(reader.target))
        return name.lower() not in ACTIVATIONS

    def run_node(self, node):
        x = super().run_node(node)
        if not isinstance(x, torch.Tensor) or not x.is_floating_point() or node.op in ("get_attr", "output") or \
                not self.is_stored(node):
            return x
        low, high = self.range.get(node.name, (0.0, 0.0))
        if not self.rounds:
            self.range[node.name] = min(low, float(x.min())), max(high, float(x.max()))
            return x
        step = max((high - low) / 255, 1e-30)
        zero = round(-low / step) - 128
        return (torch.clamp(torch.round(x / step) + zero, -128, 127) - zero) * step


def round_weights(module):
    for layer in module.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear, nn.ConvTranspose2d)):
            axis = 1 if isinstance(layer, nn.ConvTranspose2d) else 0
            others = [d for d in range(layer.weight.dim()) if d != axis]
            step = layer.weight.data.abs().amax(others, keepdim=True).clamp_min(1e-30) / 127
            layer.weight.data = torch.round(layer.weight.data / step) * step


def sqnr(want, got):
    return float(10 * torch.log10((want**2).sum() / ((want - got) ** 2).sum()))


def simulated(model, calibration, tests, want):
    module = fuse(fx.symbolic_trace(copy.deepcopy(model)))
    simulation = Simulation(module)
    for x in calibration:
        simulation.run(x)
    round_weights(module)
    simulation.rounds = True
    return sqnr(want, torch.stack([simulation.run(x) for x in tests]))


def write(name, model):
    model = model.eval()
    calibration, tests = (pictures(n)[0][:, None] for n in (CALIBRATION, TESTS))
    with torch.no_grad():
        want = torch.stack([model(x) for x in tests])
        figure = simulated(model, calibration, tests, want)
    print(f"{name}: simulated {figure:.1f} dB")
    arrays = {"out0": want.numpy(), "simulated": numpy.array([figure], numpy.float32)}
    base.write_if_changed(FOLDER / f"{name}.pt2", base.archive_bytes(base.export(model, (tests[0],))))
    base.write_if_changed(FOLDER / "calibration.npz", base.arrays_bytes({"in0": calibration.numpy()}))
    base.write_if_changed(FOLDER / "tests.npz", base.arrays_bytes({"in0": tests.numpy()}))
    base.write_if_changed(FOLDER / f"{name}.npz", base.arrays_bytes(arrays))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for name, model, loss in networks():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            torch.manual_seed(1) # the same pictures for all
            train(model, loss)
            write(name, model)


if __name__ == "__main__":
    main()
