"""torch modules and exported programs as the bytes of an archive. Only this file imports torch."""

from __future__ import annotations

import inspect
import io
import re
import sys
from contextlib import contextmanager
from typing import Any, Generator, Mapping, Sequence

from . import _arrays
from ._errors import CompileError, CortenError, Diagnostic, InputError


def is_module(model: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def is_program(model: object) -> bool:
    export = sys.modules.get("torch.export")
    return export is not None and isinstance(model, export.ExportedProgram)


def input_count(model: Any) -> int:
    """The inputs that a call of the module must have, or that an exported program takes."""
    if is_program(model):
        return max(1, len(model.graph_signature.user_inputs))
    parameters = inspect.signature(model.forward).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in positional and p.default is p.empty]
    return max(1, len(needed))


def name_of(model: Any) -> str:
    """``DigitsSilu`` is digits_silu."""
    if is_program(model):
        return "model"
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(model).__name__)
    return words.lower()


@contextmanager
def _evaluating(module: Any) -> Generator[None, None, None]:
    """The module in eval mode, and afterwards each part in the mode in which it was."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training


def _call_arguments(example: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import torch

    def tensor(x: Any) -> Any:
        is_numbers = _arrays.is_array(x) and not isinstance(x, torch.Tensor)
        return torch.as_tensor(_arrays.to_array(x)) if is_numbers else x

    if isinstance(example, Mapping):
        return (), {str(name): tensor(x) for name, x in example.items()}
    if _arrays.is_array(example):
        return (tensor(example),), {}
    return tuple(tensor(x) for x in example), {}


def _what_failed(module: Any, example: Any, error: Exception) -> CortenError:
    """Inputs that the module does not take, or a module that cannot be exported."""
    import torch

    args, kwargs = _call_arguments(example)
    inputs = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
    shapes = ", ".join(f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}" for x in inputs)
    try:
        with _evaluating(module), torch.no_grad():
            module(*args, **kwargs)
    except Exception:
        message = f"the model does not take {shapes}, from example_inputs or the first sample of calibration"
        return InputError([Diagnostic(message, detail=str(error), code=InputError.code)])
    message = f"torch.export cannot export the model for {shapes}"
    return CompileError([Diagnostic(message, detail=str(error), code=CompileError.code)])


def _export(module: Any, examples: Sequence[Any]) -> Any:
    """The module exported with the first of the examples that it takes."""
    import torch.export

    first: Exception | None = None
    for example in examples:
        args, kwargs = _call_arguments(example)
        try:
            with _evaluating(module), torch.no_grad():
                return torch.export.export(module, args, kwargs)
        except Exception as error:
            first = first or error
    assert first is not None
    raise _what_failed(module, examples[0], first) from first


def archive_of(model: Any, examples: Sequence[Any]) -> bytes:
    """What torch.export.save writes of the model."""
    import torch.export

    program = _export(model, examples) if is_module(model) else model
    archive = io.BytesIO()
    torch.export.save(program, archive)
    return archive.getvalue()
