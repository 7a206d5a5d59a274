"""Executes a notebook as a user does, cell by cell, and says what it showed.

usage: execute.py NOTEBOOK RESULT
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main() -> None:
    source, result = Path(sys.argv[1]), Path(sys.argv[2])
    notebook = nbformat.read(source, as_version=4)
    NotebookClient(
        notebook, timeout=300, startup_timeout=300, kernel_name="python3", resources={"metadata": {"path": source.parent}}
    ).execute()
    nbformat.write(notebook, result)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    pictures = sum("image/png" in o.get("data", {}) for o in outputs)
    print(f"{source.name}: {len(notebook.cells)} cells, {pictures} pictures")
    if pictures < 3:
        sys.exit("a picture is missing")


if __name__ == "__main__":
    main()
