#!/usr/bin/env python3
"""Makes tests/import/<name>.pt2 with a real torch: archives with every kind of input, weight,
argument and output; and <name>.npz with the data that torch has for each parameter, buffer and
constant, by its name in the module, for comparison with what Corten reads."""

import io
import pathlib
import zipfile

import numpy
import torch
from torch import nn

from make_fixtures import ROOT, archive_bytes, arrays_bytes, to_array, write_if_changed

FOLDER = ROOT / "tests" / "import"


class Sub(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 4).t())  # transposed strides
        self.register_buffer("empty", torch.zeros(0, 3), persistent=False)
        self.act = nn.SiLU(inplace=True)

    def forward(self, x):
        y = self.act(x @ self.w + 2.5)
        return y + torch.tensor(1.5) + self.empty.sum()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Sub(), nn.Linear(3, 4)])
        self.tied = nn.Linear(3, 4, bias=False)
        self.tied.weight = self.blocks[1].weight
        self.brain = nn.Parameter(torch.randn(4, dtype=torch.bfloat16))
        self.half16 = nn.Parameter(torch.randn(4, dtype=torch.float16))
        self.wide = nn.Parameter(torch.randn(4, dtype=torch.float64))
        self.last = nn.Parameter(
            torch.randn(1, 2, 3, 3).to(memory_format=torch.channels_last))
        self.same = nn.Parameter(torch.full((1,), 0.25).expand(4))  # stride 0
        storage = torch.arange(10.0)
        self.register_buffer("head", storage[1:5])  # one storage, two offsets
        self.register_buffer("tail", storage[2:10:2])
        self.register_buffer("count", torch.tensor(7))
        self.register_buffer("mask", torch.tensor([True, False, True, True]))
        self.register_buffer("bytes", torch.tensor([1, -2, 3, -4], dtype=torch.int8))
        self.register_buffer("unused", torch.zeros(1000))

    def forward(self, x, times, flag=None):
        a = self.blocks[0](x)
        b = self.blocks[1](a) + self.tied(a) * times
        b = b + self.brain.float() + self.half16.float() + self.wide.float() + self.same
        b = b + self.last.sum() + self.head * self.tail + self.bytes
        b = torch.where(self.mask, b, 0.0)
        self.count.add_(1)
        left, right = b.chunk(2, dim=1)
        values, places = torch.max(
            b, dim=1)
        return {"b": b, "list": [left, None, x, 3]}, values, places, self.count + 0, right


class Region(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            a = self.fc(x).relu()
        return a + x, a


class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("sum", torch.zeros(1, 4))

    def forward(self, x):
        self.sum.add_(x)
        return self.sum * 0.5


def make(name, module, inputs, strict=False, functional=False):
    program = torch.export.export(module.eval(), inputs, strict=strict)
    if functional:
        program = program.run_decompositions({})
    arrays = {key: to_array(value.to(torch.float32) if value.is_floating_point() else value)
              for key, value in {**program.state_dict, **program.constants}.items()}
    write_if_changed(FOLDER / f"{name}.pt2", archive_bytes(program))
    write_if_changed(FOLDER / f"{name}.npz", arrays_bytes(arrays))


def main():
    torch.manual_seed(0)
    net = Net()
    make("everything", net, (torch.randn(2, 4), 3))
    make("everything_strict", net, (torch.randn(2, 4), 3), strict=True)
    make("region", Region(), (torch.randn(2, 4),))
    make("functional", State(), (torch.randn(1, 4),), functional=True)


if __name__ == "__main__":
    main()
