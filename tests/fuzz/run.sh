#!/bin/sh
# Runs every target of a build with CORTEN_FUZZ for so many seconds, one after the other, from the
# committed corpus; what is new goes to BUILD/corpus, findings to BUILD/findings.
# usage: run.sh BUILD_FOLDER SECONDS [TARGET ...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
seconds=$2
shift 2
[ $# -gt 0 ] || set -- $(cd "$here/corpus" && ls)
found=0
for target; do
    mkdir -p "$build/corpus/$target" "$build/findings"
    nice "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        -malloc_limit_mb=200 -print_final_stats=1 -artifact_prefix="$build/findings/$target-" \
        "$build/corpus/$target" "$here/corpus/$target" >"$build/$target.log" 2>&1 || found=1
    grep -E 'stat::number_of_executed_units|SUMMARY|ERROR' "$build/$target.log" | sed "s/^/$target: /"
done
exit $found
