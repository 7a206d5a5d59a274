#!/usr/bin/env python3
"""Measures kernels and models and writes docs/figures.md: instructions of every benchmark layer beside
CMSIS-NN's, and RAM, flash and instructions of the real models beside the peer's.

usage: make_figures_doc.py BUILD MODELS_FOLDER [DOC]
Needs qemu-system-arm. Instructions of layers are counted by BUILD/bench/corten_bench, bytes are those of
report.json. CMSIS-NN's counts come from bench/cmsis_nn.tsv; the peer's arenas were measured once with
its own Python flow (ExecuTorch 1.5.1, without its runtime and kernel scratch pools) and are quoted.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

CPUS = ("cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55")
PEER_ARENA = {
    "digits_silu": 6512,
    "digits_vit": 21504,
    "ds_cnn": 20464,
    "resnet8": 50768,
    "mobilenet_v1_025": 138240,
    "deep_autoencoder": 3200,
    "silero_vad": 11072,
    "mtcnn_pnet": 499728,
    "mobilenet_v2": 1509744,
    "yolo11n_320": 1619200,
}
NETWORKS = {  # the benchmark's names for sums of layers
    "kws_dscnn": "keyword spotting (ds_cnn)",
    "ic_resnet8": "image classification (resnet8)",
    "vww_mobilenet025": "visual wake words (mobilenet_v1_025)",
    "ad_autoencoder": "anomaly detection (deep_autoencoder)",
}


def output(*args):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, text=True).stdout


def ratios(build, cpu):
    """{layer or network: (instructions, per MAC, ratio to CMSIS-NN or None)} in the bench's order."""
    found = {}
    for line in output(build / "bench/corten_bench", cpu).splitlines():
        word = line.split()
        if line.startswith("cycles per MAC"):
            break
        if len(word) >= 5 and word[1].isdigit():
            found[word[0]] = (int(word[1]), float(word[2]), None if word[4] == "-" else float(word[4]))
    return found


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| --- |" + " --: |" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def kernels(build):
    measured = {cpu: ratios(build, cpu) for cpu in CPUS}
    names = [n for n, (_, _, ratio) in measured[CPUS[-1]].items() if ratio is not None and "/" not in n]
    networks = [n for n in names if n in NETWORKS]
    def row(title, name):
        return [title] + [f"{measured[cpu][name][2]:.3f}" if measured[cpu][name][2] is not None else "" for cpu in CPUS]
    layers = [row(n, n) for n in names if n not in NETWORKS]
    return table(("network",) + CPUS, [row(NETWORKS[n], n) for n in networks]), table(("layer",) + CPUS, layers)


def compiled(corten, folder, name, cpu, work):
    out = work / f"{name}-{cpu}"
    output(corten, "compile", folder / name / "float.pt2", "-c", folder / name / "calib.npz", "-t", cpu, "--io", "int8",
           "-q", "-o", out)
    return json.loads((out / "report.json").read_text())


def thousands(number):
    return f"{number:,}"


def models(corten, folder, work):
    memory, instructions = [], []
    for name, peer in PEER_ARENA.items():
        if not (folder / name / "float.pt2").exists():
            continue
        reports = [compiled(corten, folder, name, cpu, work) for cpu in CPUS]
        memory.append([name, thousands(reports[0]["weights_bytes"])]
                      + [thousands(r["arena_bytes"] + r["state_bytes"]) for r in reports] + [thousands(peer)])
        instructions.append([name, thousands(reports[0]["macs"])] + [thousands(r["instructions_estimate"]) for r in reports])
        print(name, flush=True)
    return (table(("model", "weights") + CPUS + ("the peer",), memory),
            table(("model", "MACs") + CPUS, instructions))


TEXT = """# Figures

Made by `tools/make_figures_doc.py` from real compiles and from counts under QEMU. Accuracy has [a page of its own](accuracy.md).

## Networks against CMSIS-NN

Instructions of all kernels of the four MLPerf Tiny networks, activation passes included, as a share of what CMSIS-NN needs
(both built with GCC 12.2 and counted in the same way; its counts stand in `bench/cmsis_nn.tsv`). Below 1 is better.

{networks}

## Memory

Bytes of the arena with inputs, outputs, scratch and state, `--io int8`, default options; flash for weights as packed for {first}. The peer
is ExecuTorch 1.5.1 for Cortex-M55: what it plans, without its runtime and the pools of its kernels.

{memory}

## Instructions of whole models

What `corten compile` estimates for one run from counts under QEMU; `corten verify --on qemu` counts. They are instructions, not cycles:
wait states, caches and what a core can do at once differ from chip to chip.

{instructions}

## Layer by layer

The same share for each layer of the benchmark (`build/bench/corten_bench CPU` prints counts, counts per MAC and kernels).

{layers}
"""


def main():
    build, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    doc = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else pathlib.Path(__file__).parent.parent / "docs/figures.md"
    networks, layers = kernels(build)
    with tempfile.TemporaryDirectory() as work:
        memory, instructions = models(build / "corten", folder, pathlib.Path(work))
    doc.write_text(TEXT.format(networks=networks, layers=layers, memory=memory, instructions=instructions, first=CPUS[0]))


if __name__ == "__main__":
    main()
