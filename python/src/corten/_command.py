"""The `corten` command: the executable that the package brings along."""

import os
import sys

from ._library import PACKAGE


def main() -> None:
    program = PACKAGE / "bin" / "corten"
    os.execv(program, [str(program), *sys.argv[1:]])
