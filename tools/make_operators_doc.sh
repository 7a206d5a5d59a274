#!/bin/sh
# Writes docs/operators.md from what `corten ops` prints. usage: make_operators_doc.sh [CORTEN] [FILE]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
corten=${1:-$root/build/corten}
file=${2:-$root/docs/operators.md}
{
    cat <<'END'
# Operators

What `corten ops` prints: every row of the operator table by its PyTorch schema, what it becomes in integers, and what
where it is allowed to stay in float. In-place twins (`relu_`, `add_`), `out=` forms and `*_copy` forms of a row are derived from its
schema and work without being listed.

- `kernel`: integer kernel calls
- `table`: a table of 256 or 1024 entries, alone or in the store of the kernel before it; also as a part of a larger pointwise region
- `program`: a short list of instructions that one float kernel interprets for each element
- `movement`: the same kernel calls move floats
- `decomposes`: the graph it stands for
- `vanishes`: nothing is left to compute
- `none`: refused with a diagnostic, unless it folds into a constant

```
END
    "$corten" ops
    echo '```'
} > "$file"
