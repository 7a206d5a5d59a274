"""PyTorch models to int8 C for Cortex-M, bit for bit as checked on the host.

    import corten

    compiled = corten.compile(model, calibration=loader, target="cortex-m55", out="firmware/model")
    scores = compiled.run(image)          # what the chip computes, bit for bit
    print(compiled.verify(test_loader))   # against the float model, node by node

Everything the library finds wrong comes as a :class:`CortenError` with its diagnostics.
"""

from ._errors import (
    CompileError,
    CortenError,
    CortenWarning,
    Diagnostic,
    InputError,
    InternalError,
    Stopped,
    ToolError,
    UsageError,
)
from ._library import version as _version
from ._model import Compiled, compile, inspect, load, ops, targets
from ._records import Call, InspectedNode, Inspection, Node, Operator, Target, Tensor, Verification

__version__: str = _version()

__all__ = [
    "Call",
    "CompileError",
    "Compiled",
    "CortenError",
    "CortenWarning",
    "Diagnostic",
    "InputError",
    "InspectedNode",
    "Inspection",
    "InternalError",
    "Node",
    "Operator",
    "Stopped",
    "Target",
    "Tensor",
    "ToolError",
    "UsageError",
    "Verification",
    "compile",
    "inspect",
    "load",
    "ops",
    "targets",
]
