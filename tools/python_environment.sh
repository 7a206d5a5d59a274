#!/bin/sh
# Makes the virtual environment in which the ctest label `python` runs: DIR, by default .venv. With
# TORCH, a version, one that has just what the package's own tests need beside that torch, for
# CORTEN_PYTHONS of tests/python/run.sh.
# usage: python_environment.sh [DIR [TORCH]]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$root/.venv}
[ -x "$dir/bin/python" ] || python3 -m venv "$dir"
if [ $# -gt 1 ]; then
    set -- cffi numpy pytest "torch==$2"
else
    set -- -r "$root/tests/python/requirements.txt"
fi
"$dir/bin/pip" install --quiet --disable-pip-version-check "$@"
