"""Calls of the C library: options as keywords in, text, arrays and diagnostics out.

cffi lets go of the GIL for as long as the library works and takes it for each callback, which is
also when Python sees a Ctrl-C: the library then unwinds and the exception goes on from here.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _errors
from ._native import ffi, lib

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]
Progress = Callable[[str, float], "bool | None"]

PACKAGE = Path(__file__).parent
SHARE = PACKAGE / "share" / "corten"


@dataclass
class Answer:
    """What one call has given so far."""

    progress: Progress | None = None
    text: str = ""
    outputs: list[tuple[str, Array]] = field(default_factory=list[tuple[str, Array]])
    errors: list[_errors.Diagnostic] = field(default_factory=list[_errors.Diagnostic])
    warnings: list[_errors.Diagnostic] = field(default_factory=list[_errors.Diagnostic])
    raised: BaseException | None = None


def _text(pointer: Any) -> str | None:
    if pointer == ffi.NULL:
        return None
    return bytes(ffi.string(pointer)).decode("utf-8", "replace")


def _raised(kind: type[BaseException], raised: BaseException, trace: TracebackType) -> None:
    """Keeps what a callback raised, a Ctrl-C at its very start included, until the library has
    unwound."""
    ffi.from_handle(trace.tb_frame.f_locals["user"]).raised = raised


@ffi.def_extern(onerror=_raised)  # type: ignore[untyped-decorator]
def corten_py_result(user: Any, text: Any, count: int) -> None:
    ffi.from_handle(user).text = bytes(ffi.buffer(text, count)).decode("utf-8", "replace")


@ffi.def_extern(onerror=_raised)  # type: ignore[untyped-decorator]
def corten_py_diagnostic(user: Any, told: Any) -> None:
    answer: Answer = ffi.from_handle(user)
    texts = {
        name: _text(getattr(told, name))
        for name in ("detail", "file", "source", "node", "module", "output", "member")
    }
    if texts["detail"]:
        texts["detail"] = _errors.in_python(texts["detail"])
    message = _errors.in_python(_text(told.message) or "")
    diagnostic = _errors.Diagnostic(
        message, line=told.line or None, byte=told.byte or None, code=told.code, **texts
    )
    (answer.errors if told.code else answer.warnings).append(diagnostic)


@ffi.def_extern(error=False, onerror=_raised)  # type: ignore[untyped-decorator]
def corten_py_progress(user: Any, what: Any, fraction: float) -> bool:
    answer: Answer = ffi.from_handle(user)
    return answer.progress is None or answer.progress(_text(what) or "", fraction) is not False


@ffi.def_extern(onerror=_raised)  # type: ignore[untyped-decorator]
def corten_py_output(user: Any, told: Any) -> None:
    answer: Answer = ffi.from_handle(user)
    shape = tuple(ffi.unpack(told.dim, told.rank)) if told.rank else ()
    dtype = np.dtype(_text(told.dtype))
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    data = bytearray(ffi.buffer(told.data, count)) if count else bytearray()
    answer.outputs.append((_text(told.name) or "", np.frombuffer(data, dtype).reshape(shape)))


class _Fields:
    """A CortenOptions and what its pointers point to."""

    def __init__(self, answer: Answer, options: Mapping[str, Any]) -> None:
        self.handle = ffi.new_handle(answer)
        self.kept: list[Any] = [self.handle]
        self.lent: list[Any] = []
        self.struct = ffi.new("CortenOptions *")
        self.struct.user = self.handle
        self.struct.result = lib.corten_py_result
        self.struct.diagnostic = lib.corten_py_diagnostic
        self.struct.progress = lib.corten_py_progress
        self.struct.output = lib.corten_py_output
        if SHARE.is_dir():
            self.struct.share = self.text(SHARE)
        for name, value in options.items():
            if value is not None:
                self.set(name, value)

    def keep(self, value: Any) -> Any:
        self.kept.append(value)
        return value

    def lend(self, value: Any) -> Any:
        """The bytes of a buffer, until the fields are left."""
        pointer = ffi.from_buffer(value)
        self.lent.append(pointer)
        return self.keep(pointer)

    def __enter__(self) -> _Fields:
        return self

    def __exit__(self, *raised: object) -> None:
        """Gives back what is lent: a collector that met it in a cycle could clear the owner first."""
        for pointer in self.lent:
            ffi.release(pointer)
        self.lent.clear()
        self.kept.clear()

    def text(self, value: str | os.PathLike[str]) -> Any:
        return self.keep(ffi.new("char[]", os.fsencode(value)))

    def set(self, name: str, value: Any) -> None:
        if name in ("calibrate_data", "input_data"):
            setattr(self.struct, name, self.sets(value))
            setattr(self.struct, f"{name}_count", len(value))
        elif name in ("calibrate", "input_scale", "exports"):
            setattr(self.struct, name, self.keep(ffi.new("char *[]", [self.text(v) for v in value])))
            setattr(self.struct, f"{name}_count", len(value))
        elif name == "archive_data":
            self.struct.archive_data = self.lend(value)
            self.struct.archive_bytes = len(value)
        elif name == "labels_data":
            self.struct.labels_data = self.keep(ffi.new("CortenArray *"))
            self.array(self.struct.labels_data, None, value)
        elif isinstance(value, (str, os.PathLike)):
            setattr(self.struct, name, self.text(value))
        else:
            setattr(self.struct, name, value)

    def array(self, out: Any, name: str | None, value: Array) -> None:
        out.name = self.text(name) if name is not None else ffi.NULL
        out.dtype = self.text(value.dtype.name)
        out.rank = value.ndim
        out.dim = self.keep(ffi.new("int64_t[]", list(value.shape)))
        self.keep(value)
        out.data = self.lend(value if value.size else b"")

    def sets(self, sets: Sequence[Arrays]) -> Any:
        out = self.keep(ffi.new("CortenArrays[]", max(len(sets), 1)))
        for i, arrays in enumerate(sets):
            out[i].count = len(arrays)
            out[i].array = items = self.keep(ffi.new("CortenArray[]", max(len(arrays), 1)))
            for k, (name, value) in enumerate(arrays.items()):
                self.array(items[k], name, value)
        return out


def _finish(code: int, answer: Answer) -> Answer:
    if answer.raised is not None:
        raise answer.raised
    for warning in answer.warnings:
        warnings.warn(_errors.CortenWarning(str(warning)), stacklevel=4)
    if code == _errors.Stopped.code and answer.progress is None:
        raise KeyboardInterrupt
    if code:
        raise _errors.CLASSES.get(code, _errors.InternalError)(answer.errors)
    return answer


def call(function: str, progress: Progress | None = None, **options: Any) -> Answer:
    """``corten_<function>`` with options by the names of CortenOptions; raises what it reports."""
    answer = Answer(progress)
    with _Fields(answer, options) as fields:
        code = getattr(lib, f"corten_{function}")(fields.struct)
    return _finish(code, answer)


class Model:
    """A CortenModel: a compiled model that can be run again and again."""

    def __init__(self, folder: Path, **options: Any) -> None:
        answer = Answer()
        pointer = ffi.new("CortenModel **")
        with _Fields(answer, {"model": folder, **options}) as fields:
            code = lib.corten_model_load(fields.struct, pointer)
        _finish(code, answer)
        self._pointer = ffi.gc(pointer[0], lib.corten_model_free)

    def run(self, progress: Progress | None = None, **options: Any) -> Answer:
        answer = Answer(progress)
        with _Fields(answer, options) as fields:
            code = lib.corten_model_run(self._pointer, fields.struct)
        return _finish(code, answer)

    def reset(self) -> None:
        lib.corten_model_reset(self._pointer)


def version() -> str:
    if lib.corten_api_version() != lib.CORTEN_API_VERSION:
        raise ImportError("corten's library and its binding are of different versions")
    return _text(lib.corten_version()) or ""
