"""The Python of the README and of the docs runs as it stands there, page by page, one block behind
the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.stem)
def test_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    images = torch.rand(24, 3, 8, 8)
    loader = [(image[None], k % 4) for k, image in enumerate(images)]
    names = {
        "torch": torch,
        "model": nn.Sequential(nn.Conv2d(3, 4, 3), nn.SiLU(), nn.Flatten(), nn.Linear(144, 4)),
        "example": images[:1],
        "image": images[:1],
        "loader": loader,
        "test_loader": loader,
    }
    monkeypatch.chdir(tmp_path)
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)
    assert "compiled" in names or page.stem not in ("README", "python")
