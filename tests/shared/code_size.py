#!/usr/bin/env python3
"""Compiles ds_cnn for the Cortex-M4 for speed and for size, links it with arm-none-eabi-gcc and holds
the code of its kernels to what is promised.

usage: code_size.py CORTEN FOLDER
Closes with 'N passed, N failed'; 77 without the compiler.
"""
import json
import pathlib
import shutil
import sys
import tempfile

from sections import kernel_bytes, output

CPU, FLAGS = "cortex-m4", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16".split()
MOST = {"speed": ("-O2", 12 * 1024), "size": ("-Os", 5 * 1024)}


def check(program, folder, optimize, work):
    level, most = MOST[optimize]
    out = work / optimize
    output(program, "compile", next(folder.glob("*.pt2")), "-c", folder / "calib.npz", "-t", CPU, "--optimize", optimize,
           "-o", out, "-q")
    report = json.loads((out / "report.json").read_text())
    code = kernel_bytes(out, report, FLAGS, level, work)
    wrong = code >= most
    print(f"{'FAIL' if wrong else 'ok  '} {folder.name} for {optimize}: {code} bytes of kernels, below {most} promised")
    return wrong


def main():
    if not shutil.which("arm-none-eabi-gcc"):
        print("skipped: arm-none-eabi-gcc was not found")
        return 77
    with tempfile.TemporaryDirectory() as work:
        failed = sum(check(sys.argv[1], pathlib.Path(sys.argv[2]), o, pathlib.Path(work)) for o in MOST)
    print(f"{len(MOST) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
