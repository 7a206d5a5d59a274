#!/usr/bin/env python3
"""Compiles models for every CPU, builds <name>.c with arm-none-eabi-gcc and holds its sections to
the report, to the byte: .bss is arena and state, .rodata the sum of the constants' totals.

usage: sections.py CORTEN FOLDER...
A FOLDER has a .pt2 and calib.npz. Closes with 'N passed, N
failed'; 77 without the compiler.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PARTS = ["weights", "biases", "multipliers_and_shifts", "tables", "numbers", "padding", "call_structs",
         "strip_tables", "initial_state"]
LEVELS = ["-O2", "-Os"]


def output(*args):
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{args[0]} {args[1]} exit {run.returncode}: {run.stderr.strip()[:300]}")
    return run.stdout


def sections(path):
    bss = rodata = 0
    for line in output("arm-none-eabi-size", "-A", path).splitlines():
        word = line.split()
        if len(word) == 3 and word[0].startswith(".bss"):
            bss += int(word[1])
        if len(word) == 3 and word[0].startswith(".rodata"):
            rodata += int(word[1])
    return bss, rodata


def find(folder, *patterns):
    return next(path for pattern in patterns for path in folder.glob(pattern))


def check(program, graph, cpu, flags, work):
    out = work / "out"
    output(program, "compile", graph, "--from", "layout", "-t", cpu, "-o", out, "-q")
    report = json.loads((out / "report.json").read_text())
    total = report["bytes"]
    wrong = []
    if sum(total[p] for p in PARTS) != total["rodata"]:
        wrong.append("the parts do not add up to rodata")
    for level in LEVELS:
        output("arm-none-eabi-gcc", *flags, "-std=c11", level, "-ffreestanding", f"-I{out}/runtime", "-c",
               out / f"{report['name']}.c", "-o", work / "model.o")
        bss, rodata = sections(work / "model.o")
        ram = total["arena"] + total["state"] + total["inputs"]
        if bss != ram:
            wrong.append(f"{level}: .bss {bss}, reported {ram}")
        if rodata != total["rodata"]:
            wrong.append(f"{level}: .rodata {rodata}, reported {total['rodata']}")
    return wrong


def check_model(program, targets, folder, work):
    """The graph is quantized once and lowered for every CPU."""
    failed = 0
    output(program, "compile", find(folder, "*.pt2"), "-c", find(folder, "calib*.npz"), "-t", "cortex-m55", "-o",
           work / "first", "-q")
    graph = find(work / "first", "*.corten")
    for target in targets:
        cpu, flags = target["name"], target["gcc_flags"].split()
        try:
            wrong = check(program, graph, cpu, flags, work)
        except RuntimeError as e:
            wrong = [str(e)]
        failed += bool(wrong)
        if wrong:
            print(f"FAIL {folder.name} on {cpu}: {'; '.join(wrong)}", flush=True)
    return failed


def main():
    program, folders = sys.argv[1], [pathlib.Path(f) for f in sys.argv[2:]]
    if not shutil.which("arm-none-eabi-gcc"):
        print("skipped: arm-none-eabi-gcc was not found")
        return 77
    targets = json.loads(output(program, "targets", "--json"))
    failed = 0
    for folder in folders:
        with tempfile.TemporaryDirectory() as work:
            failed += check_model(program, targets, folder, pathlib.Path(work))
    print(f"{len(targets) * len(folders) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
