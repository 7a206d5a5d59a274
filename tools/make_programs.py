#!/usr/bin/env python3
"""Makes tests/programs: random small PyTorch programs of views and in-place writes, exported, and
what torch computes in two successive calls of each: all.npz has one vector per program, in which
each tensor (inputs, then outputs, call by call) is its rank, its sizes and its elements.

    python tools/make_programs.py

A program is grown statement by statement, each tried in eager mode first; what torch refuses is
dropped. It returns every name that is still of interest, so that reads after writes are seen.
Numbers stay exact: only sums, halves, negations and the like. Each kind of program (KINDS) stresses
one thing that functionalize has to get right; all of them mix in the others.
"""

import copy
import random
import sys
import zlib

import numpy
import torch
import torch.nn.functional as F
from torch import nn

import make_fixtures as make

PER_KIND = 36
CALLS = 2


# ---- statements -----------------------------------------------------------------------------------


def new_shape(rng, t):
    """Another shape of as many elements."""
    n, shape = t.numel(), []
    while n > 1 and len(shape) < 3:
        divisors = [d for d in range(2, n + 1) if n % d == 0]
        shape.append(rng.choice(divisors))
        n //= shape[-1]
    if n > 1:
        shape[-1] *= n
    return tuple(shape) or (1,)


def dim(rng, t):
    return rng.randrange(-t.dim(), t.dim()) if t.dim() else 0


def two_dims(rng, t):
    return f"{dim(rng, t)}, {dim(rng, t)}"


def permutation(rng, t):
    order = list(range(t.dim()))
    rng.shuffle(order)
    return tuple(order)


def index(rng, t):
    parts = []
    for size in t.shape:
        a = rng.randrange(size)
        parts.append(rng.choice([":", str(a), f"{a}:", f":{a + 1}", f"{a}::2", "..."]))
        if parts.count("...") > 1:
            parts[-1] = ":"
    return ", ".join(parts) or "..."


VIEWS = [
    lambda r, v, t: f"{v}[{index(r, t)}]",
    lambda r, v, t: f"{v}[{index(r, t)}]",
    lambda r, v, t: f"{v}.select({dim(r, t)}, 0)",
    lambda r, v, t: f"{v}.narrow({dim(r, t)}, 0, 1)",
    lambda r, v, t: f"{v}.transpose({two_dims(r, t)})",
    lambda r, v, t: f"{v}.permute({permutation(r, t)})",
    lambda r, v, t: f"{v}.view({new_shape(r, t)})",
    lambda r, v, t: f"{v}.view(-1)",
    lambda r, v, t: f"{v}.unsqueeze({dim(r, t)})",
    lambda r, v, t: f"{v}.squeeze()",
    lambda r, v, t: f"{v}.squeeze({dim(r, t)})",
    lambda r, v, t: f"{v}.diagonal()",
    lambda r, v, t: f"{v}.unfold({dim(r, t)}, 2, 2)",
    lambda r, v, t: f"{v}.split(2, {dim(r, t)})[-1]",
    lambda r, v, t: f"{v}.chunk(2, {dim(r, t)})[0]",
    lambda r, v, t: f"{v}.unbind({dim(r, t)})[0]",
    lambda r, v, t: f"{v}.tensor_split(2, {dim(r, t)})[1]",
    lambda r, v, t: f"{v}.movedim(0, -1)",
    lambda r, v, t: f"{v}.t()",
    lambda r, v, t: f"{v}.mT",
    lambda r, v, t: f"{v}.swapaxes({two_dims(r, t)})",
    lambda r, v, t: f"{v}.unflatten(0, (-1, 1))",
    lambda r, v, t: f"{v}.detach()",
    lambda r, v, t: f"{v}.view_as({v})",
    lambda r, v, t: f"torch.ops.aten.alias({v})",
    lambda r, v, t: f"{v}.as_strided(({max(1, t.numel() // 2)},), (1,))",
]
LIKE_COPIES = [  # views that look like copies
    lambda r, v, t: f"{v}.expand({v}.shape)",
    lambda r, v, t: f"{v}.expand_as({v})",
    lambda r, v, t: f"{v}.reshape({new_shape(r, t)})",
    lambda r, v, t: f"{v}.reshape(-1)",
    lambda r, v, t: f"{v}.to(torch.float32)",
    lambda r, v, t: f"{v}.flatten()",
    lambda r, v, t: f"{v}.reshape({tuple(t.shape)})",
    lambda r, v, t: f"{v}.ravel()",
]
RETURN_INPUT = [
    lambda r, v, t: f"F.dropout({v}, 0.5, False)",
    lambda r, v, t: f"self.drop({v})",
    lambda r, v, t: f"{v}.contiguous()",
    lambda r, v, t: f"{v}.reshape({tuple(t.shape)})",
    lambda r, v, t: f"{v}.to(torch.float32)",
    lambda r, v, t: f"{v}.type_as({v})",
    lambda r, v, t: f"{v}.float()",
    lambda r, v, t: f"{v}.flatten(0, 0)",
    lambda r, v, t: f"torch.atleast_1d({v})",
]
COPIES = [  # copies that look like views
    lambda r, v, t: f"{v}.clone()",
    lambda r, v, t: f"{v}.transpose({two_dims(r, t)}).contiguous()",
    lambda r, v, t: f"{v}.permute({permutation(r, t)}).reshape({new_shape(r, t)})",
    lambda r, v, t: f"{v}.transpose({two_dims(r, t)}).flatten()",
    lambda r, v, t: f"{v}.to(torch.int32).to(torch.float32)",
    lambda r, v, t: f"{v}.to(torch.float32, copy=True)",
    lambda r, v, t: f"{v}.transpose({two_dims(r, t)}).clone(memory_format=torch.contiguous_format)",
    lambda r, v, t: f"torch.ops.aten.view_copy({v}, [-1])",
    lambda r, v, t: f"torch.ops.aten.transpose_copy.int({v}, 0, -1)",
    lambda r, v, t: f"{v}.repeat({(1,) * max(1, t.dim())})",
]
VALUES = [
    lambda r, v, t: f"{v} + 1",
    lambda r, v, t: f"{v} * 0.5",
    lambda r, v, t: f"-{v}",
    lambda r, v, t: f"F.relu({v})",
    lambda r, v, t: f"{v}.abs() - 1",
    lambda r, v, t: f"{v} + {v}",
    lambda r, v, t: f"torch.zeros_like({v})",
    lambda r, v, t: f"torch.cat([{v}, {v}])",
]
WRITES = [
    lambda r, v, t: f"{v}.add_({r.randint(1, 4)})",
    lambda r, v, t: f"{v}.mul_(0.5)",
    lambda r, v, t: f"{v}.neg_()",
    lambda r, v, t: f"{v}.relu_()",
    lambda r, v, t: f"F.relu_({v})",
    lambda r, v, t: f"self.act({v})",
    lambda r, v, t: f"{v}.clamp_(-1, 2)",
    lambda r, v, t: f"{v}.abs_()",
    lambda r, v, t: f"{v}.zero_()",
    lambda r, v, t: f"{v}.fill_({r.randint(-3, 3)})",
    lambda r, v, t: f"{v}.copy_({v} + 1)",
    lambda r, v, t: f"{v}.sub_({v} * 0.25)",
    lambda r, v, t: f"{v}.masked_fill_({v} > 0, 7)",
    lambda r, v, t: f"{v}.add_({v})",
    lambda r, v, t: f"{v}.ge_(0)",
    lambda r, v, t: f"torch.add({v}, 1, out={v})",
]
ASSIGNS = [  # statements, not expressions
    lambda r, v, t: f"{v}[{index(r, t)}] = {r.randint(-5, 5)}",
    lambda r, v, t: f"{v}[{index(r, t)}] += 2",
    lambda r, v, t: f"{v}[{index(r, t)}] *= -0.5",
    lambda r, v, t: f"{v}[{index(r, t)}].transpose(0, -1).add_(3)",
    lambda r, v, t: f"{v} += 1",
    lambda r, v, t: f"{v}[{v} > 1] = 1",
    lambda r, v, t: f"{v}.index_fill_(0, torch.tensor([0]), 4)",
    lambda r, v, t: f"{v}.index_put_((torch.tensor([0]),), torch.tensor(2.0))",
]
METADATA = [
    lambda r, v, t: f"{v}.unsqueeze_({dim(r, t)})",
    lambda r, v, t: f"{v}.squeeze_()",
    lambda r, v, t: f"{v}.squeeze_({dim(r, t)})",
    lambda r, v, t: f"{v}.t_()",
    lambda r, v, t: f"{v}.transpose_({two_dims(r, t)})",
    lambda r, v, t: f"{v}.swapaxes_({two_dims(r, t)})",
    lambda r, v, t: f"{v}.detach_()",
]
CHANNELS_LAST = [
    lambda r, v, t: f"{v}.contiguous(memory_format=torch.channels_last)",
    lambda r, v, t: f"{v}.to(memory_format=torch.channels_last)",
    lambda r, v, t: f"{v}.clone(memory_format=torch.channels_last)",
    lambda r, v, t: f"{v}.contiguous()",
    lambda r, v, t: f"{v}.permute(0, 2, 3, 1)",
    lambda r, v, t: f"{v}.permute(0, 2, 3, 1).reshape(-1)",
    lambda r, v, t: f"{v}.permute(0, 2, 3, 1).view(-1)",
    lambda r, v, t: f"{v}.flatten(2)",
    lambda r, v, t: f"{v}.reshape({tuple(t.shape[:2])} + (-1,))",
    lambda r, v, t: f"{v}[:, 0]",
    lambda r, v, t: f"{v}[:, :, 1:]",
    lambda r, v, t: f"{v} + 1",
]

# kind: which groups are drawn from, with weights
BASE = {"views": 4, "writes": 4, "assigns": 2, "values": 1}
KINDS = {
    "views": BASE,
    "chains": {**BASE, "views": 9},
    "buffers": BASE,
    "inputs": {**BASE, "writes": 6},
    "returns_input": {**BASE, "return_input": 5},
    "metadata": {**BASE, "metadata": 5, "values": 3},
    "copies": {**BASE, "copies": 5},
    "like_copies": {**BASE, "like_copies": 5},
    "channels_last": {**BASE, "channels_last": 5},
    "everything": {**BASE, "return_input": 2, "metadata": 2, "copies": 2, "like_copies": 2,
                   "channels_last": 1},
}
GROUPS = {"views": VIEWS, "writes": WRITES, "assigns": ASSIGNS, "values": VALUES,
          "return_input": RETURN_INPUT, "metadata": METADATA, "copies": COPIES,
          "like_copies": LIKE_COPIES, "channels_last": CHANNELS_LAST}
SHAPES = [(6,), (2, 3), (4, 4), (2, 3, 4), (1, 4), (2, 2, 2, 3), (3, 1, 2)]


# ---- programs -------------------------------------------------------------------------------------


class Program(nn.Module):
    def __init__(self, source, buffers):
        super().__init__()
        self.drop = nn.Dropout(0.3)
        self.act = nn.ReLU(inplace=True)
        for name, value in buffers.items():
            self.register_buffer(name, value)
        scope = {"torch": torch, "F": F}
        exec(compile(source, "/model.py", "exec"), scope)  # noqa: S102
        self.function = scope["forward"]
        self.eval()

    def forward(self, x, y):
        return self.function(self, x, y)


def small(shape):
    """Quarters, so that sums and halves are exact."""
    return torch.randint(-12, 12, shape).float() / 4


class Grower:
    def __init__(self, kind, rng):
        self.kind, self.rng = kind, rng
        shape = rng.choice(SHAPES) if kind != "channels_last" else (2, 3, 2, 4)
        self.inputs = [small(shape), small(rng.choice(SHAPES))]
        if kind == "channels_last" or (kind == "everything" and len(shape) == 4):
            self.inputs[0] = self.inputs[0].to(memory_format=torch.channels_last)
        self.buffers = {"b": small(rng.choice(SHAPES))} if kind == "buffers" else {}
        self.lines, self.names, self.written = [], ["x", "y"], 0
        self.module = Program("def forward(self, x, y): pass", copy.deepcopy(self.buffers))
        self.scope = {"torch": torch, "F": F, "self": self.module,
                      "x": self.inputs[0].clone(), "y": self.inputs[1].clone()}

    def start(self):
        """What is written is mostly a value of the program, not an input."""
        if self.kind == "buffers":
            self.keep("self.b", "s")
        if self.kind != "inputs":
            self.keep("x + 1" if self.rng.random() < 0.7 else "x.clone()", "v0")

    def keep(self, expression, name):
        line = f"{name} = {expression}"
        exec(line, self.scope)  # noqa: S102
        self.lines.append(line)
        if name not in self.names:
            self.names.append(name)

    def usable(self):
        names = [n for n in self.names if isinstance(self.scope[n], torch.Tensor)]
        if self.kind not in ("inputs", "everything"):
            names = [n for n in names if n not in "xy"]
        return names

    def metadata_ok(self, name):
        """Metadata of what lives outside of the program is left alone."""
        return self.scope[name] is not self.scope["x"] and self.scope[name] is not self.scope["y"] \
            and name not in ("x", "y", "s")

    def step(self):
        weights = KINDS[self.kind]
        group = self.rng.choices(list(weights), list(weights.values()))[0]
        recent = self.usable()[-4:]
        name = self.rng.choice(recent if self.rng.random() < 0.7 else self.usable())
        tensor = self.scope[name]
        if not tensor.is_floating_point() or tensor.numel() == 0:
            return
        if group == "metadata" and not self.metadata_ok(name):
            return
        try:
            text = self.rng.choice(GROUPS[group])(self.rng, name, tensor)
            if group == "assigns":
                exec(text, self.scope)  # noqa: S102
                self.lines.append(text)
                self.written += 1
                return
            value = eval(text, self.scope)  # noqa: S307
        except (RuntimeError, IndexError, ValueError, TypeError):
            return
        if not isinstance(value, torch.Tensor) or value.numel() > 200 or value.dim() > 5:
            return
        self.written += group == "writes"
        if group in ("writes", "metadata") and self.rng.random() < 0.6:
            self.lines.append(text)
            return
        fresh = f"v{len(self.names)}"
        self.lines.append(f"{fresh} = {text}")
        self.scope[fresh] = value
        self.names.append(fresh)

    def source(self):
        returned = [n for n in self.names if n not in "xy"] or ["x"]
        if self.kind in ("inputs", "everything") and self.rng.random() < 0.5:
            returned.append("x")
        if len(returned) > 6:
            returned = self.rng.sample(returned, 6)
        body = "\n    ".join(self.lines)
        return f"def forward(self, x, y):\n    {body}\n    return {', '.join(returned)},\n"


def grow(kind, seed):
    rng = random.Random(seed)
    torch.manual_seed(seed)
    g = Grower(kind, rng)
    g.start()
    steps = rng.randint(5, 14)
    for _ in range(200):
        if len(g.lines) >= steps and g.written >= 2:
            break
        g.step()
    return g if g.written >= 1 else None


def run_calls(module, calls):
    with torch.no_grad():
        return [make.flatten(copy.deepcopy(module(*copy.deepcopy(inputs)))) for inputs in calls]


def same(a, b):
    return len(a) == len(b) and all(torch.equal(p, q) for p, q in zip(a, b))


def build(kind, seed):
    """(archive, record, source), or None if torch itself refuses the program or exports it wrongly."""
    g = grow(kind, seed)
    if g is None:
        return None
    source = g.source()
    module = Program(source, copy.deepcopy(g.buffers))
    strides = [i.is_contiguous() for i in g.inputs]
    calls = [tuple(g.inputs)]
    for _ in range(CALLS - 1):
        more = tuple(small(i.shape) for i in g.inputs)
        calls.append(tuple(m if ok else m.to(memory_format=torch.channels_last)
                           for m, ok in zip(more, strides)))
    try:
        program = make.export(module, calls[0])
        archive = make.archive_bytes(program)  # before its buffers are written
        outputs = run_calls(copy.deepcopy(module), calls)
        exported = run_calls(program.module(check_guards=False), calls)
    except Exception:  # any refusal of torch will do
        return None
    if not all(same(a, b) for a, b in zip(outputs, exported)):
        return None
    record = []
    for k in range(CALLS):
        for tensor in list(calls[k]) + outputs[k]:
            record += [tensor.dim(), *tensor.shape, *tensor.flatten().tolist()]
    return archive, numpy.array(record, dtype=numpy.float32), source


def main():
    torch.set_num_threads(1)
    folder = make.ROOT / "tests/programs"
    show = len(sys.argv) > 1 and sys.argv[1] == "--show"
    everything, refused = {}, 0
    for kind in KINDS:
        made, seed = 0, zlib.crc32(kind.encode())
        while made < PER_KIND:
            seed += 1
            result = build(kind, seed)
            if result is None:
                refused += 1
                continue
            name = f"{kind}_{made:02d}"
            if show:
                print(f"---- {name}\n{result[2]}")
            make.write_if_changed(folder / f"{name}.pt2", result[0])
            everything[name] = result[1]
            made += 1
    make.write_if_changed(folder / "all.npz", make.arrays_bytes(everything))
    print(f"{len(KINDS) * PER_KIND} programs; torch refused {refused}")


if __name__ == "__main__":
    main()
