#!/usr/bin/env python3
"""Makes tests/browser/hostile.pt2: an archive of tests/pains whose names, modules and source lines
are markup that must never reach a browser as such. Needs no torch."""

import json
import pathlib
import shutil
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests/pains/conv_norm_relu_inplace"
TARGET = ROOT / "tests/browser/hostile"
SCRIPT = "</script><script>window.injected = 1; document.title = 'injected'</script><!--"
IMAGE = "<img src=x onerror=\"window.injected = 1\">"


def spoil(node, index):
    node["name"] = f"{SCRIPT if index % 2 else IMAGE}{index}\u2028\\"
    metadata = node["metadata"]
    if "nn_module_stack" in metadata:
        metadata["nn_module_stack"] = f"x,{IMAGE}{SCRIPT}.{index},torch.nn.Conv2d"
    metadata["stack_trace"] = f'  File "{IMAGE}.py", line {index + 1}, in forward\n    y = "{SCRIPT}"\n'


def main():
    with zipfile.ZipFile(SOURCE.with_suffix(".pt2")) as old, \
            zipfile.ZipFile(TARGET.with_suffix(".pt2"), "w") as new:
        for item in old.infolist():
            data = old.read(item)
            if item.filename.endswith("models/model.json"):
                model = json.loads(data)
                for index, node in enumerate(model["graph_module"]["graph"]["nodes"]):
                    spoil(node, index)
                data = json.dumps(model).encode()
            fixed = zipfile.ZipInfo(item.filename, (1980, 1, 1, 0, 0, 0))
            new.writestr(fixed, data)
    shutil.copyfile(SOURCE.with_suffix(".npz"), TARGET.with_suffix(".npz"))


if __name__ == "__main__":
    main()
