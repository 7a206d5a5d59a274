#!/usr/bin/env python3
"""Compiles convolutional networks for the Cortex-M55 and counts the calls that only bring a value into another
order: at most one for each input and output.

usage: layout.py CORTEN FOLDER...
Closes with 'N passed, N failed'.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ORDERS = ("_relayout", "permute", "transpose")


def transposes(report):
    copies = (c["name"] for c in report["calls"] if c["kernel"].startswith("ctn_copy"))
    return [name for name in copies if any(word in name for word in ORDERS)]


def check(program, folder, work):
    command = [program, "compile", folder / "float.pt2", "-c", folder / "calib.npz", "-t", "cortex-m55", "-o", work, "-q"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    report = json.loads((pathlib.Path(work) / "report.json").read_text())
    found, most = transposes(report), len(report["inputs"]) + len(report["outputs"])
    wrong = len(found) > most
    print(f"{'FAIL' if wrong else 'ok  '} {folder.name}: {len(found)} transposes ({', '.join(found)}), at most {most}")
    return wrong


def main():
    folders = [pathlib.Path(f) for f in sys.argv[2:]]
    failed = 0
    for folder in folders:
        with tempfile.TemporaryDirectory() as work:
            failed += check(sys.argv[1], folder, work)
    print(f"{len(folders) - failed} passed, {failed} failed")
    return 1 if failed or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
