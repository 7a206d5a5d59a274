#!/usr/bin/env python3
"""Compares builds of corten on data that no model was calibrated on, without touching test data: a
model's calibration samples are dealt into parts, each part is left out once, and the SQNR is
measured on it. Constants of src/quant are chosen so.

usage: hold_out.py MODELS_FOLDER CORTEN [CORTEN ...]       one column for each program
       --parts N       (default 4)
       --models A,B    (default: all with at least 8 samples)
       --precision F   a precision file, given to each compile
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy


def sqnr(program, model, data, part, parts, work, more):
    """Of the outputs, in decibels, on the samples of one part."""
    left_out = numpy.arange(len(next(iter(data.values())))) % parts == part
    for name, choice in (("seen", ~left_out), ("held_out", left_out)):
        numpy.savez(work / f"{name}.npz", **{k: v[choice] for k, v in data.items()})
    subprocess.run([program, "compile", model, "-c", work / "seen.npz", "-t", "cortex-m55", "-q", "-o", work / "out",
                    *more],
                   check=True, stdout=subprocess.DEVNULL)
    shown = subprocess.run([program, "verify", work / "out", "-i", work / "held_out.npz", "--json"],
                           check=True, capture_output=True, text=True).stdout
    return json.loads(shown)["output_sqnr_db"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("program", nargs="+")
    options.add_argument("--parts", type=int, default=4)
    options.add_argument("--models")
    options.add_argument("--precision", type=pathlib.Path)
    o = options.parse_args()
    names = o.models.split(",") if o.models else sorted(p.name for p in o.folder.iterdir() if p.is_dir())
    more = ["--precision", o.precision] if o.precision else []
    means = [[] for _ in o.program]
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            arrays = numpy.load(o.folder / name / "calib.npz")
            data = {k: arrays[k] for k in arrays.files if k.startswith("in")}
            if len(data["in0"]) < 8:
                continue
            shown = []
            for k, program in enumerate(o.program):
                figures = [sqnr(program, o.folder / name / "float.pt2", data, part, o.parts, pathlib.Path(work), more)
                           for part in range(o.parts)]
                shown.append(statistics.mean(statistics.mean(f) for f in figures))
                means[k].append(shown[-1])
            print(f"{name:20s}", *(f"{v:6.2f}" for v in shown), flush=True)
    print(f"{'mean':20s}", *(f"{statistics.mean(m):6.2f}" for m in means))


if __name__ == "__main__":
    main()
