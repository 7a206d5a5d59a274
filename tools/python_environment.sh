#!/bin/sh
# Makes a virtual environment in which tests with the ctest label `python` run: DIR, by default .venv,
# with what FILE lists, by default tests/python/requirements.txt.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$root/.venv}
[ -x "$dir/bin/python" ] || python3 -m venv "$dir"
"$dir/bin/pip" install --quiet --disable-pip-version-check -r "${2:-$root/tests/python/requirements.txt}"
