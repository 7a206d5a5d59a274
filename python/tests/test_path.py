"""A model from a file, which needs no torch."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import needs_qemu

import corten

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import corten, numpy
compiled = corten.compile(sys.argv[1], calibration=numpy.load(sys.argv[2])["in0"], out=sys.argv[3])
compiled.run(numpy.load(sys.argv[2])["in0"])
"""


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The executable that the package brings along."""
    program = Path(corten.__file__).parent / "bin" / "corten"
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


def sources(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.rglob("*.[ch]")}


def test_python_and_the_command_line_write_the_same_c(digits: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("torch")  # whose own BLAS is then loaded beside
    by_command, by_python = tmp_path / "command", tmp_path / "python"
    words = ["compile", digits["archive"], "-c", digits["calibration"], "-t", "cortex-m4"]
    assert command(*words, "-o", by_command).returncode == 0
    compiled = corten.compile(
        digits["archive"], calibration=np.load(digits["calibration"])["in0"],
        target="cortex-m4", out=by_python,
    )
    assert sources(by_python) == sources(by_command)
    text = compiled.c_files["digits_silu.c"]
    assert text.encode() == (by_command / "digits_silu.c").read_bytes()


def test_no_torch_is_needed(digits: dict[str, Any], tmp_path: Path) -> None:
    words = [digits["archive"], digits["calibration"], tmp_path / "out"]
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *words], check=True)
    assert (tmp_path / "out" / "digits_silu.c").is_file()


def test_nodes_calls_and_report(compiled: corten.Compiled) -> None:
    assert [n.name for n in compiled.nodes] == [n["name"] for n in compiled.report["nodes"]]
    fused = next(n for n in compiled.nodes if n.op == "aten.silu_")
    assert fused.fate == "fused" and fused.numeric == "int8" and len(fused.into) == 1
    assert {c for n in compiled.nodes for c in n.into} <= {c.name for c in compiled.calls}
    assert sum(c.macs for c in compiled.calls) == compiled.report["macs"]
    assert compiled.inputs[0].shape == [1, 1, 8, 8] and compiled.inputs[0].dtype == "int8"
    assert "arena 2,224 bytes" in repr(compiled) or compiled.report["arena_bytes"] != 2224


def test_run_gives_what_the_command_gives(
    compiled: corten.Compiled, digits: dict[str, Any], tmp_path: Path
) -> None:
    out = tmp_path / "y.npy"
    assert command("run", compiled.folder, "-i", digits["test"], "-o", out).returncode == 0
    assert np.array_equal(compiled.run(digits["in0"]), np.load(out))
    assert np.array_equal(compiled.run(digits["test"]), np.load(out))


def test_forms_of_one_sample_and_of_many(compiled: corten.Compiled, digits: dict[str, Any]) -> None:
    x = digits["in0"]
    many = compiled.run(x[:5])
    assert many.shape == (5, 10) and many.dtype == np.float32
    assert compiled.run(x[0]).shape == (1, 10)
    assert np.array_equal(compiled.run(x[3]), many[3:4])
    assert np.array_equal(compiled.run({"x": x[:5]}), many)
    assert np.array_equal(compiled.run(x[:5].tolist()), many)
    assert np.array_equal(compiled.run(np.asfortranarray(x[:5])), many)
    raw = compiled.run(x[:5], raw=True)
    output = compiled.outputs[0]
    assert raw.dtype == np.int8
    assert np.allclose((raw.astype(np.float32) - output.zero_point) * output.scale, many)


def test_float_run_and_accuracy(compiled: corten.Compiled, digits: dict[str, Any]) -> None:
    assert np.allclose(compiled.run(digits["in0"][:9], on="float"), digits["out0"][:9, 0], atol=1e-4)
    verified = compiled.verify(digits["test"], labels="label")
    assert "top1_integer" in repr(verified) and "json" not in repr(verified)
    assert verified.samples == 497 and verified.bit_exact is None
    assert verified.top1_integer is not None and verified.top1_integer > 0.98
    assert verified.output_sqnr_db[0] > 30 and verified.calls_sqnr_db["conv2d"] > 30


def test_labels_from_anywhere_say_the_same(
    compiled: corten.Compiled, digits: dict[str, Any], tmp_path: Path
) -> None:
    x, y = digits["in0"], digits["label"]
    wanted = compiled.verify(digits["test"], labels="label").top1_integer
    np.save(tmp_path / "y.npy", y)
    batches = [(x[i : i + 100], y[i : i + 100]) for i in range(0, len(x), 100)]
    assert compiled.verify(x, labels=y).top1_integer == wanted
    assert compiled.verify(x, labels=tmp_path / "y.npy").top1_integer == wanted
    assert compiled.verify(batches).top1_integer == wanted
    assert compiled.verify(list(zip(x, y.tolist(), strict=True))).top1_integer == wanted
    assert compiled.verify([a for a, _ in batches]).top1_integer is None


@needs_qemu
def test_the_chip_computes_the_same(compiled: corten.Compiled, digits: dict[str, Any]) -> None:
    verified = compiled.verify(digits["in0"][:2], on="qemu")
    assert verified.bit_exact and verified.instructions and verified.instructions > 100_000
    x = digits["in0"][:2]
    assert np.array_equal(compiled.run(x, on="qemu"), compiled.run(x))


def test_calibration_in_every_form_is_the_same(digits: dict[str, Any], tmp_path: Path) -> None:
    x = np.load(digits["calibration"])["in0"][:40]
    np.save(tmp_path / "x.npy", x)
    forms: list[Any] = [
        tmp_path / "x.npy",
        [tmp_path / "x.npy"],
        x,
        {"x": x},
        [x[:25], x[25:]],
        [(x[i : i + 8], np.zeros(8)) for i in range(0, 40, 8)],
        ((one, 3) for one in x),
        iter([[x, "labels that are no numbers"]]),
    ]
    texts = [corten.compile(digits["archive"], calibration=f).c_files["digits_silu.c"] for f in forms]
    assert len(set(texts)) == 1


def test_load_takes_up_a_folder(digits: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = corten.compile(digits["archive"], calibration=digits["calibration"], out=out)
    again = corten.load(out)
    assert again.report == first.report
    assert np.array_equal(again.run(digits["in0"][:3]), first.run(digits["in0"][:3]))
    with pytest.raises(corten.InputError, match="not the folder of a compiled model"):
        corten.load(tmp_path / "nothing")


def test_a_temporary_folder_goes_with_its_result(digits: dict[str, Any]) -> None:
    compiled = corten.compile(digits["archive"], calibration=digits["in0"][:4])
    folder = compiled.folder
    assert folder.is_dir()
    del compiled
    assert not folder.exists()


def test_options_reach_the_library(digits: dict[str, Any]) -> None:
    compiled = corten.compile(
        digits["archive"],
        calibration=digits["in0"][:8],
        target="cortex-m4",
        isa="v7m",
        io="float",
        optimize="size",
        precision={"conv2d": "int16"},
        input_scale={"x": (1 / 128, -3)},
        export=["make"],
    )
    assert compiled.report["isa"] == "v7m" and compiled.inputs[0].dtype == "float32"
    assert next(n for n in compiled.nodes if n.name == "conv2d").numeric == "int16"
    assert any(name.startswith("make/") for name in compiled.report["files"])


def test_pixels_take_their_normalization_into_the_model(digits: dict[str, Any]) -> None:
    pixels = (digits["in0"][:40] * 127.5 + 127.5).round().astype(np.uint8)
    real = ((pixels / 255 - 0.25) / 0.5).astype(np.float32)
    compiled = corten.compile(
        digits["archive"], calibration=real, io="uint8", input_scale={"x": "pixels"}, mean=0.25, std=0.5
    )
    assert compiled.inputs[0].dtype == "uint8"
    assert np.array_equal(compiled.run(pixels), compiled.run(real))
    assert compiled.verify(real).output_sqnr_db[0] > 20


def test_a_tosa_program_instead_of_c(digits: dict[str, Any]) -> None:
    compiled = corten.compile(digits["archive"], calibration=digits["in0"][:8], emit="tosa")
    assert compiled.tosa is not None and compiled.tosa[4:8] == b"TOSA"
    assert compiled.c_files == {} and compiled.run(digits["in0"][:2]).shape == (2, 10)
    assert corten.compile(digits["archive"], calibration=digits["in0"][:8]).tosa is None


def test_inspect_ops_and_targets(digits: dict[str, Any]) -> None:
    found = corten.inspect(digits["archive"])
    assert found.inputs[0].shape == [1, 1, 8, 8] and found.without_integer_form == 0
    assert found.parameters == 24202 and "silu_" in found.in_place_writes
    assert {n.becomes for n in found.nodes} >= {"kernel", "table"}
    assert any(o.schema.startswith("aten::silu(") and o.integer == "table" for o in corten.ops())
    assert {t.name: t.isa for t in corten.targets()}["cortex-m55"] == "mve"


def test_threads_share_a_model_and_compile_side_by_side(digits: dict[str, Any]) -> None:
    compiled = corten.compile(digits["archive"], calibration=digits["in0"][:8])
    x, results = digits["in0"], {}
    wanted = compiled.run(x[:64])

    def work(k: int) -> None:
        if k == 0:
            other = corten.compile(digits["archive"], calibration=x[:8])
            results[k] = other.run(x[:64])
        else:
            results[k] = compiled.run(x[:64])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(results[k], wanted) for k in range(4))


def test_other_threads_go_on_while_the_library_works(digits: dict[str, Any]) -> None:
    """A thread that only counts gets on during a compile, as it could not if that held the GIL."""
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    corten.compile(digits["archive"], calibration=digits["calibration"])
    done.set()
    thread.join()
    assert counted[0] > 20
