#!/usr/bin/env python3
"""Compiles the real models beside the checkout for one CPU and holds them to what the issues ask:
no float node, bit-exact on QEMU, accuracy against the peer's figures.

usage: zoo.py CORTEN MODELS_FOLDER CPU
Accuracy (SQNR over the whole test set, on the host) is asked once, for cortex-m55; the chip runs a
few samples. Closes with 'N passed, N failed'.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

# model: SQNR of the peer with all calibration samples (one per output, None: not compared),
# samples on the chip
ZOO = {
    "digits_silu": ([30.7], 20),
    "ds_cnn": ([26.9], 2),
    "resnet8": ([17.9], 1),
    "mobilenet_v1_025": ([28.3], 1),
    "deep_autoencoder": ([30.4], 4),
    "digits_vit": ([29.5], 4),
    "silero_vad": ([None, None], 1),
    "mtcnn_pnet": ([18.7, 30.2], 1),
}


def corten(*args):
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{args[1]} exit {run.returncode}: {run.stderr.strip()[:300]}")
    return run.stdout


def check(program, folder, cpu, out):
    wrong = []
    sqnr, samples = ZOO[folder.name]
    corten(program, "compile", folder / "float.pt2", "-c", folder / "calib.npz", "-t", cpu, "-o", out, "-q")
    report = json.loads((out / "report.json").read_text())
    if report["float_nodes"]:
        wrong.append(f"{report['float_nodes']} float nodes")
    chip = json.loads(corten(program, "verify", out, "-i", folder / "test.npz", "--on", "qemu", "--limit", samples, "--json"))
    if chip["bit_exact"] is not True:
        wrong.append("chip and host differ")
    if folder.name == "ds_cnn":  # memory for the asking: no strips, also when taken up again
        loose = out.with_name("loose")
        corten(program, "compile", folder / "float.pt2", "-c", folder / "calib.npz", "-t", cpu, "-o", loose, "-q", "--ram", 8000000)
        whole = json.loads(corten(program, "verify", loose, "-i", folder / "test.npz", "--on", "qemu", "--limit", 1, "--json"))
        if whole["bit_exact"] is not True:
            wrong.append("chip and host differ with --ram")
    counted, estimate = chip["instructions"]["total"], report["instructions_estimate"]
    if estimate is None or abs(estimate / counted - 1) > 0.1:
        wrong.append(f"{counted} instructions, estimated {estimate}")
    stack, bound = chip["stack_bytes"], report["bytes"]["stack"]
    if bound is None or stack > bound:
        wrong.append(f"{stack} bytes of stack, the bound is {bound}")
    if cpu != "cortex-m55":
        return wrong
    host = json.loads(corten(program, "verify", out, "-i", folder / "test.npz", "--json"))
    for k, (want, got) in enumerate(zip(sqnr, host["output_sqnr_db"])):
        if want is not None and got < want - 1:
            wrong.append(f"output {k}: SQNR {got:.1f} dB, the peer has {want}")
    print(f"     {folder.name}: SQNR {', '.join(f'{x:.1f}' for x in host['output_sqnr_db'])} dB, "
          f"arena {report['arena_bytes']}, instructions {chip['instructions']['total']}")
    return wrong


def main():
    program, models, cpu = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    passed = failed = 0
    for name in ZOO:
        with tempfile.TemporaryDirectory() as work:
            try:
                wrong = check(program, models / name, cpu, pathlib.Path(work) / "out")
            except RuntimeError as e:
                wrong = [str(e)]
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name} on {cpu} {'; '.join(wrong)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
