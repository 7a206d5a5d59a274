"""Models and data that the tests share. Tests that need torch are skipped without it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corten

DIGITS = Path(__file__).parents[2] / "examples" / "digits_silu"


@pytest.fixture(scope="session")
def digits() -> dict[str, Any]:
    """A trained model with its data: in0 float32[497, 1, 1, 8, 8], label int64[497]."""
    return {
        "archive": DIGITS / "digits_silu.pt2",
        "calibration": DIGITS / "calib.npz",
        "test": DIGITS / "test.npz",
        **np.load(DIGITS / "test.npz"),
    }


@pytest.fixture(scope="session")
def compiled(digits: dict[str, Any]) -> corten.Compiled:
    return corten.compile(digits["archive"], calibration=digits["calibration"])


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


needs_qemu = pytest.mark.skipif(
    not (shutil.which("qemu-system-arm") and shutil.which("arm-none-eabi-gcc")),
    reason="qemu-system-arm and arm-none-eabi-gcc are needed",
)
