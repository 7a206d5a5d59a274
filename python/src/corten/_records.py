"""What the library tells as JSON, as records. Members that a later library adds are in the JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Mapping, TypeVar

T = TypeVar("T")


def record(kind: type[T], values: Mapping[str, Any]) -> T:
    """The record with those of the values that it has members for."""
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in values.items() if name in known})


@dataclass(frozen=True)
class Node:
    """A node of the exported program and what became of it."""

    name: str
    op: str
    numeric: str
    """``int8``, ``int16``, ``int32``, ``int64``, ``bool``, ``float`` or ``none``"""
    fate: str
    """``kernel``, ``fused``, ``folded``, ``moved`` or ``removed``"""
    into: list[str]
    """The kernel calls that do its work."""
    macs: int = 0
    module: str | None = None
    source: str | None = None
    """``model.py:41``"""
    reason: str | None = None
    weights: str | None = None
    """``int8``, ``int4`` ... where it has any"""
    sqnr_db: float | None = None
    """Against the float program, on the calibration data."""


@dataclass(frozen=True)
class Call:
    """A kernel call of the emitted C, in the order of execution."""

    name: str
    kernel: str
    macs: int
    arena: list[list[int]]
    """``[offset, bytes]`` of each part of the arena that it reads, writes or scratches in."""
    scratch_bytes: int
    weights_bytes: int
    instructions_estimate: int | None = None


@dataclass(frozen=True)
class Tensor:
    """An input or output as it crosses the C boundary, or as the program has it (inspect)."""

    name: str | None
    dtype: str
    shape: list[int] | None
    scale: float | None = None
    zero_point: int | None = None
    sqnr_db: float | None = None
    """Of an output against the float program, on the calibration data."""


@dataclass(frozen=True)
class Verification:
    """The integer model against the float one."""

    samples: int
    output_sqnr_db: list[float]
    """One per output; infinite when equal."""
    calls_sqnr_db: dict[str, float]
    """By kernel call, where the float program has that value."""
    top1_float: float | None
    top1_integer: float | None
    agreement: float | None
    """How often both say the same."""
    bit_exact: bool | None
    """Host and simulated chip, where both were run."""
    instructions: int | None
    """Per inference, on the simulated chip."""
    json: dict[str, Any] = field(repr=False)
    """All that was measured."""


def _db(value: float | None) -> float:
    if value is None:
        return math.nan
    return math.copysign(math.inf, value) if abs(value) >= 999 else value


def verification(json: dict[str, Any]) -> Verification:
    top1 = json.get("top1") or {}
    return Verification(
        samples=json["samples"],
        output_sqnr_db=[_db(x) for x in json["output_sqnr_db"]],
        calls_sqnr_db={c["call"]: _db(c["sqnr_db"]) for c in json["calls_sqnr"]},
        top1_float=top1.get("float"),
        top1_integer=top1.get("integer"),
        agreement=top1.get("agreement"),
        bit_exact=json["bit_exact"],
        instructions=(json.get("instructions") or {}).get("total"),
        json=json,
    )


@dataclass(frozen=True)
class InspectedNode:
    """A node before any compile."""

    name: str
    op: str
    becomes: str
    """``kernel``, ``table``, ``movement``, ``folded``, ``removed`` or ``none``: no integer form"""
    module: str | None = None
    source: str | None = None
    why: str | None = None


@dataclass(frozen=True)
class Inspection:
    """What is in a program, and what each node would become."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    parameters: int
    in_place_writes: list[str]
    nodes: list[InspectedNode]
    without_integer_form: int
    json: dict[str, Any] = field(repr=False)
    """All that was found."""


def inspection(json: dict[str, Any]) -> Inspection:
    return Inspection(
        inputs=[record(Tensor, t) for t in json["inputs"]],
        outputs=[record(Tensor, t) for t in json["outputs"]],
        parameters=json["parameters"],
        in_place_writes=json["in_place_writes"],
        nodes=[record(InspectedNode, n) for n in json["nodes"]],
        without_integer_form=json["without_integer_form"],
        json=json,
    )


@dataclass(frozen=True)
class Operator:
    """A row of the operator table."""

    schema: str
    """PyTorch's own."""
    integer: str
    """``kernel``, ``table``, ``decomposes``, ``vanishes`` or ``none``"""
    float: str
    """The same in float32, where that is asked for."""
    why_none: str | None = None


@dataclass(frozen=True)
class Target:
    """A CPU, or an NPU with the CPU that stands beside it by default."""

    name: str
    isa: str | None = None
    gcc_flags: str | None = None
    qemu_machine: str | None = None
    cpu: str | None = None
    vela_system_config: str | None = None
    vela_memory_mode: str | None = None
