"""Modules and exported programs, whose exceptions name the line of Python."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corten

torch = pytest.importorskip("torch")
nn = torch.nn


class SmallNet(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.act = nn.SiLU(inplace=True)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        x = self.act(self.norm(self.conv(x)))
        return self.head(self.drop(x.mean((2, 3))))


class Pair(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.left, self.right = nn.Linear(6, 5), nn.Linear(4, 5)

    def forward(self, a: Any, b: Any) -> Any:
        left, right = self.left(a), self.right(b)
        return left + right, torch.relu(left - right)


class Counter(nn.Module):  # type: ignore[misc]
    """A moving average: its state goes on from call to call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(1, 4))

    def forward(self, x: Any) -> Any:
        self.mean.mul_(0.5).add_(0.5 * x)
        return self.mean + 0


class Sampler(nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        y = torch.relu(x)
        return torch.fft.rfft(y).real


IMAGES = torch.rand(24, 3, 12, 12, generator=torch.Generator().manual_seed(3))


def sqnr(wanted: Any, got: Any) -> float:
    wanted, got = np.asarray(wanted, np.float64), np.asarray(got, np.float64)
    return float(10 * np.log10((wanted**2).sum() / ((wanted - got) ** 2).sum()))


def test_a_module_becomes_c_in_four_lines(tmp_path: Path) -> None:
    model = SmallNet()
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(IMAGES, torch.arange(24) % 4), batch_size=8
    )
    compiled = corten.compile(model, calibration=loader, target="cortex-m55", out=tmp_path / "net")
    assert compiled.name == "small_net" and (tmp_path / "net" / "small_net.c").is_file()
    wanted = model.eval()(IMAGES).detach().numpy()
    assert sqnr(wanted, compiled.run(IMAGES)) > 25
    verified = compiled.verify(loader)
    assert verified.samples == 24 and verified.top1_float is not None
    folder = tmp_path / "elsewhere"  # the archive moves with its folder
    (tmp_path / "net").rename(folder)
    assert corten.load(folder).verify(loader).output_sqnr_db == verified.output_sqnr_db


def test_the_module_is_left_as_it_was() -> None:
    model = SmallNet()
    model.norm.eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    corten.compile(model, calibration=IMAGES)
    assert model.training and model.drop.training and not model.norm.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_module_program_and_archive_are_the_same(tmp_path: Path) -> None:
    model = SmallNet().eval()
    program = torch.export.export(model, (IMAGES[:1],))
    torch.export.save(program, tmp_path / "small_net.pt2")
    texts = {
        corten.compile(given, calibration=IMAGES, **more).c_files["small_net.c"]
        for given, more in (
            (model, {}),
            (program, {"name": "small_net"}),
            (str(tmp_path / "small_net.pt2"), {}),
        )
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    "calibration",
    [
        IMAGES.numpy(),
        [one[None] for one in IMAGES],
        [(IMAGES, torch.zeros(24))],
        ((IMAGES[i : i + 6], {"any": "label"}) for i in range(0, 24, 6)),
        [{"x": IMAGES}],
        IMAGES.to(torch.bfloat16),
        IMAGES.to(torch.float64),
    ],
    ids=["ndarray", "list", "tuples", "generator", "mappings", "bfloat16", "float64"],
)
def test_calibration_of_every_kind(calibration: Any) -> None:
    compiled = corten.compile(SmallNet(), calibration=calibration)
    wanted = SmallNet().eval()(IMAGES).detach().numpy()
    assert sqnr(wanted, compiled.run(IMAGES)) > 25


def test_several_inputs_and_outputs() -> None:
    model = Pair().eval()
    a, b = torch.randn(32, 1, 6), torch.randn(32, 1, 4)
    compiled = corten.compile(model, (a[0], b[0]), calibration=[(a, b)])
    assert [t.shape for t in compiled.inputs] == [[1, 6], [1, 4]]
    got = compiled.run(a, b)
    wanted = model(a, b)
    assert isinstance(got, tuple) and len(got) == 2
    for w, g in zip(wanted, got, strict=True):
        assert sqnr(w.detach().numpy()[:, 0], g) > 25
    by_name = compiled.run({"b": b.numpy(), "a": a.numpy()})
    assert all(np.array_equal(x, y) for x, y in zip(by_name, got, strict=True))
    labelled = corten.compile(model, calibration=[(a[k], b[k], k) for k in range(32)])
    nested = corten.compile(model, calibration=[((a[k], b[k]), k) for k in range(32)])
    assert labelled.c_files["pair.c"] == nested.c_files["pair.c"] == compiled.c_files["pair.c"]
    with pytest.raises(corten.InputError, match="no array for input 1"):
        compiled.run(a)


def test_state_goes_on_until_reset() -> None:
    xs = torch.rand(16, 1, 4)
    compiled = corten.compile(Counter(), calibration=xs)
    together = compiled.run(xs)
    compiled.reset()
    alone = np.concatenate([compiled.run(x) for x in xs])
    assert np.array_equal(together, alone)
    assert not np.array_equal(compiled.run(xs[0]), alone[:1])
    compiled.reset()
    assert np.array_equal(compiled.run(xs[0]), alone[:1])
    model = Counter()
    wanted = torch.cat([model(x) for x in xs]).numpy()
    assert sqnr(wanted, alone) > 30


def test_a_fault_names_node_line_and_source() -> None:
    with pytest.raises(corten.CompileError) as caught:
        corten.compile(Sampler(), calibration=torch.rand(8, 1, 16))
    fault = next(d for d in caught.value.diagnostics if "fft" in d.message)
    lines, first = inspect.getsourcelines(Sampler.forward)
    line = first + next(i for i, text in enumerate(lines) if "rfft" in text)
    assert fault.file == Path(__file__).name and fault.line == line
    assert fault.source and "torch.fft.rfft(y).real" in fault.source
    assert f"{fault.file}:{line}: error: " in str(caught.value)


def test_nodes_have_their_lines() -> None:
    compiled = corten.compile(SmallNet(), calibration=IMAGES)
    conv = next(n for n in compiled.nodes if n.op == "aten.conv2d")
    lines, first = inspect.getsourcelines(SmallNet.forward)
    line = first + next(i for i, text in enumerate(lines) if "self.conv" in text)
    assert conv.module == "conv" and conv.source == f"{Path(__file__).name}:{line}"


def test_a_module_needs_an_example(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give example_inputs=, or calibration= samples"):
        corten.compile(SmallNet())
    np.save(tmp_path / "x.npy", IMAGES.numpy())
    with pytest.raises(ValueError, match="example_inputs"):
        corten.compile(SmallNet(), calibration=tmp_path / "x.npy")
    compiled = corten.compile(SmallNet(), IMAGES[:1], calibration=tmp_path / "x.npy")
    assert compiled.name == "small_net"


def test_samples_that_the_module_does_not_take_are_named() -> None:
    with pytest.raises(corten.InputError, match=r"does not take float32\[1, 1, 8, 8\]") as caught:
        corten.compile(SmallNet(), calibration=torch.rand(4, 1, 8, 8))
    assert isinstance(caught.value.__cause__, RuntimeError)


class Branching(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x - 1


def test_a_module_that_torch_cannot_export_is_a_compile_error() -> None:
    with pytest.raises(corten.CompileError, match=r"torch.export cannot export the model for float32\[1, 4\]"):
        corten.compile(Branching(), calibration=torch.rand(4, 4))


def test_inspect_a_module() -> None:
    found = corten.inspect(SmallNet(), IMAGES[:1])
    assert found.inputs[0].name == "x" and found.without_integer_form == 0
    assert len(found.in_place_writes) == 1
