"""Compares a TOSA program with Corten's simulator, by the reference model of the wheel tosa-tools.

usage: check.py CORTEN TOSA_REFERENCE_MODEL SAMPLES CASE...

A CASE is a folder with an archive (*.pt2), calib.npz and test.npz, or the stem of an archive with an
.npz for both beside it. It is compiled with --emit tosa; then each of the first SAMPLES goes through
both. No number may differ; of a case that is given as CASE=STEPS, by at most so many steps. Of one that is
given as CASE=STEPS,int16 all that can has 16 bits, of one as CASE=STEPS,w4 its weights 4.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def run(*words: object) -> None:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(str(w) for w in words)}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")


def quantized(x: np.ndarray, tensor: dict) -> np.ndarray:
    """As torch does: in float32, ties to even. What has no grid is what it is."""
    if tensor["scale"] is None:
        return x.astype(tensor["dtype"])
    inverse = np.float32(1) / np.float32(tensor["scale"])
    q = np.rint(x.astype(np.float32) * inverse) + tensor["zero_point"]
    if tensor["dtype"] == "int16":
        return np.clip(q, -32767, 32767).astype(np.int16)
    return np.clip(q, -128, 127).astype(np.int8)


def samples(test: Path, report: dict, count: int) -> list[np.ndarray]:
    """The inputs of the first samples, as integers of exactly the inputs' shapes."""
    data = np.load(test)
    arrays = []
    for k, tensor in enumerate(report["inputs"]):
        x = data[f"in{k}"]
        shape = tensor["shape"]
        each = int(np.prod(shape))
        if x.size % each:
            sys.exit(f"in{k} of {test} has no samples of {shape}")
        arrays.append(quantized(x.reshape([-1, *shape])[:count], tensor))
    return arrays


def simulated(corten: str, out: Path, arrays: list[np.ndarray], work: Path) -> dict:
    """Output k of all samples, as integers."""
    np.savez(work / "x.npz", **{f"in{k}": a for k, a in enumerate(arrays)})
    run(corten, "run", out, "-i", work / "x.npz", "-o", work / "y.npz", "--raw", "-q")
    return dict(np.load(work / "y.npz"))


def referenced(model: str, tosa: Path, names: tuple[list, list], one: list, work: Path) -> list:
    files = [[f"{side}{k}.npy" for k in range(len(n))] for side, n in zip("io", names)]
    for name, array in zip(files[0], one):
        np.save(work / name, array)
    run(model, "--tosa_file", tosa, "--flatbuffer_dir", work, "--output_dir", work,
        "--ifm_name", ",".join(names[0]), "--ifm_file", ",".join(files[0]),
        "--ofm_name", ",".join(names[1]), "--ofm_file", ",".join(files[1]))
    return [np.load(work / f) for f in files[1]]


def initial(state: dict) -> np.ndarray:
    """What it holds before the first run."""
    first = np.array(state["initial"], state["dtype"])
    return np.broadcast_to(first, state["shape"]) if first.ndim == 0 else first.reshape(state["shape"])


def files_of(case: Path) -> tuple[Path, Path, Path]:
    if case.is_dir():
        return next(case.glob("*.pt2")), case / "calib.npz", case / "test.npz"
    data = case.with_suffix(".npz")
    return case.with_suffix(".pt2"), data, data


def check(corten: str, model: str, count: int, case: str) -> bool:
    path, _, limits = case.partition("=")
    steps, _, bits = limits.partition(",")
    archive, calibration, test = files_of(Path(path))
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        out = work / "out"
        words = ["--emit", "tosa", "-o", out, "-q"]
        if bits:
            (work / "precision").write_text(f"* = {bits}\n")
            words += ["--precision", work / "precision"]
        run(corten, "compile", archive, "-c", calibration, "-t", "cortex-m55", *words)
        report = json.loads((out / "report.json").read_text())
        tosa = next(out.glob("*.tosa"))
        arrays = samples(test, report, count)
        wanted = simulated(corten, out, arrays, work)
        inputs, outputs = ([x["name"] for x in report[side]] for side in ("inputs", "outputs"))
        states = [initial(x) for x in report["states"]]
        inputs += [x["name"] for x in report["states"]]
        for k, y in enumerate(outputs):  # no two tensors have one name
            while y in inputs + outputs[:k]:
                y = f"out.{y}"
            outputs[k] = y
        outputs += [f"next.{x['name']}" for x in report["states"]]
        worst, differing, total = 0, 0, 0
        for s in range(len(arrays[0])):
            got = referenced(model, tosa, (inputs, outputs), [a[s] for a in arrays] + states, work)
            states = got[len(wanted):]
            for y, w in zip(got, wanted.values()):
                d = np.abs(y.astype(int).ravel() - w[s].astype(int).ravel())
                worst = max(worst, int(d.max()))
                differing += int((d > 0).sum())
                total += d.size
        print(f"{Path(path).name}{' in ' * bool(bits)}{bits}: {len(arrays[0])} samples, {differing} of {total} numbers differ, "
              f"by at most {worst}; {tosa.stat().st_size:,} bytes", flush=True)
        return worst <= int(steps or 0)


def main() -> None:
    corten, model, count, *cases = sys.argv[1:]
    good = [check(corten, model, int(count), case) for case in cases]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
