"""What is wrong comes as an exception with all that was found, and stopping is clean."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corten
from corten._errors import in_python


def test_usage(digits: dict[str, Any]) -> None:
    with pytest.raises(corten.UsageError, match='did you mean "cortex-m55"') as caught:
        corten.compile(digits["archive"], calibration=digits["in0"], target="cortex-m56")
    assert caught.value.code == 2 and isinstance(caught.value, ValueError)
    assert "cortex-m0plus" in (caught.value.diagnostics[0].detail or "")


def test_files(tmp_path: Path, digits: dict[str, Any]) -> None:
    with pytest.raises(corten.InputError, match="cannot read the file") as caught:
        corten.compile(tmp_path / "none.pt2", calibration=digits["in0"])
    assert caught.value.code == 3
    assert caught.value.diagnostics[0].file == str(tmp_path / "none.pt2")
    tmp_path.joinpath("bad.pt2").write_bytes(b"no archive")
    with pytest.raises(corten.InputError, match="not a zip archive"):
        corten.inspect(tmp_path / "bad.pt2")


def test_shapes(compiled: corten.Compiled) -> None:
    with pytest.raises(corten.InputError, match=r"shape \[3, 3\]; input 0 needs \[1, 1, 8, 8\]"):
        compiled.run(np.zeros((3, 3)))
    with pytest.raises(corten.InputError, match="not finite"):
        compiled.run(np.full((1, 1, 8, 8), np.nan))
    with pytest.raises(TypeError, match="numbers are needed"):
        compiled.run(np.array(["a"]))
    with pytest.raises(TypeError, match="numbers are needed"):
        compiled.run(np.zeros((1, 1, 8, 8), np.complex64))
    with pytest.raises(corten.InputError, match="3 labels for 4 samples"):
        compiled.verify(np.zeros((4, 1, 1, 8, 8)), labels=[1, 2, 3])


def test_a_run_after_a_failed_one_is_as_before(
    compiled: corten.Compiled, digits: dict[str, Any]
) -> None:
    wanted = compiled.run(digits["in0"][:2])
    with pytest.raises(corten.InputError):
        compiled.run(np.zeros((3, 3)))
    assert np.array_equal(compiled.run(digits["in0"][:2]), wanted)


def test_missing_calibration_is_called_as_in_python(digits: dict[str, Any]) -> None:
    with pytest.raises(corten.CompileError, match="give calibration="):
        corten.compile(digits["archive"])


def test_a_name_that_c_has_for_something_else(digits: dict[str, Any]) -> None:
    with pytest.raises(corten.UsageError, match='name= "int": a model'):
        corten.compile(digits["archive"], calibration=digits["in0"][:4], name="int")
    named = corten.compile(digits["archive"], calibration=digits["in0"][:4], name="digit_reader")
    assert named.name == "digit_reader" and "digit_reader.h" in named.c_files


def test_wrong_types(digits: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="a path, a torch module or exported program"):
        corten.compile(3)
    with pytest.raises(TypeError, match="data of type object"):
        corten.compile(digits["archive"], calibration=object())


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("no calibration data: give -c", "no calibration data: give calibration="),
        ("no input data: give -i FILE or -i FOLDER", "no input data: give x= or x="),
        ("--io-layout nhwc does not fit", "io_layout= nhwc does not fit"),
        ("a -1 and a conv-c stay", "a -1 and a conv-c stay"),
    ],
)
def test_options_are_called_as_in_python(told: str, said: str) -> None:
    assert in_python(told) == said


def test_warnings_are_warned_of(digits: dict[str, Any]) -> None:
    with pytest.warns(corten.CortenWarning, match="no node and no module"):
        corten.compile(
            digits["archive"], calibration=digits["in0"][:4], precision={"nothing*": "int8"}
        )


def test_progress_is_told_and_may_stop(digits: dict[str, Any], tmp_path: Path) -> None:
    seen: list[tuple[str, float]] = []
    corten.compile(
        digits["archive"], calibration=digits["in0"][:8],
        progress=lambda what, fraction: seen.append((what, fraction)),
    )
    assert {"calibrating", "quantize", "plan"} <= {what for what, _ in seen}
    assert all(0 <= fraction <= 1 for _, fraction in seen)
    out = tmp_path / "out"
    with pytest.raises(corten.Stopped):
        corten.compile(
            digits["archive"], calibration=digits["in0"][:8], out=out,
            progress=lambda what, _: what != "quantize",
        )
    assert not out.exists()


def test_what_progress_raises_goes_on(digits: dict[str, Any], compiled: corten.Compiled) -> None:
    def fail(what: str, fraction: float) -> None:
        raise LookupError(what)

    with pytest.raises(LookupError, match="functionalize"):
        corten.compile(digits["archive"], calibration=digits["in0"][:8], progress=fail)
    with pytest.raises(LookupError, match="run"):
        compiled.run(digits["in0"][:8], progress=fail)


INTERRUPTED = """
import sys, numpy, corten
x = numpy.load(sys.argv[2])["in0"]
print("ready", flush=True)
try:
    for _ in range(1000):
        corten.compile(sys.argv[1], calibration=numpy.concatenate([x] * 8))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_control_c_ends_a_compile(digits: dict[str, Any]) -> None:
    words = [sys.executable, "-c", INTERRUPTED, str(digits["archive"]), str(digits["calibration"])]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout and child.stdout.readline() == "ready\n"
        time.sleep(1.5)
        began = time.monotonic()
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert out == "interrupted\n" and err == ""
    assert time.monotonic() - began < 20


def test_a_compile_off_the_main_thread(digits: dict[str, Any]) -> None:
    raised: list[BaseException] = []

    def work() -> None:
        try:
            corten.compile(digits["archive"])
        except corten.CompileError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(raised) == 1
