#!/usr/bin/env python3
"""Counts, in convolutional networks compiled for the Cortex-M55, the calls that only bring a value into another
order: at most one for each input and output.

usage: layout.py FOLDER...
A FOLDER is what `corten compile` has written. Closes with 'N passed, N failed'.
"""
import json
import pathlib
import sys

ORDERS = ("_relayout", "permute", "transpose")


def transposes(report):
    copies = (c["name"] for c in report["calls"] if c["kernel"].startswith("ctn_copy"))
    return [name for name in copies if any(word in name for word in ORDERS)]


def check(folder):
    report = json.loads((folder / "report.json").read_text())
    found, most = transposes(report), len(report["inputs"]) + len(report["outputs"])
    wrong = len(found) > most
    print(f"{'FAIL' if wrong else 'ok  '} {folder.name}: {len(found)} transposes ({', '.join(found)}), at most {most}")
    return wrong


def main():
    folders = [pathlib.Path(f) for f in sys.argv[1:]]
    failed = sum(check(folder) for folder in folders)
    print(f"{len(folders) - failed} passed, {failed} failed")
    return 1 if failed or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
