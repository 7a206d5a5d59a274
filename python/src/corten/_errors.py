"""What can go wrong, as exceptions: one class for each of the library's exit codes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Sequence


@dataclass(frozen=True)
class Diagnostic:
    """One finding. What is not known is None."""

    message: str
    detail: str | None = None
    """Further lines."""
    file: str | None = None
    """The Python file of the model, or a file that was read."""
    line: int | None = None
    source: str | None = None
    """The text of that line."""
    node: str | None = None
    """The node's name in the exported program."""
    module: str | None = None
    """The dotted path of its module."""
    output: str | None = None
    """What the node gives, as text: ``float32[1, 16, 48, 48]``."""
    member: str | None = None
    """The member of the archive."""
    byte: int | None = None
    code: int = 0
    """The exit code that the command line would end with; 0 for a warning."""

    def __str__(self) -> str:
        where = self.file or "corten"
        if self.line:
            where += f":{self.line}"
        lines = [f"{where}: {'error' if self.code else 'warning'}: {self.message}"]
        if self.source and self.source.strip():
            lines.append(f"    {self.source.strip()}")
        if self.node or self.module or self.output:
            node = f"node {self.node}" if self.node else ""
            module = f" in {self.module}" if self.module else ""
            output = f", output {self.output}" if self.output else ""
            lines.append("    " + f"{node}{module}{output}".strip(" ,"))
        if self.member:
            at = f", byte {self.byte}" if self.byte else ""
            lines.append(f"    in {self.member}{at}")
        lines += [f"    {line}" for line in (self.detail or "").splitlines()]
        return "\n".join(lines)


class CortenError(Exception):
    """Whatever the library reports; :attr:`diagnostics` holds all that it found."""

    code: int = 70

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(str(d) for d in self.diagnostics))


class CompileError(CortenError):
    """The model cannot be compiled as asked."""

    code = 1


class UsageError(CortenError, ValueError):
    """An unknown CPU or option, or options that do not go together."""

    code = 2


class InputError(CortenError, ValueError):
    """A file or an array is missing, malformed, of the wrong shape, not finite or not writable."""

    code = 3


class ToolError(CortenError):
    """A program that is needed, QEMU or a compiler, is missing."""

    code = 4


class InternalError(CortenError):
    """A bug in Corten."""

    code = 70


class Stopped(CortenError):
    """The progress callback returned False."""

    code = 130


class CortenWarning(UserWarning):
    """Something that the library warns of."""


CLASSES: Final[dict[int, type[CortenError]]] = {
    kind.code: kind
    for kind in (CompileError, UsageError, InputError, ToolError, InternalError, Stopped)
}

_LETTERS: Final = {"c": "calibration", "t": "target", "o": "out", "i": "x"}


def in_python(message: str) -> str:
    """The message with options called as they are called here: ``--io-layout`` is ``io_layout=``."""
    message = re.sub(
        r"(?<![\w-])--([a-z][a-z-]*[a-z])(?![\w-])",
        lambda m: m[1].replace("-", "_") + "=",
        message,
    )
    return re.sub(
        r"(?<![\w-])-([ctoi])(?![\w-])(?: (?:DIR|FILE|FOLDER)\b)?",
        lambda m: _LETTERS[m[1]] + "=",
        message,
    )
