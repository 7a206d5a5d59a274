#!/usr/bin/env python3
"""Emits quantized models for every CPU, builds <name>.c with arm-none-eabi-gcc and holds its sections to
the report, to the byte: .bss is arena and state, .rodata the sum of the constants' totals. Kernels
take no more than the report says but for gaps between functions, and little less: what the linker
leaves out of a function's constants and other CPUs of a level do better. The model's own code takes
no more. An arena of 16 bytes less does not compile.

The numbers of large models take compilers seconds, and their places in the objects follow from the
declarations: with optimization for speed one CPU compiles them all, else one number stands for each
long list of them. Optimization for size is tried on a CPU of each level.

usage: sections.py CORTEN FOLDER...
A FOLDER is what `corten compile` has written, or has a .pt2 and calib.npz. Closes with 'N passed, N failed'; 77 without
the compiler.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PARTS = ["weights", "biases", "multipliers_and_shifts", "tables", "numbers", "padding", "call_structs",
         "strip_tables", "initial_state"]
LEVELS = ["-O2", "-Os"]
# The CPUs that the table of code is measured on; others of their levels need up to an eighth less.
MEASURED = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55")
WITH_NUMBERS = "cortex-m4"
KERNELS_FROM, KERNELS_TO = 0.92, 1.01
KERNEL_FLAGS = ["-std=gnu11", "-ffreestanding", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections"]


def output(*args):
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{args[0]} {args[1]} exit {run.returncode}: {run.stderr.strip()[:300]}")
    return run.stdout


def sections(path):
    bss = rodata = text = 0
    for line in output("arm-none-eabi-size", "-A", path).splitlines():
        word = line.split()
        if len(word) == 3 and word[0].startswith(".bss"):
            bss += int(word[1])
        if len(word) == 3 and word[0].startswith(".rodata"):
            rodata += int(word[1])
        if len(word) == 3 and word[0].startswith(".text"):
            text += int(word[1])
    return bss, rodata, text


def without_numbers(source, to):
    """The source with one number instead of each long list."""
    to.write_text(re.sub(r"\{[-0-9,\s]{256,}\}", "{1}", source.read_text()))
    return to


def find(folder, *patterns):
    return next(path for pattern in patterns for path in folder.glob(pattern))


def refuses_less(source, name, flags, arena, out):
    """An arena that is 16 bytes smaller than reported is an error of the compiler."""
    run = subprocess.run(["arm-none-eabi-gcc", *flags, "-std=c11", "-ffreestanding", f"-I{out}", f"-I{out}/runtime",
                          "-fsyntax-only", f"-D{name.upper()}_ARENA_SIZE={arena - 16}", str(source)],
                         capture_output=True, text=True)
    return run.returncode != 0 and "the arena is too small" in run.stderr


def compiled(source, flags, level, work, cache={}):
    """The object of a file of runtime/, which all models share."""
    key = (source.name, *flags, level)
    if key not in cache:
        cache[key] = work / f"{len(cache)}.o"
        output("arm-none-eabi-gcc", *flags, level, *KERNEL_FLAGS, "-c", source, "-o", cache[key])
    return cache[key]


def kernel_bytes(out, report, flags, level, work):
    """Flash of what the calls reach, linked without what they do not."""
    (work / "start.c").write_text("int start(void) { return 0; } void *__aeabi_unwind_cpp_pr0;")
    wanted = {c["kernel"] for c in report["calls"]}
    if "ctn_move" in (out / f"{report['name']}.c").read_text():
        wanted.add("ctn_move")
    objects = [compiled(source, flags, level, work) for source in sorted((out / "runtime").glob("*.c"))]
    output("arm-none-eabi-gcc", *flags, "-ffreestanding", "-nostdlib", "-Wl,-e,start", "-Wl,--gc-sections", work / "start.c",
           *objects, *(f"-Wl,-u,{symbol}" for symbol in sorted(wanted)), "-lc_nano", "-lgcc", "-lc_nano", "-o", work / "k.elf")
    return sum(int(word[1]) for line in output("arm-none-eabi-size", "-A", work / "k.elf").splitlines()
               if (word := line.split()) and word[0] in (".text", ".rodata"))


def check(program, graph, cpu, flags, work):
    out = work / "out"
    output(program, "compile", graph, "--from", "layout", "-t", cpu, "-o", out, "-q")
    report = json.loads((out / "report.json").read_text())
    total = report["bytes"]
    wrong = []
    if sum(total[p] for p in PARTS) != total["rodata"]:
        wrong.append("the parts do not add up to rodata")
    measured, name = cpu in MEASURED, report["name"]
    short = without_numbers(out / f"{name}.c", work / "short.c")
    for level in LEVELS if measured else LEVELS[:1]:
        source = out / f"{name}.c" if cpu == WITH_NUMBERS and level == LEVELS[0] else short
        output("arm-none-eabi-gcc", *flags, "-std=c11", level, "-ffreestanding", f"-I{out}", f"-I{out}/runtime", "-c",
               source, "-o", work / "model.o")
        bss, rodata, text = sections(work / "model.o")
        ram = total["arena"] + total["state"] + total["inputs"]
        if bss != ram:
            wrong.append(f"{level}: .bss {bss}, reported {ram}")
        if rodata != total["rodata"]:
            wrong.append(f"{level}: .rodata {rodata}, reported {total['rodata']}")
        if text > total["model_code"]:
            wrong.append(f"{level}: .text {text}, at most {total['model_code']} reported")
    if measured:
        kernels = kernel_bytes(out, report, flags, "-O2", work.parent)
        if not KERNELS_FROM * total["kernel_code"] <= kernels <= KERNELS_TO * total["kernel_code"]:
            wrong.append(f"kernels {kernels}, reported {total['kernel_code']}")
    if total["arena"] and not refuses_less(short, name, flags, total["arena"], out):
        wrong.append("an arena of 16 bytes less compiles")
    return wrong


def check_model(program, targets, folder, work):
    """The graph is quantized once and lowered for every CPU."""
    failed = 0
    if any(folder.glob("*.pt2")):
        output(program, "compile", find(folder, "*.pt2"), "-c", find(folder, "calib*.npz"), "-t", "cortex-m55", "-o",
               work / "first", "-q")
        folder = work / "first"
    graph = find(folder, "*.corten")
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
    rows = json.loads(output(program, "targets", "--json"))
    targets = [row for row in rows if "gcc_flags" in row]  # CPUs: NPUs have none
    failed = 0
    with tempfile.TemporaryDirectory() as objects:
        for folder in folders:
            work = pathlib.Path(objects) / folder.name
            work.mkdir()
            failed += check_model(program, targets, folder, work)
    print(f"{len(targets) * len(folders) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
