"""Compiling, and what comes of it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Iterable, Literal, Mapping, Sequence

from . import _arrays, _records, _torch
from ._library import Array, Model, Progress, call

PathLike = str | os.PathLike[str]
Precision = Literal["int8", "int16", "w4", "float"]
Export = Literal["cmake", "make", "arduino", "zephyr", "cmsis-pack"]


def _numbers(values: Sequence[float] | float | None) -> str | None:
    if values is None:
        return None
    given = values if isinstance(values, Sequence) else [values]
    return ",".join(repr(float(x)) for x in given)


def _precision(rules: PathLike | Mapping[str, Precision] | None) -> dict[str, Any]:
    if rules is None:
        return {}
    if isinstance(rules, Mapping):
        return {"precision_text": "\n".join(f"{k} = {v}" for k, v in rules.items())}
    return {"precision_file": rules}


def _memory(memory: PathLike | Mapping[str, Any] | None) -> dict[str, Any]:
    if memory is None:
        return {}
    if isinstance(memory, Mapping):
        return {"memory_text": json.dumps(memory)}
    return {"memory_file": memory}


def _archive(model: Any, example: Any, calibration: Any, name: str | None) -> dict[str, Any]:
    """The fields that say what to compile: a path, or an archive in memory and its name."""
    if isinstance(model, (str, os.PathLike)):
        return {"model": os.fspath(model), "name": name}
    if not _torch.is_module(model) and not _torch.is_program(model):
        kind = type(model).__name__
        raise TypeError(f"model of type {kind}: a path, a torch module or exported program is needed")
    examples = [example]
    if _torch.is_module(model) and example is None:
        examples = _arrays.first_examples(calibration, _torch.input_count(model))
        if not examples:
            raise ValueError(
                "a module is exported with one call's inputs: give example_inputs=, or "
                "calibration= samples, of which the first is taken"
            )
    data = _torch.archive_of(model, examples)
    return {"model": f"{_torch.name_of(model)}.pt2", "archive_data": data, "name": name}


def _input_scale(name: str, grid: tuple[float, int] | str) -> str:
    return f"{name}={grid}" if isinstance(grid, str) else f"{name}={float(grid[0])!r},{grid[1]}"


def compile(
    model: Any,
    example_inputs: Any = None,
    calibration: Any = None,
    target: str = "cortex-m55",
    out: PathLike | None = None,
    *,
    name: str | None = None,
    observer: Literal["minmax", "percentile", "mse"] | None = None,
    precision: PathLike | Mapping[str, Precision] | None = None,
    input_scale: Mapping[str, tuple[float, int] | Literal["pixels"]] | None = None,
    accuracy_budget: float = 0.0,
    allow_float: bool = False,
    io: Literal["int8", "int16", "float", "uint8"] | None = None,
    io_layout: Literal["nchw", "nhwc"] | None = None,
    isa: Literal["v6m", "v7m", "dsp", "mve", "c"] | None = None,
    optimize: Literal["speed", "size"] | None = None,
    ram: int = 0,
    flash: int = 0,
    keep_inputs: bool = False,
    bind_inputs: bool = False,
    bind_outputs: bool = False,
    memory: PathLike | Mapping[str, Any] | None = None,
    arena: str | None = None,
    emit: Literal["c", "tosa", "pte"] | None = None,
    bundle: bool = False,
    export: Sequence[Export] = (),
    threads: int = 0,
    mean: Sequence[float] | float | None = None,
    std: Sequence[float] | float | None = None,
    progress: Progress | None = None,
) -> Compiled:
    """Compile a model to integer C.

    Args:
        model: The path of a ``torch.export`` archive (no torch is needed), an ``ExportedProgram``,
            or an ``nn.Module``, which is exported in eval mode and left as it was.
        example_inputs: What the module is exported with: a tensor, a tuple of tensors, or a mapping
            of keyword arguments. By default the first sample of `calibration`.
        calibration: Data to measure ranges with: a path (``.npy``, ``.npz``, a folder of those or
            of images) or several, an array or tensor whose first axis counts samples, a mapping of
            input names to such arrays, or an iterable, such as a ``DataLoader``, of tensors, of
            tuples of inputs, or of tuples of inputs and labels.
        target: The CPU; :func:`targets` lists them.
        out: The folder to write. By default a temporary one that lives as long as the result.
        name: What the C calls the model; by default after the file or the class.
        observer: How ranges are chosen.
        precision: Bits by node or module: a mapping of name patterns (``"head.*"``) to int8,
            int16, w4 or float, or a file with such lines.
        input_scale: Fixed quantization of inputs: name to (scale, zero point), or to "pixels" for
            the bytes of images, with `mean` and `std` in the first layer.
        accuracy_budget: Raise nodes to int16 until the outputs have this SQNR in dB.
        allow_float: Leave nodes without an integer form in float instead of stopping.
        io: Type of inputs and outputs of the C functions.
        io_layout: Order of image dimensions at the C functions.
        isa: A lower instruction set level than the CPU's own.
        optimize: What to choose where speed and size are at odds.
        ram: Refuse to need more bytes than this; 0 is no limit.
        flash: Likewise.
        keep_inputs: Do not reuse the memory of inputs during a run.
        bind_inputs: Inputs lie in buffers of the caller's of the C, bound before each run.
        bind_outputs: Likewise for outputs.
        memory: The chip's memories, as a JSON file describes them or as the mapping itself: the
            hottest buffers go to the fastest.
        arena: The name of the program's array that is the arena, which several models may share.
        emit: What to write; ``tosa`` is a TOSA 1.0 program instead of C, ``pte`` one for
            ExecuTorch's runtime.
        bundle: With ``emit="pte"``: also a bundled program, with inputs and expected outputs.
        export: Also write folders that those build systems take.
        threads: For calibration; 0 is one per processor.
        mean: Of images in folders, per channel, in 0..1.
        std: Likewise.
        progress: Called with what is being done and how much of it; returning False stops.

    Raises:
        CompileError: The model cannot be compiled as asked; `diagnostics` has every reason, with
            the node, the module and the line of Python.
        UsageError: An unknown CPU or option.
        InputError: A file or array is missing, malformed or of the wrong shape.
    """
    if isinstance(calibration, Iterator):
        calibration = list(calibration)
    archive = _archive(model, example_inputs, calibration, name)
    inputs = 1 if "archive_data" not in archive else _torch.input_count(model)
    if "archive_data" not in archive and not _needs_no_count(calibration):
        inputs = len(inspect(model).inputs)
    data = _arrays.collect(calibration, inputs)
    folder = Path(tempfile.mkdtemp(prefix="corten-") if out is None else out)
    compiled = Compiled(folder, temporary=out is None)
    call(
        "compile",
        progress,
        **archive,
        target=target,
        out=folder,
        calibrate=data.paths,
        calibrate_data=data.sets,
        observer=observer,
        **_precision(precision),
        input_scale=[_input_scale(k, v) for k, v in (input_scale or {}).items()],
        accuracy_budget_db=accuracy_budget,
        allow_float=allow_float,
        io=io,
        io_layout=io_layout,
        isa=isa,
        optimize=optimize,
        ram=ram,
        flash=flash,
        keep_inputs=keep_inputs,
        bind_inputs=bind_inputs,
        bind_outputs=bind_outputs,
        **_memory(memory),
        arena=arena,
        emit=emit,
        bundle=bundle,
        exports=export,
        threads=threads,
        mean=_numbers(mean),
        std=_numbers(std),
    )
    return compiled


def _needs_no_count(data: Any) -> bool:
    """Data that is the same however many inputs there are."""
    return isinstance(data, (str, os.PathLike, Mapping)) or data is None or _arrays.is_array(data)


def load(folder: PathLike) -> Compiled:
    """The result of an earlier compile, by this package or by the command line."""
    compiled = Compiled(Path(folder))
    if not compiled.folder.joinpath("report.json").is_file():
        call("report", model=compiled.folder, json=True)  # raises what is wrong
    return compiled


class Compiled:
    """A compiled model: the C, the report, and a simulator that computes what the chip does.

    Threads may share it; their runs come one after the other. :attr:`folder` holds its files.
    """

    def __init__(self, folder: Path, temporary: bool = False) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        if temporary:
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def __repr__(self) -> str:
        r = self.report
        return (
            f"<corten.Compiled {r['name']} for {r['target']}: {len(r['calls'])} calls, "
            f"{r['macs']:,} MACs, arena {r['arena_bytes']:,} bytes, "
            f"weights {r['weights_bytes']:,} bytes>"
        )

    @cached_property
    def report(self) -> dict[str, Any]:
        """All of ``report.json``."""
        text = self.folder.joinpath("report.json").read_text(encoding="utf-8")
        report: dict[str, Any] = json.loads(text)
        return report

    @property
    def name(self) -> str:
        """What the C calls the model."""
        return str(self.report["name"])

    @property
    def inputs(self) -> list[_records.Tensor]:
        """The inputs as they cross the C boundary."""
        return [_records.record(_records.Tensor, t) for t in self.report["inputs"]]

    @property
    def outputs(self) -> list[_records.Tensor]:
        """The outputs as they cross the C boundary."""
        return [_records.record(_records.Tensor, t) for t in self.report["outputs"]]

    @cached_property
    def nodes(self) -> list[_records.Node]:
        """Each node of the exported program, once, and what became of it."""
        return [_records.record(_records.Node, n) for n in self.report["nodes"]]

    @cached_property
    def calls(self) -> list[_records.Call]:
        """The kernel calls, in the order of execution."""
        return [_records.record(_records.Call, c) for c in self.report["calls"]]

    @cached_property
    def c_files(self) -> dict[str, str]:
        """What goes into the firmware: C sources and headers by their path within the folder."""
        names = [n for n in self.report["files"] if n.endswith((".c", ".h", ".S"))]
        return {n: self.folder.joinpath(n).read_text(encoding="utf-8") for n in names}

    @property
    def tosa(self) -> bytes | None:
        """The TOSA program, if that was asked for with ``emit="tosa"``."""
        path = self.folder / f"{self.name}.tosa"
        return path.read_bytes() if path.is_file() else None

    @property
    def pte(self) -> bytes | None:
        """The ExecuTorch program, if that was asked for with ``emit="pte"``."""
        path = self.folder / f"{self.name}.pte"
        return path.read_bytes() if path.is_file() else None

    @cached_property
    def _model(self) -> Model:
        return Model(self.folder)

    def _data(self, x: Any) -> _arrays.Data:
        live = [t for t in self.inputs if t.shape is not None]
        rank = len(live[0].shape or []) if live else None
        return _arrays.collect(x, len(live), rank)

    def run(
        self,
        *x: Any,
        raw: bool = False,
        on: Literal["simulator", "float", "qemu"] = "simulator",
        progress: Progress | None = None,
    ) -> Any:
        """What the chip computes, bit for bit.

        Args:
            x: The inputs as in a call of the model: arrays, tensors or numbers, each one sample or
                with a first axis of samples; or one mapping of names to arrays; or one path.
                int8 and int16 arrays are taken as quantized already.
            raw: Leave quantized outputs as the integers they are, instead of float32.
            on: ``float`` runs the exported program instead, ``qemu`` a simulated chip.
            progress: As for :func:`compile`.

        Returns:
            An array, or a tuple of them when the model has several outputs, also where the module
            gives a dict: in the order of :attr:`outputs`. Samples lie along a first axis if they
            did so in the inputs.

        State, where a model has it, goes on from run to run, as on the chip, until :meth:`reset`.
        Runs in float or on QEMU start afresh each time.
        """
        options: dict[str, Any] = {}
        if len(x) == 1 and isinstance(x[0], (str, os.PathLike)):
            options["input"] = x[0]
        else:
            named = x[0] if len(x) == 1 and isinstance(x[0], Mapping) else None
            given = named or {f"arr_{k}": v for k, v in enumerate(x)}
            options["input_data"] = [{name: _arrays.to_array(v) for name, v in given.items()}]
        if on == "simulator":
            with self._lock:
                answer = self._model.run(progress, raw=raw, **options)
        else:
            answer = call("run", progress, model=self.folder, raw=raw, on=on, **options)
        arrays: list[Array] = [array for _, array in answer.outputs]
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def reset(self) -> None:
        """Put the model's state back to what it is before the first run."""
        with self._lock:
            self._model.reset()

    def verify(
        self,
        x: Any,
        labels: Any = None,
        *,
        on: Literal["host", "qemu"] = "host",
        limit: int = 0,
        mean: Sequence[float] | float | None = None,
        std: Sequence[float] | float | None = None,
        progress: Progress | None = None,
    ) -> _records.Verification:
        """The integer model against the float one, node by node and at the outputs.

        Args:
            x: Data in any of the forms of `calibration` of :func:`compile`.
            labels: A class number per sample: an array, a ``.npy``, or the name of an array in the
                ``.npz`` that `x` is. By default those that come with the elements of `x`.
            on: ``qemu`` runs a simulated chip too and compares, bit for bit.
            limit: Only that many samples.
            mean: Of images in folders, per channel, in 0..1.
            std: Likewise.
            progress: As for :func:`compile`.
        """
        data = self._data(x)
        if len(data.paths) > 1 or (data.paths and data.sets):
            raise ValueError("x: one path, or arrays, can be verified at a time")
        named = isinstance(labels, (str, os.PathLike))
        if labels is None:
            labels = data.labels
        answer = call(
            "verify",
            progress,
            model=self.folder,
            json=True,
            on=on,
            limit=limit,
            input=data.paths[0] if data.paths else None,
            input_data=data.sets,
            labels=labels if named else None,
            labels_data=None if named or labels is None else _arrays.to_array(labels),
            mean=_numbers(mean),
            std=_numbers(std),
        )
        return _records.verification(json.loads(answer.text))


def inspect(model: Any, example_inputs: Any = None) -> _records.Inspection:
    """What is in a model and what each node would become, before any data.

    Args:
        model: As for :func:`compile`.
        example_inputs: Likewise; a module needs them.
    """
    answer = call("inspect", json=True, **_archive(model, example_inputs, None, None))
    return _records.inspection(json.loads(answer.text))


def ops() -> list[_records.Operator]:
    """The operator table."""
    rows: Iterable[dict[str, Any]] = json.loads(call("ops", json=True).text)
    return [_records.record(_records.Operator, row) for row in rows]


def targets() -> list[_records.Target]:
    """The CPUs."""
    rows: Iterable[dict[str, Any]] = json.loads(call("targets", json=True).text)
    return [_records.record(_records.Target, row) for row in rows]
