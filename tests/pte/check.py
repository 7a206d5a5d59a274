"""Runs ExecuTorch programs of Corten with the wheel executorch and compares them with the simulator.

usage: check.py CORTEN SAMPLES CASE... [SAMPLES CASE...]...

A CASE is a folder with an archive (*.pt2), calib.npz and test.npz, or with float.pt2 and input_0.npy,
input_1.npy ... of one sample, or the stem of an archive with an .npz for both beside it. It is compiled with --emit pte for a CPU of each kind of kernels. The wheel
reads the file; scratch must be what CMSIS-NN asks for, and sizes what it can count; the wheel's C++ runtime then verifies, loads
and runs it with the dialect's Python kernels (see runtime.py) in exactly the memory that is planned,
so that a plan that lets two values meet shows, and what is written beyond it.
A single sample is for large models, whose bundle is read but not run.
No number may differ from the simulator; of a case that is given as CASE=STEPS, by at most so many
steps of the output; CASE=STEPS,BYTES also limits the planned memory, and CASE=STEPS,BYTES,CPU is
compiled for that CPU alone, CASE=STEPS,BYTES,CPU,BITS with all that can in BITS (w4); any of them may be empty.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import executorch.backends.cortex_m.passes  # noqa: F401  the dialect and its Python kernels
from executorch.backends.cortex_m.library import cmsis_nn
from executorch.devtools.bundled_program.serialize import deserialize_from_flatbuffer_to_bundled_program
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary

from runtime import DTYPES, Runtime

TARGETS = {"cortex-m55": "MVE", "cortex-m4": "DSP", "cortex-m0plus": "SCALAR"}


def run(*words: object) -> None:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(str(w) for w in words)}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")


class Program:
    """A program as the wheel's Python reads it, and as its C++ runtime has loaded it."""

    def __init__(self, path: Path, runtime: Runtime) -> None:
        self.runtime = runtime
        self.program = deserialize_pte_binary(path.read_bytes()).program
        self.plan = self.program.execution_plan[0]
        sizes = self.plan.non_const_buffer_sizes
        assert len(sizes) == 2 and sizes[0] == 0, sizes
        self.planned = sizes[1]
        self.memory = torch.empty(self.planned, dtype=torch.uint8)
        self.values = [self.bind(v.val) for v in self.plan.values]
        for operator in self.plan.operators:
            assert operator.overload == "out"
            runtime.add(operator.name)
        self.loaded = runtime.load(path.read_bytes())

    def bind(self, v: object) -> object:
        if isinstance(v, schema.Tensor):
            return self.tensor(v)
        if isinstance(v, schema.IntList):
            return [self.plan.values[i].val.int_val for i in v.items]
        for name in ("int_val", "double_val", "bool_val"):
            if hasattr(v, name):
                return getattr(v, name)
        assert isinstance(v, schema.Null), v
        return None

    def tensor(self, v: schema.Tensor) -> torch.Tensor:
        dtype = DTYPES[int(v.scalar_type)]
        count = int(np.prod(v.sizes))
        size = count * dtype.itemsize
        place = v.allocation_info
        if place is None:
            assert v.data_buffer_idx > 0
            data = bytearray(self.program.constant_buffer[v.data_buffer_idx].storage[:size])
            flat = torch.frombuffer(data, dtype=dtype) if size else torch.empty(0, dtype=dtype)
        else:
            start = place.memory_offset_low
            assert place.memory_id == 1 and start % dtype.itemsize == 0 and start + size <= self.planned
            flat = self.memory[start : start + size].view(dtype)
        strides, step = [0] * len(v.sizes), 1
        for d in reversed(v.dim_order):
            strides[d] = step
            step *= v.sizes[d]
        return flat.as_strided(v.sizes, strides)

    def scale_of(self, output: int) -> np.ndarray:
        """Of each number of an output, by what dequantizes into its memory."""
        y = torch.ones_like(self.values[output])
        place = self.plan.values[output].val.allocation_info
        start, scales = place.memory_offset_low, y.flatten().clone()
        order = list(self.plan.values[output].val.dim_order)
        for instruction in self.plan.chains[0].instructions:
            call = instruction.instr_args
            if self.plan.operators[call.op_index].name != "cortex_m::dequantize_per_tensor":
                continue
            at = self.plan.values[call.args[-1]].val.allocation_info.memory_offset_low - start
            if 0 <= at < 4 * y.numel():
                scales[at // 4 : at // 4 + self.values[call.args[-1]].numel()] = self.values[call.args[1]]
        lying = scales.numpy().reshape([y.shape[d] for d in order])
        return lying.transpose(np.argsort(order)) if order else lying

    def run(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        return self.runtime.run(self.loaded, inputs, len(self.plan.outputs))


def bundled(values: list) -> list[np.ndarray]:
    """Tensors of a bundle, in logical order."""
    arrays = []
    for v in (value.val for value in values):
        dtype = {1: np.int8, 6: np.float32}[int(v.scalar_type)]
        order = list(v.dim_order)
        lying = np.frombuffer(bytes(v.data), dtype).reshape([v.sizes[d] for d in order])
        arrays.append(lying.transpose(np.argsort(order)).copy())
    return arrays


def bundle_faults(out: Path, p: Program, steps: float, runs: bool) -> list[str]:
    """What a bundle expects of the program that it holds must be what that gives, if it runs: of the last inputs,
    for the first ones are run besides."""
    bundle = deserialize_from_flatbuffer_to_bundled_program(next(out.glob("*.bpte")).read_bytes())
    faults = [] if bytes(bundle.program) == next(out.glob("*.pte")).read_bytes() else ["another program"]
    suite = bundle.method_test_suites[0]
    if suite.method_name != "forward" or not suite.test_cases:
        faults.append("no cases for forward")
    for case in suite.test_cases[-1:] if runs else []:
        for got, wanted in zip(p.run(bundled(case.inputs)), bundled(case.expected_outputs)):
            if np.abs(got.astype(float) - wanted).max() > steps:
                faults.append("a bundled output is not what the program gives")
    return faults


def transpose_faults(a: list) -> list[str]:
    """CMSIS-NN turns every matrix, and counts its sides in 16 bits, eight rows at once on MVE."""
    x, perm = a[0], a[1]
    if x.dim() != 2 or (perm == [1, 0] and x.shape[0] <= 65535 and 7 * x.shape[1] <= 65535):
        return []
    return [f"transpose of {list(x.shape)} by {perm} is not what CMSIS-NN does"]


def transposed_scratch_faults(a: list, backend: object, target: str) -> list[str]:
    n, c, h, w = a[0].shape
    common = dict(
        input_nhwc=[n, h, w, c], filter_nhwc=list(a[1].shape), stride_hw=a[3], padding_hw=a[4],
        padding_offsets_hw=a[5], dilation_hw=a[6], input_offset=a[7], output_offset=a[8],
        activation_min=a[11], activation_max=a[12])
    kind = cmsis_nn.DataType.A8W8
    out = [a[-1].shape[i] for i in (0, 2, 3, 1)]
    wanted = (cmsis_nn.transpose_conv_buffer_size(backend, kind, output_nhwc=out, **common),
              cmsis_nn.transpose_conv_reverse_conv_buffer_size(backend, kind, **common))
    found = (a[-3].numel(), a[-2].numel())
    rows = h * a[3][0] + max(0, a[1].shape[1] - a[3][0])
    columns = (w - 1) * a[3][1] + max(a[1].shape[2], a[3][1])
    if wanted[1] == 0 and (a[4][0] > 0 or rows != out[1] or a[4][1] + out[2] > columns):
        return ["quantized_transpose_conv2d: CMSIS-NN gives other rows or columns"]
    return [] if found == wanted else [
        f"quantized_transpose_conv2d on {target}: scratch {found}, CMSIS-NN asks for {wanted}"]


def kernel_faults(p: Program, target: str) -> list[str]:
    """Scratch that is not what CMSIS-NN's own functions ask for, and what their code cannot do."""
    backend, kind = getattr(cmsis_nn.Backend, TARGETS[target]), cmsis_nn.DataType.A8W8
    faults = []
    for instruction in p.plan.chains[0].instructions:
        call = instruction.instr_args
        name = p.plan.operators[call.op_index].name
        a = [p.values[i] for i in call.args[:-1]]
        if name == "cortex_m::transpose":
            faults += transpose_faults(a)
        if name == "cortex_m::quantized_transpose_conv2d":
            faults += transposed_scratch_faults(a, backend, target)
        if name not in ("cortex_m::quantized_conv2d", "cortex_m::quantized_depthwise_conv2d"):
            continue
        if max(a[0].shape[1:] + a[-1].shape[1:]) > 65535:
            faults.append(f"{name}: sides of more than 16 bits")
        deep = "depthwise" in name
        if deep and a[0].shape[0] != 1:
            faults.append(f"{name} takes one image at a time")
        n, c, h, w = a[0].shape
        out = [a[-1].shape[i] for i in (0, 2, 3, 1)]
        o = a[1].shape
        common = dict(
            input_nhwc=[n, h, w, c], output_nhwc=out, stride_hw=a[3], padding_hw=a[4], dilation_hw=a[5],
            filter_nhwc=[o[3], o[1], o[2], 1] if deep else list(o), input_offset=a[6 + deep],
            output_offset=a[7 + deep], activation_min=a[-4], activation_max=a[-3])
        wanted = (cmsis_nn.depthwise_conv_wrapper_buffer_size(backend, kind, ch_mult=a[6], **common)
                  if deep else cmsis_nn.convolve_wrapper_buffer_size(backend, kind, **common))
        if a[-2].numel() != max(wanted, 0):
            faults.append(f"{name} on {target}: scratch {a[-2].numel()}, CMSIS-NN asks for {wanted}")
    return faults


def samples(test: Path, report: dict, count: int) -> list[np.ndarray]:
    data = np.load(test)
    arrays = []
    for k, tensor in enumerate(report["inputs"]):
        x = data[f"in{k}"].astype(np.float32)
        arrays.append(x.reshape([-1, *tensor["shape"]])[:count])
    return arrays


def files_of(case: Path, work: Path) -> tuple[Path, Path, Path]:
    inputs = sorted(case.glob("input_*.npy"))
    if inputs:
        data = work / "inputs.npz"
        np.savez(data, **{f"in{k}": np.load(f)[None] for k, f in enumerate(inputs)})
        return case / "float.pt2", data, data
    if case.is_dir():
        return next(case.glob("*.pt2")), case / "calib.npz", case / "test.npz"
    data = case.with_suffix(".npz")
    return case.with_suffix(".pt2"), data, data


def check_target(runtime: Runtime, corten: str, target: str, count: int, case: str, work: Path) -> list[str]:
    path, _, limits = case.partition("=")
    steps, most, _, bits, *_ = (limits + ",,,").split(",")
    archive, calibration, test = files_of(Path(path), work)
    out = work / target
    words = ["--emit", "pte", "--bundle", "-o", out, "-q"]
    if bits:
        (work / "precision").write_text(f"* = {bits}\n")
        words += ["--precision", work / "precision"]
    run(corten, "compile", archive, "-c", calibration, "-t", target, *words)
    report = json.loads((out / "report.json").read_text())
    file = next(out.glob("*.pte"))
    p = Program(file, runtime)
    arrays = samples(test, report, count)
    np.savez(work / "x.npz", **{f"in{k}": a for k, a in enumerate(arrays)})
    run(corten, "run", out, "-i", work / "x.npz", "-o", work / "y.npz", "-q")
    wanted = list(np.load(work / "y.npz").values())
    worst, differing, total = 0.0, 0, 0
    scales = [p.scale_of(i) for i in p.plan.outputs]
    for s in range(len(arrays[0])):
        for k, y in enumerate(p.run([np.asarray(a[s]) for a in arrays])):
            d = np.abs(y.ravel() - wanted[k][s].ravel()) / scales[k].ravel()
            worst = max(worst, float(d.max()))
            differing += int((d > 1e-3).sum())
            total += d.size
    print(f"{Path(path).name}{' in ' * bool(bits)}{bits} for {target}: {differing} of {total} numbers differ, by at most {worst:.2f} "
          f"steps; {p.planned:,} bytes planned, file {file.stat().st_size:,}", flush=True)
    faults = kernel_faults(p, target) + bundle_faults(out, p, (int(steps or 0) + 1e-3) * max(x.max() for x in scales), count > 1)
    if worst > int(steps or 0) + 1e-3:
        faults.append(f"{path} on {target} differs by {worst} steps")
    if most and p.planned > int(most):
        faults.append(f"{path} on {target} plans {p.planned} bytes, {most} are allowed")
    return faults


def main() -> None:
    corten, *cases = sys.argv[1:]
    faults, count = [], 0
    built = tempfile.TemporaryDirectory()
    runtime = Runtime(Path(built.name))
    for case in cases:
        if case.isdigit():
            count = int(case)
            continue
        only = [cpu for cpu in case.partition("=")[2].split(",")[2:3] if cpu]
        if runtime.kernels:  # the host's are the plain ones, with their scratch
            only = ["cortex-m0plus"]
        for target in only or TARGETS:
            with tempfile.TemporaryDirectory() as work:
                faults += check_target(runtime, corten, target, count, case, Path(work))
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
