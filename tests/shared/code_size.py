#!/usr/bin/env python3
"""Compiles ds_cnn for the Cortex-M4 for speed and for size, links it with arm-none-eabi-gcc and holds
the code of its kernels, and a whole image with start-up code and model, to what is promised.

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
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
MOST_OF_IMAGE = 44 * 1024
MAIN = """#include "board.h"
#include "%(name)s.h"

static %(name)s_t model;

int main(void) {
    if (%(NAME)s_SETUP(&model) != 0)
        return 1;
    %(name)s_run(&model);
    console_print(%(name)s_output0(&model)[0] > 0 ? "yes\\n" : "no\\n");
    return 0;
}
"""
MOST = {"speed": ("-O2", 12_000), "size": ("-Os", 5_000)}


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


def flash(elf):
    """Bytes that lie in flash: code, constants, and what start-up code copies from there."""
    sizes = dict(line.split()[:2] for line in output("arm-none-eabi-size", "-A", elf).splitlines() if line.startswith("."))
    return sum(int(sizes.get(name, 0)) for name in (".text", ".rodata", ".data", ".ARM.exidx"))


def check_image(program, folder, optimize, work):
    """The examples' way to a firmware, around a main that runs the model once."""
    archive = next(folder.glob("*.pt2"))
    name = archive.stem if archive.stem != "float" else "model_float"
    (work / "main.c").write_text(MAIN % {"name": name, "NAME": name.upper()})
    output("make", "-s", "-C", work, "-f", EXAMPLES / "firmware.mk", f"CPU={CPU}", f"NAME={name}", f"ARCHIVE={archive}",
           f"DATA={folder / 'calib.npz'}", f"CORTEN={pathlib.Path(program).resolve()}", f"BUILD={work / optimize}-image",
           f"COMPILE=--optimize {optimize}")
    image = flash(work / f"{optimize}-image" / CPU / "firmware.elf")
    wrong = image > MOST_OF_IMAGE
    print(f"{'FAIL' if wrong else 'ok  '} {folder.name} for {optimize}: {image} bytes of image, {MOST_OF_IMAGE} promised")
    return wrong


def main():
    if not shutil.which("arm-none-eabi-gcc"):
        print("skipped: arm-none-eabi-gcc was not found")
        return 77
    with tempfile.TemporaryDirectory() as work:
        checks = [(c, o) for c in (check, check_image) for o in MOST]
        failed = sum(c(sys.argv[1], pathlib.Path(sys.argv[2]), o, pathlib.Path(work)) for c, o in checks)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
