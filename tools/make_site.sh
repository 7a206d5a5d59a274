#!/bin/sh
# The documentation as a site in build-site/: pages by mkdocs, the C reference by Doxygen.
set -eu
cd "$(dirname "$0")/.."
for tool in mkdocs doxygen; do
    command -v $tool >/dev/null || { echo "$tool is missing; on Debian: apt-get install $tool"; exit 77; }
done
mkdocs build --quiet --strict --clean
doxygen tools/reference.doxy
test -s build-site/reference/corten_8h.html
test -s build-site/reference/ctn_8h.html
grep -q 'corten_compile' build-site/reference/corten_8h.html
