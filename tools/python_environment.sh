#!/bin/sh
# Makes the virtual environment in which the ctest label `python` runs: DIR, by default .venv.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$root/.venv}
[ -x "$dir/bin/python" ] || python3 -m venv "$dir"
"$dir/bin/pip" install --quiet --disable-pip-version-check -r "$root/tests/python/requirements.txt"
