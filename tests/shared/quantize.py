#!/usr/bin/env python3
"""Compiles the real models beside the checkout once, for the tests that plan, emit and run them for many CPUs.

usage: quantize.py CORTEN MODELS_FOLDER OUT_FOLDER [OPTION...]
Writes OUT_FOLDER/<model>; closes with 'N passed, N failed'.
"""
import pathlib
import subprocess
import sys


def main():
    program, models, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    passed = failed = 0
    for archive in sorted(models.glob("*/float.pt2")):
        folder = archive.parent
        done = subprocess.run([program, "compile", archive, "-c", folder / "calib.npz", "-t", "cortex-m55",
                               "-o", out / folder.name, "-q", *sys.argv[4:]])
        passed, failed = passed + (done.returncode == 0), failed + (done.returncode != 0)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
