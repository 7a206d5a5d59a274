#!/usr/bin/env python3
"""--ram on real models: plans fit what is allowed, more memory never makes one slower by the estimate,
with memory for the asking none has strips, and below the smallest plan a compile is refused.
mobilenet_v2 runs in 320 KiB bit for bit on QEMU.

usage: ram.py CORTEN MODELS_FOLDER
Closes with 'N passed, N failed'.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CPUS = ["cortex-m4", "cortex-m55"]
MODELS = ["ds_cnn", "resnet8", "mobilenet_v1_025", "mobilenet_v2", "yolo11n_320"]
STEPS = 6  # amounts of memory between the smallest plan's and the fastest one's
ON_CHIP = {"mobilenet_v2": 320 * 1024}


def run(*args):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True)


def output(*args):
    done = run(*args)
    if done.returncode:
        raise RuntimeError(f"{args[1]} exit {done.returncode}: {done.stderr.strip()[:300]}")
    return done.stdout


class Model:
    """A model as quantized once, planned for one CPU with as much memory as is asked for."""

    def __init__(self, program, folder, graph, cpu, work):
        self.program, self.folder, self.graph, self.cpu, self.work = program, folder, graph, cpu, work

    def compile(self, ram=None):
        limit = ["--ram", ram] if ram else []
        return run(self.program, "compile", self.graph, "--from", "layout", "-t", self.cpu, "-o", self.work / "out", "-q",
                   *limit)

    def planned(self, ram=None):
        done = self.compile(ram)
        if done.returncode:
            raise RuntimeError(f"--ram {ram}: {done.stderr.strip()[:300]}")
        report = json.loads((self.work / "out/report.json").read_text())
        return report["arena_bytes"] + report["state_bytes"], report["instructions_estimate"], report

    def check_ladder(self):
        wrong, before = [], None
        least, _, _ = self.planned()
        most, fastest, report = self.planned(10**9)
        if re.search("static void strip", (self.work / f"out/{report['name']}.c").read_text()):
            wrong.append("strips with memory for the asking")
        for k in range(STEPS + 1):
            ram = least + (most - least) * k // STEPS
            bytes_, instructions, _ = self.planned(ram)
            if bytes_ > ram:
                wrong.append(f"{bytes_} bytes, {ram} were allowed")
            if before and instructions > before:
                wrong.append(f"{instructions} instructions with {ram} bytes, {before} with less")
            before = instructions
        if before != fastest:
            wrong.append(f"{before} instructions in {most} bytes, {fastest} with more")
        return wrong

    def check_refused(self):
        done = self.compile(1000)
        if done.returncode != 1 or "1000 were allowed" not in done.stderr or "largest there" not in done.stderr:
            return [f"exit {done.returncode} for 1000 bytes: {done.stderr.strip()[:200]}"]
        return []

    def check_on_chip(self, ram):
        self.planned(ram)
        chip = json.loads(output(self.program, "verify", self.work / "out", "-i", self.folder / "test.npz", "--on", "qemu",
                                 "--limit", 1, "--json"))
        return [] if chip["bit_exact"] is True else [f"chip and host differ in {ram} bytes"]


def main():
    program, models = sys.argv[1], pathlib.Path(sys.argv[2])
    passed = failed = 0
    for name in MODELS:
        folder = models / name
        with tempfile.TemporaryDirectory() as temporary:
            work = pathlib.Path(temporary)
            output(program, "compile", folder / "float.pt2", "-c", folder / "calib.npz", "-t", CPUS[-1], "--io", "int8",
                   "-o", work / "first", "-q")
            graph = next((work / "first").glob("*.corten"))
            for cpu in CPUS:
                try:
                    model = Model(program, folder, graph, cpu, work)
                    wrong = model.check_ladder() + model.check_refused()
                    if name in ON_CHIP:
                        wrong += model.check_on_chip(ON_CHIP[name])
                except RuntimeError as e:
                    wrong = [str(e)]
                passed, failed = passed + (not wrong), failed + bool(wrong)
                print(f"{'FAIL' if wrong else 'ok  '} {name} on {cpu} {'; '.join(wrong)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
