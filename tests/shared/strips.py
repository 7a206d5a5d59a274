#!/usr/bin/env python3
"""Holds what row-wise execution costs: models are compiled for each level as they come, and with so
much memory that no call runs in strips; counted on QEMU, strips take at most a twentieth more
instructions, and the results are the same bytes.

usage: strips.py CORTEN MODEL...
A MODEL is an archive with calibration.npz and tests.npz beside it, or DATA.npz=FOLDER: inputs, and a folder
that was compiled. Closes with 'N passed, N failed'.
"""
import json
import pathlib
import sys

import numpy as np

from planned import check_all, has_strips, planned
from sections import output

CPUS = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"]
MEMORY_FOR_ALL = 64 * 1024 * 1024
MOST = 1.05


def instructions(program, out, data):
    verified = json.loads(output(program, "verify", out, "-i", data, "--on", "qemu", "--limit", "1", "--json"))
    return verified["instructions"]["total"] if verified["bit_exact"] is True else None


def results(program, out, data, to):
    output(program, "run", out, "-i", data, "-o", to, "--raw")
    return [a.tobytes() for a in np.load(to).values()]


def check(program, graph, cpu, data, work):
    """Returns what is wrong, and what there is to say."""
    strips, whole = work / "strips", work / "whole"
    arena = planned(program, graph, cpu, strips)["arena_bytes"]
    if not has_strips(strips):
        return [], "no strips"
    without = planned(program, graph, cpu, whole, "--ram", str(MEMORY_FOR_ALL))["arena_bytes"]
    wrong = ["strips where all memory may be used"] if has_strips(whole) else []
    counted, least = (instructions(program, out, data) for out in (strips, whole))
    if counted is None or least is None:
        return wrong + ["chip and host differ"], ""
    if counted > MOST * least:
        wrong.append(f"more than {MOST} times the instructions")
    if results(program, strips, data, work / "a.npz") != results(program, whole, data, work / "b.npz"):
        wrong.append("other results than without strips")
    return wrong, f"{counted} instructions, {least} without ({counted / least - 1:+.1%}); arena {arena}, {without}"


def main():
    program, data = sys.argv[1], {}
    for word in sys.argv[2:]:
        inputs, _, model = word.rpartition("=")
        model = pathlib.Path(model)
        data[model] = pathlib.Path(inputs) if inputs else model.parent / "tests.npz"
    return check_all(program, list(data), CPUS,
                     lambda model, graph, cpu, work: check(program, graph, cpu, data[model], work))


if __name__ == "__main__":
    sys.exit(main())
