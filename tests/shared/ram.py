#!/usr/bin/env python3
"""--ram on real models: plans fit what is allowed, more memory never makes one slower by the estimate,
with memory for the asking none has strips, and below the smallest plan a compile is refused.
mobilenet_v2 runs in 320 KiB bit for bit on QEMU.

usage: ram.py CORTEN MODELS_FOLDER COMPILED_FOLDER
MODELS_FOLDER has inputs, COMPILED_FOLDER the models as compiled with --io int8. Closes with 'N passed, N failed'.
"""
import json
import pathlib
import subprocess
import sys

from planned import check_all, has_strips, planned
from sections import output

CPUS = ["cortex-m4", "cortex-m55"]
MODELS = ["ds_cnn", "resnet8", "mobilenet_v1_025", "mobilenet_v2", "yolo11n_320"]
STEPS = 4  # amounts of memory between the smallest plan's and the fastest one's
ON_CHIP = {"mobilenet_v2": 320 * 1024}


class Model:
    """A quantized model, planned for one CPU with as much memory as is asked for."""

    def __init__(self, program, graph, cpu, work):
        self.program, self.graph, self.cpu, self.work = program, graph, cpu, work

    def planned(self, ram=None):
        report = planned(self.program, self.graph, self.cpu, self.work / "out", *(["--ram", ram] if ram else []))
        return report["arena_bytes"] + report["state_bytes"], report["instructions_estimate"]

    def check_ladder(self):
        wrong, before = [], None
        least, _ = self.planned()
        most, fastest = self.planned(10**9)
        if has_strips(self.work / "out"):
            wrong.append("strips with memory for the asking")
        for k in range(STEPS + 1):
            ram = least + (most - least) * k // STEPS
            bytes_, instructions = self.planned(ram)
            if bytes_ > ram:
                wrong.append(f"{bytes_} bytes, {ram} were allowed")
            if before and instructions > before:
                wrong.append(f"{instructions} instructions with {ram} bytes, {before} with less")
            before = instructions
        if before != fastest:
            wrong.append(f"{before} instructions in {most} bytes, {fastest} with more")
        return wrong

    def check_refused(self):
        done = subprocess.run([self.program, "compile", self.graph, "--from", "layout", "-t", self.cpu, "-o",
                               self.work / "refused", "-q", "--ram", "1000"], capture_output=True, text=True)
        if done.returncode != 1 or "1000 were allowed" not in done.stderr or "largest there" not in done.stderr:
            return [f"exit {done.returncode} for 1000 bytes: {done.stderr.strip()[:200]}"]
        return []

    def check_on_chip(self, data, ram):
        self.planned(ram)
        chip = json.loads(output(self.program, "verify", self.work / "out", "-i", data, "--on", "qemu",
                                 "--limit", 1, "--json"))
        return [] if chip["bit_exact"] is True else [f"chip and host differ in {ram} bytes"]


def check(program, models, name, graph, cpu, work):
    model = Model(program, graph, cpu, work)
    wrong = model.check_ladder() + model.check_refused()
    if name in ON_CHIP:
        wrong += model.check_on_chip(models / name / "test.npz", ON_CHIP[name])
    return wrong, ""


def main():
    program, models, compiled = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    return check_all(program, [compiled / name for name in MODELS], CPUS,
                     lambda folder, *planned_for: check(program, models, folder.name, *planned_for))


if __name__ == "__main__":
    sys.exit(main())
