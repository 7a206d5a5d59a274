#!/usr/bin/env python3
"""Compiles ds_cnn for the Cortex-M4 for speed and for size, links it with arm-none-eabi-gcc and holds
the code of its kernels to what is promised.

usage: code_size.py CORTEN FOLDER
Closes with 'N passed, N failed'; 77 without the compiler.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

CPU, FLAGS = "cortex-m4", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16".split()
MOST = {"speed": ("-O2", 12 * 1024), "size": ("-Os", 5 * 1024)}


def output(*args):
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{args[0]} {args[1]} exit {run.returncode}: {run.stderr.strip()[:300]}")
    return run.stdout


def flash(path):
    """Bytes of code and constants in an object or image."""
    words = [line.split() for line in output("arm-none-eabi-size", "-A", path).splitlines()]
    return sum(int(w[1]) for w in words if len(w) == 3 and w[0].startswith((".text", ".rodata")))


def linked(out, report, level, work):
    """Bytes of what the calls reach, linked without what they do not."""
    (work / "start.c").write_text("int start(void) { return 0; } void *__aeabi_unwind_cpp_pr0;")
    wanted = {c["kernel"] for c in report["calls"]}
    if "ctn_move" in (out / f"{report['name']}.c").read_text():
        wanted.add("ctn_move")
    output("arm-none-eabi-gcc", *FLAGS, level, "-std=gnu11", "-ffreestanding", "-ffp-contract=off", "-ffunction-sections",
           "-fdata-sections", "-nostdlib", "-Wl,-e,start", "-Wl,--gc-sections", work / "start.c",
           *sorted(out.glob("runtime/*.c")), *(f"-Wl,-u,{symbol}" for symbol in sorted(wanted)), "-lc_nano", "-lgcc",
           "-o", work / "image.elf")
    return flash(work / "image.elf")


def check(program, folder, optimize, work):
    level, most = MOST[optimize]
    out = work / optimize
    output(program, "compile", next(folder.glob("*.pt2")), "-c", folder / "calib.npz", "-t", CPU, "--optimize", optimize,
           "-o", out, "-q")
    report = json.loads((out / "report.json").read_text())
    code = linked(out, report, level, work)
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
