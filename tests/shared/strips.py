#!/usr/bin/env python3
"""Holds what row-wise execution costs: models are compiled for each level as they come, and with so
much memory that no call runs in strips; counted on QEMU, strips take at most a twentieth more
instructions, and the results are the same bytes.

usage: strips.py CORTEN FOLDER...
A FOLDER has float.pt2, calib.npz and test.npz. Closes with 'N passed, N failed'.
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

from sections import output

CPUS = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"]
MEMORY_FOR_ALL = 64 * 1024 * 1024
MOST = 1.05


def compiled(program, graph, cpu, out, *options):
    output(program, "compile", graph, "--from", "layout", "-t", cpu, "-o", out, "-q", *options)
    return json.loads((out / "report.json").read_text())


def has_strips(out):
    return any("static void strip" in f.read_text() for f in out.glob("*.c"))


def instructions(program, out, data):
    verified = json.loads(output(program, "verify", out, "-i", data, "--on", "qemu", "--limit", "1", "--json"))
    return verified["instructions"]["total"] if verified["bit_exact"] is True else None


def results(program, out, data, to):
    output(program, "run", out, "-i", data, "-o", to, "--raw")
    return [a.tobytes() for a in np.load(to).values()]


def check(program, graph, cpu, data, work):
    """Returns what is wrong, and what there is to say."""
    strips, whole = work / "strips", work / "whole"
    arena = compiled(program, graph, cpu, strips)["arena_bytes"]
    if not has_strips(strips):
        return [], "no strips"
    without = compiled(program, graph, cpu, whole, "--ram", str(MEMORY_FOR_ALL))["arena_bytes"]
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
    program, folders = sys.argv[1], [pathlib.Path(f) for f in sys.argv[2:]]
    passed = failed = 0
    for folder in folders:
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            output(program, "compile", folder / "float.pt2", "-c", folder / "calib.npz", "-t", CPUS[-1], "--io", "int8",
                   "-o", work / "first", "-q")
            graph = next((work / "first").glob("*.corten"))
            for cpu in CPUS:
                try:
                    wrong, text = check(program, graph, cpu, folder / "test.npz", work)
                except RuntimeError as e:
                    wrong, text = [str(e)], ""
                passed, failed = passed + (not wrong), failed + bool(wrong)
                print(f"{'FAIL' if wrong else 'ok  '} {folder.name} on {cpu}: {text} {'; '.join(wrong)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
