#!/usr/bin/env python3
"""Emits the real models beside the checkout for one CPU and holds them to what the issues ask: no float
node, bit-exact on QEMU, estimates of instructions and stack, and, where all CPUs stand for each other, accuracy
against the peer's figures. SQNR, top-1 and anomaly score are computed here, from what `corten run` writes.

usage: zoo.py CORTEN MODELS_FOLDER COMPILED_FOLDER CPU [MODEL...]
COMPILED_FOLDER has the models of MODELS_FOLDER as `corten compile` writes them, for whatever CPU.
Closes with 'N passed, N failed'.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ACCURACY_ON = "cortex-m55"  # the others run the same quantized graph, bit for bit as the host does
SMALL_MEMORY = ("cortex-m0plus", "cortex-m3")  # simulated boards without room for 2 MB of weights


class Model:
    """What is asked of a model. `peer_db`: SQNR of the peer with all calibration samples, one per
    output; `parts_db`: the least SQNR of rows [from, to) of output 0, instead; `chip_samples`: how
    many samples run on QEMU; `anomaly`: its score is the mean squared error of the reconstruction."""

    def __init__(self, peer_db=(), parts_db=(), chip_samples=1, anomaly=False, large=False):
        self.peer_db, self.parts_db, self.chip_samples = peer_db, parts_db, chip_samples
        self.anomaly, self.large = anomaly, large


ZOO = {
    "digits_silu": Model(peer_db=[30.7], chip_samples=20),
    "ds_cnn": Model(peer_db=[26.9], chip_samples=2),
    "resnet8": Model(peer_db=[17.9]),
    "mobilenet_v1_025": Model(peer_db=[28.3]),
    "deep_autoencoder": Model(peer_db=[30.4], chip_samples=4, anomaly=True),
    "digits_vit": Model(peer_db=[29.5], chip_samples=4),
    "silero_vad": Model(),  # the peer leaves it in float
    "mtcnn_pnet": Model(peer_db=[18.7, 30.2]),
    "mobilenet_v2": Model(peer_db=[12.4], large=True),
    "yolo11n_320": Model(parts_db=[(0, 4, 16.0), (4, 84, 4.0)], large=True),
}


def corten(*args):
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{args[1]} exit {run.returncode}: {run.stderr.strip()[:300]}")
    return run.stdout


def sqnr_db(wanted, got):
    return 10 * np.log10(np.sum(wanted**2) / np.sum((wanted - got) ** 2))


def check_accuracy(model, data, outputs):
    """Returns what is wrong, and the SQNR of each output; `data` has float's outputs and labels."""
    wrong = []
    wanted = [data[f"out{k}"].astype(np.float64) for k in range(len(outputs.files))]
    got = [outputs[name].reshape(w.shape).astype(np.float64) for name, w in zip(outputs.files, wanted)]
    sqnr = [sqnr_db(w, g) for w, g in zip(wanted, got)]
    for k, peer in enumerate(model.peer_db):
        if not sqnr[k] >= peer - 1:
            wrong.append(f"output {k}: SQNR {sqnr[k]:.1f} dB, the peer has {peer}")
    for start, stop, least in model.parts_db:
        part = sqnr_db(wanted[0][:, :, start:stop], got[0][:, :, start:stop])
        if not part >= least:
            wrong.append(f"rows {start} to {stop}: SQNR {part:.1f} dB, {least} is asked")
    if "label" in data:
        hits = [np.mean(np.argmax(y.reshape(len(y), -1), 1) == data["label"]) for y in (wanted[0], got[0])]
        if hits[1] < hits[0] - 0.003:
            wrong.append(f"top-1 {hits[1]:.2%}, in float {hits[0]:.2%}")
    if model.anomaly:
        score = [np.mean((y - data["in0"].reshape(y.shape)) ** 2) for y in (wanted[0], got[0])]
        if abs(score[1] / score[0] - 1) > 0.01:
            wrong.append(f"anomaly score {score[1]:.4f}, in float {score[0]:.4f}")
    return wrong, sqnr


def check_on_chip(program, folder, cpu, model, out, report):
    chip = json.loads(corten(program, "verify", out, "-i", folder / "test.npz", "--on", "qemu",
                             "--limit", model.chip_samples, "--json"))
    wrong = [] if chip["bit_exact"] is True else ["chip and host differ"]
    counted, estimate = chip["instructions"]["total"], report["instructions_estimate"]
    if estimate is None or abs(estimate / counted - 1) > 0.1:
        wrong.append(f"{counted} instructions, estimated {estimate}")
    stack, bound = chip["stack_bytes"], report["bytes"]["stack"]
    if bound is None or stack > bound:
        wrong.append(f"{stack} bytes of stack, the bound is {bound}")
    return wrong, counted


def emit(program, graph, cpu, out, *options):
    corten(program, "compile", graph, "--from", "layout", "-t", cpu, "-o", out, "-q", *options)


def check_without_strips(program, folder, graph, cpu, out):
    """Memory for the asking: no strips, also when the folder is taken up again."""
    emit(program, graph, cpu, out, "--ram", 8000000)
    whole = json.loads(corten(program, "verify", out, "-i", folder / "test.npz", "--on", "qemu", "--limit", 1, "--json"))
    return [] if whole["bit_exact"] is True else ["chip and host differ with --ram"]


def check(program, folder, graph, cpu, work):
    model, out = ZOO[folder.name], work / "out"
    emit(program, graph, cpu, out)
    report = json.loads((out / "report.json").read_text())
    wrong = [f"{report['float_nodes']} float nodes"] if report["float_nodes"] else []
    chip_wrong, instructions = check_on_chip(program, folder, cpu, model, out, report)
    wrong += chip_wrong
    if folder.name == "ds_cnn":
        wrong += check_without_strips(program, folder, graph, cpu, work / "loose")
    print(f"     {folder.name}: arena {report['arena_bytes']}, instructions {instructions}")
    if cpu == ACCURACY_ON:
        corten(program, "run", out, "-i", folder / "test.npz", "-o", work / "outputs.npz")
        inaccurate, sqnr = check_accuracy(model, np.load(folder / "test.npz"), np.load(work / "outputs.npz"))
        wrong += inaccurate
        print(f"     SQNR {', '.join(f'{x:.1f}' for x in sqnr)} dB")
    return wrong


def main():
    program, models, compiled, cpu = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
    passed = failed = 0
    for name, model in ZOO.items():
        if model.large and cpu in SMALL_MEMORY or sys.argv[5:] and name not in sys.argv[5:]:
            continue
        with tempfile.TemporaryDirectory() as work:
            try:
                graph = next((compiled / name).glob("*.corten"))
                wrong = check(program, models / name, graph, cpu, pathlib.Path(work))
            except RuntimeError as e:
                wrong = [str(e)]
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name} on {cpu} {'; '.join(wrong)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
