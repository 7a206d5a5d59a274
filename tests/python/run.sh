#!/bin/sh
# Builds the Python package as users do, into a folder of the build, checks its types, runs its
# tests and executes the example notebooks. Without the virtual environment that
# tools/python_environment.sh makes there is nothing to run it with: skipped (77). CORTEN_PYTHONS names
# further interpreters, with another torch, pytest and cffi, whose turn comes with the same wheel.
# usage: run.sh SOURCE BUILD
set -eu
source=$1
site=$2/python
venv=${CORTEN_VENV:-$source/.venv}
if ! [ -x "$venv/bin/python" ]; then
    echo "no virtual environment $venv: tools/python_environment.sh makes it"
    exit 77
fi
PATH="$venv/bin:$PATH"
export PATH
rm -rf "$site"
pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --config-settings build-dir="$2/wheel" --target "$site" "$source/python"
export PYTHONPATH="$site" PYTHONDONTWRITEBYTECODE=1
cd "$source/python"
python -m mypy --cache-dir "$2/mypy"
for python in python ${CORTEN_PYTHONS:-}; do
    "$python" -c 'import torch; print("torch", torch.__version__)'
    "$python" -m pytest -q -p no:cacheprovider
done
for notebook in "$source"/examples/notebook/*.ipynb; do
    python "$source/tests/python/execute.py" "$notebook" "$2/$(basename "$notebook")"
done
