#!/usr/bin/env python3
"""Exports small modules in each way that torch has, compiles each archive, and compares the integers with
torch on inputs that calibration has not seen: what is refused, what is coarse, and what differs between
the ways of one model is printed.

    python tools/sweep_exports.py CORTEN [module glob] ...     all of tools/sweep_modules.py without globs
        --ways strict,nonstrict,training,core     --least DB (default 30)     --keep FOLDER     --all
"""

import argparse
import copy
import fnmatch
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import sweep_modules  # noqa: E402

CALIBRATED, UNSEEN = 128, 16


def flatten(tree):
    return torch.utils._pytree.tree_flatten(tree)[0]


def array(value):
    return value.detach().resolve_neg().contiguous().numpy() if isinstance(value, torch.Tensor) else numpy.array(value)


def samples(make, count, seed):
    """Each argument list, and the arrays of all as corten takes them."""
    torch.manual_seed(seed)
    given = [make() for _ in range(count)]
    flat = [[array(v) for v in flatten(g)] for g in given]
    return given, {f"in{i}": numpy.stack([f[i] for f in flat]) for i in range(len(flat[0]))}


def exported(module, inputs, way):
    with torch.no_grad():
        program = torch.export.export(copy.deepcopy(module), copy.deepcopy(inputs), strict=way == "strict")
        return program.run_decompositions({}) if way == "training" else program.run_decompositions() if way == "core" else program


def sqnr(want, got):
    """Decibels; 999 for equal numbers."""
    want, got = want.astype(numpy.float64), got.astype(numpy.float64).reshape(want.shape)
    noise, signal = numpy.sum((want - got) ** 2), numpy.sum(want ** 2)
    return 999.0 if noise == 0 else -999.0 if signal == 0 or not numpy.isfinite(noise) else 10 * numpy.log10(signal / noise)


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300)


def judge(corten, folder, way, module, make, options):
    """A list of decibels, or what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    given, calibration = samples(make, CALIBRATED, 1)
    unseen, arrays = samples(make, UNSEEN, 2)
    numpy.savez(folder / "calib.npz", **calibration)
    numpy.savez(folder / "unseen.npz", **arrays)
    try:
        torch.export.save(exported(module, given[0], way), folder / "model.pt2")
    except Exception as error:  # whatever torch's exporter cannot do is not Corten's matter
        return f"torch: {str(error).splitlines()[0][:90]}"
    made = run(corten, "compile", folder / "model.pt2", "-c", folder / "calib.npz", "-t", "cortex-m55", "-q", "-o",
               folder / "out", *options)
    (folder / "compile.log").write_text(made.stderr)
    if made.returncode != 0:
        return f"exit {made.returncode}: {next((l for l in made.stderr.splitlines() if 'error' in l), made.stderr[:200])}"
    ran = run(corten, "run", folder / "out", "-i", folder / "unseen.npz", "-o", folder / "got.npz")
    if ran.returncode != 0:
        return f"run exit {ran.returncode}: {ran.stderr[:200]}"
    model = copy.deepcopy(module)
    with torch.no_grad():
        want = [[array(v) for v in flatten(model(*copy.deepcopy(g))) if v is not None] for g in unseen]
    got = numpy.load(folder / "got.npz")
    return [sqnr(numpy.stack([w[k] for w in want]), got[name]) for k, name in enumerate(got.files)]


def shown(result):
    return result if isinstance(result, str) else " ".join(f"{v:6.1f}" for v in result)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corten")
    options.add_argument("module", nargs="*")
    options.add_argument("--ways", default="strict,nonstrict,training,core")
    options.add_argument("--least", type=float, default=30)
    options.add_argument("--keep", type=pathlib.Path)
    options.add_argument("--all", action="store_true", help="print what is as it should be, too")
    options.add_argument("--options", default="", help="more words for corten compile")
    o = options.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        for name, module, make in list(sweep_modules.cases()):  # made before any sample is drawn: seeds
            if o.module and not any(fnmatch.fnmatch(name, g) for g in o.module):
                continue
            results = {}
            for way in o.ways.split(","):
                try:
                    results[way] = judge(o.corten, (o.keep or pathlib.Path(temporary)) / name / way, way, module.eval(), make,
                                         o.options.split())
                except Exception as error:
                    results[way] = f"sweep: {type(error).__name__}: {error}"
            texts = {shown(r) for r in results.values()}
            bad = len(texts) > 1 or any(isinstance(r, str) or min(r) < o.least for r in results.values())
            if bad or o.all:
                for text in texts:
                    print(f"{name:28s} {','.join(w for w, r in results.items() if shown(r) == text):32s} {text}", flush=True)


if __name__ == "__main__":
    main()
