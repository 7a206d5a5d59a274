#!/usr/bin/env python3
"""Measures the real models of a folder and writes docs/accuracy.md: float, Corten and the peer, the
observers side by side, and how far the result swings with the calibration samples.

usage: make_accuracy_doc.py CORTEN MODELS_FOLDER [DOC]
Every figure comes from a compile and a verify made here, but for the peer's, which were measured
once with its own Python flow (ExecuTorch 1.5.1, all calibration samples) and are quoted.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy

PEER = {  # SQNR dB per output with all calibration samples; its top-1 where the model has labels
    "digits_silu": ("30.7", "99.60 %"),
    "digits_vit": ("29.5", "95.77 %"),
    "ds_cnn": ("26.9", ""),
    "resnet8": ("17.9", "90 %"),
    "mobilenet_v1_025": ("28.3", "100 %"),
    "deep_autoencoder": ("30.4", "score 7.4 % off"),
    "mtcnn_pnet": ("18.7 / 30.2 (before lowering)", ""),
    "silero_vad": ("stays float in 26 nodes", "98.2 % of frames"),
    "mobilenet_v2": ("12.4", ""),
    "yolo11n_320": ("boxes 14.9, scores 0.0", ""),
}
OBSERVERS = ("minmax", "percentile", "mse")
SWINGING = ("ds_cnn", "resnet8")
SUBSETS = 8
WIDTHS = ("w4", "int16")


def corten(*args):
    # one kind of BLAS kernels, so that other machines measure the same
    there = {**os.environ, "OPENBLAS_CORETYPE": "Haswell"}
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True, env=there)
    if run.returncode:
        raise RuntimeError(f"{' '.join(map(str, args[1:3]))}: {run.stderr.strip()}")
    return run.stdout


class Zoo:
    def __init__(self, program, folder, work):
        self.program, self.folder, self.work = program, folder, work

    def models(self):
        return [name for name in PEER if (self.folder / name / "float.pt2").exists()]

    def compile(self, name, *options, data=None):
        out = self.work / "out"
        corten(self.program, "compile", self.folder / name / "float.pt2", "-t", "cortex-m55", "-q",
               "-c", data or self.folder / name / "calib.npz", "-o", out, *options)
        return out

    def verify(self, name, out):
        test = self.folder / name / "test.npz"
        labels = ["--labels", "label"] if "label" in numpy.load(test).files else []
        return json.loads(corten(self.program, "verify", out, "-i", test, "--json", *labels))

    def outputs(self, name, out, on):
        test, result = self.folder / name / "test.npz", self.work / "result.npz"
        corten(self.program, "run", out, "-i", test, "-o", result, "--on", on)
        arrays = numpy.load(result)
        return [arrays[f] for f in arrays.files]


def db(values):
    return " / ".join(f"{v:.1f}" for v in values)


def sqnr(want, got):
    want, got = numpy.asarray(want, float), numpy.asarray(got, float)
    noise = ((want - got) ** 2).sum()
    return 10 * numpy.log10((want**2).sum() / noise) if noise else numpy.inf


def boxes_and_scores(zoo, name, out):
    """A detector's one output: four rows of boxes, the rest scores."""
    want, got = zoo.outputs(name, out, "float")[0], zoo.outputs(name, out, "host")[0]
    want, got = want.reshape(len(want), 84, -1), got.reshape(len(got), 84, -1)
    lost = ((got[:, 4:].max(1) == 0) & (want[:, 4:].max(1) > 0.01)).sum()
    return f"boxes {sqnr(want[:, :4], got[:, :4]):.1f}, scores {sqnr(want[:, 4:], got[:, 4:]):.1f} ({lost} lost)"


def anomaly_score(zoo, name, out):
    inputs = numpy.load(zoo.folder / name / "test.npz")["in0"].reshape(-1, 640)
    score = [float(((zoo.outputs(name, out, on)[0].reshape(inputs.shape) - inputs) ** 2).mean())
             for on in ("float", "host")]
    return f"score {score[0]:.3f} → {score[1]:.3f} ({100 * (score[1] / score[0] - 1):+.2f} %)"


def stream_accuracy(zoo, name):
    """Speech or none, frame by frame, the model keeping its state: of all frames of stream.npz."""
    stream, frames = numpy.load(zoo.folder / name / "stream.npz"), zoo.work / "frames.npz"
    numpy.savez(frames, in0=stream["in0"])
    out = zoo.compile(name, "--state", "state=1")
    corten(zoo.program, "run", out, "--stream", "-i", frames, "-o", zoo.work / "speech.npz")
    speech = numpy.load(zoo.work / "speech.npz")
    right = [100 * float(((p.ravel() > 0.5) == (stream["label"] > 0.5)).mean())
             for p in (stream["prob"], speech[speech.files[0]])]
    return f"stream {right[0]:.2f} → {right[1]:.2f} %"


def metric(zoo, name, out, result):
    if name == "silero_vad":
        return stream_accuracy(zoo, name)
    if name == "deep_autoencoder":
        return anomaly_score(zoo, name, out)
    if "top1" not in result:
        return ""
    top = result["top1"]
    return f"{100 * top['float']:.2f} → {100 * top['integer']:.2f} %, agreement {100 * top['agreement']:.2f} %"


def rows_of_defaults(zoo):
    rows = []
    for name in zoo.models():
        out = zoo.compile(name)
        result = zoo.verify(name, out)
        report = json.loads((out / "report.json").read_text())
        shown = db(result["output_sqnr_db"])
        if name == "yolo11n_320":
            shown = boxes_and_scores(zoo, name, out)
        wide = sum(n["numeric"] == "int16" for n in report["nodes"])
        rows.append((name, shown, PEER[name][0], metric(zoo, name, out, result), PEER[name][1],
                     str(report["float_nodes"]), str(wide)))
        print(*rows[-1], sep=" | ", flush=True)
    return rows


def rows_of_observers(zoo):
    rows, sums, steady = [], {o: [] for o in OBSERVERS}, {o: [] for o in OBSERVERS}
    for name in zoo.models():
        row = [name]
        for observer in OBSERVERS:
            values = zoo.verify(name, zoo.compile(name, "--observer", observer))["output_sqnr_db"]
            sums[observer].append(statistics.mean(values))
            if name not in SWINGING:
                steady[observer].append(statistics.mean(values))
            row.append(db(values))
        rows.append(row)
        print(*row, sep=" | ", flush=True)
    rows.append(["mean"] + [f"{statistics.mean(sums[o]):.1f}" for o in OBSERVERS])
    rows.append([f"mean without {', '.join(SWINGING)}"] + [f"{statistics.mean(steady[o]):.1f}" for o in OBSERVERS])
    return rows


def rows_of_widths(zoo):
    """All nodes under one rule: SQNR and, where there are labels, top-1."""
    rows = []
    for name in zoo.models():
        row = [name]
        for width in WIDTHS:
            rule = zoo.work / "rule.txt"
            rule.write_text(f"* = {width}\n")
            out = zoo.compile(name, "--precision", rule)
            result = zoo.verify(name, out)
            row.append(boxes_and_scores(zoo, name, out) if name == "yolo11n_320" else db(result["output_sqnr_db"]))
            row.append(f"{100 * result['top1']['integer']:.2f} %" if "top1" in result else "")
        rows.append(row)
        print(*row, sep=" | ", flush=True)
    return rows


def rows_of_subsets(zoo):
    rows = []
    for name in SWINGING:
        if name not in zoo.models():
            continue
        data = numpy.load(zoo.folder / name / "calib.npz")
        seen = []
        for left_out in range(SUBSETS):
            part = {k: data[k][numpy.arange(len(data[k])) % SUBSETS != left_out] for k in data.files}
            numpy.savez(zoo.work / "part.npz", **part)
            out = zoo.compile(name, data=zoo.work / "part.npz")
            seen.append(zoo.verify(name, out)["output_sqnr_db"][0])
        rows.append((name, f"{min(seen):.1f}", f"{statistics.median(seen):.1f}", f"{max(seen):.1f}"))
        print(*rows[-1], sep=" | ", flush=True)
    return rows


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


TEXT = """# Accuracy

Made by `tools/make_accuracy_doc.py` from real compiles, with default options unless a column says otherwise. SQNR in
decibels of each output against the archive in float, over the whole test set, on the host (the chip gives the same bits).
The peer is ExecuTorch 1.5.1 for Cortex-M with all calibration samples, measured once with its own Python flow.
mobilenet_v2 and yolo11n_320 have random weights: their figures compare compilers and say nothing of accuracy.

## Float, Corten, the peer

{defaults}

## Observers

The default is `mse`: ranges by the squared error that rounding and clipping make, weighed by the histogram, and, where it is
known, by what the reader makes of the numbers. ds_cnn and resnet8 have 17 and 20 test samples and swing with every change by
more than observers differ (below), so the means are given with and without them. SQNR of each output:

{observers}

## Other widths

Every node under one rule of `--precision`: all weights in 4 bits, or all activations in 16.

{widths}

## How far results swing

Small calibration sets cover ranges by luck. With every {subsets}th calibration sample left out, eight times, another one each:

{spread}

One int8 grid for the input decides most of it for ds_cnn: `corten sensitivity` shows the input as the costliest rounding by
far, and `--accuracy-budget`, which may give inputs 16 bits, starts with it.

## How constants are chosen

Not on test data: `tools/hold_out.py` deals a model's calibration samples into parts, calibrates without one of them and measures on
it. The damping of the covariances with which weights are rounded was once chosen on the figures above; held-out samples tell
0.04 from 0.01 and 0.1 by less than they swing (ds_cnn 34.4 / 35.2 / 35.5 dB, digits_silu 34.4 / 34.3 / 34.3, mobilenet_v1_025
39.0 / 39.4 / 37.8, resnet8 24.5 / 23.8 / 27.8 with 0.01 / 0.04 / 0.1). With 4 bits they prefer less damping, and 0.01 is what GPTQ's
authors published (nine parts: resnet8 14.2 / 12.4 / 9.6 / 7.7, mobilenet_v1_025 27.6 / 28.3 / 26.6 / 28.5 with 0.005 / 0.01 / 0.02 / 0.04).

## What limits a model, and what to do

`corten sensitivity MODEL.pt2 -c DATA` lists what each node's rounding costs by itself, values and weights apart.
`--accuracy-budget DB` raises values to int16 until every output reaches the figure over the calibration samples, the cheapest in
bytes and instructions first, and names them in the report; out of reach, it says how far it came and which nodes limit it.
`--precision FILE` gives nodes or modules `int8`, `int16`, `w4` or `float` by name. `corten verify` names the worst calls, and
values of which more than 1 % are clipped or clipped numbers make most of the error: beyond what calibration has seen (then the
calibration data are unlike the test data), or beyond the range that the observer chose of it.
"""


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    doc = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else pathlib.Path(__file__).parent.parent / "docs/accuracy.md"
    with tempfile.TemporaryDirectory() as work:
        zoo = Zoo(program, folder, pathlib.Path(work))
        defaults = table(
            ("model", "SQNR", "peer", "float → integer", "peer", "float nodes", "int16 nodes"), rows_of_defaults(zoo))
        spread = table(("model", "least", "median", "most"), rows_of_subsets(zoo))
        widths = table(("model", "w4", "top-1", "int16", "top-1"), rows_of_widths(zoo))
        observers = table(("model",) + OBSERVERS, rows_of_observers(zoo))
    doc.write_text(TEXT.format(defaults=defaults, observers=observers, widths=widths, spread=spread, subsets=SUBSETS))


if __name__ == "__main__":
    main()
