"""Writes tests/data/torch_schemas.txt: the schemas that this torch has, one a line, sorted.

    python tools/dump_schemas.py > tests/data/torch_schemas.txt

Namespaces aten and quantized_decomposed; operators on TorchScript's own types (Dict, complex,
type variables, "...") cannot stand in an exported graph and are left out.
"""

import re

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed

TYPES = {"Tensor", "int", "float", "bool", "str", "number", "Device", "Generator", "Layout",
         "SymInt", "SymFloat", "SymBool", "ScalarType", "MemoryFormat", "Optional", "List"}


def is_exportable(schema):
    types = [str(a.real_type) for a in list(schema.arguments) + list(schema.returns)]
    return "..." not in str(schema) and all(set(re.findall(r"\w+", t)) <= TYPES for t in types)


def main():
    lines = {str(s) for s in torch._C._jit_get_all_schemas()
             if s.name.startswith(("aten::", "quantized_decomposed::")) and is_exportable(s)}
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
