#!/bin/sh
# Runs every fuzzer in $1/fuzz for $2 seconds, one after the other. Inputs that reach new code are kept in
# $1/corpus for the next time. Exits with 1 if a fuzzer found a failure, whose input is in $1/findings.
set -u
failed=0
mkdir -p "$1/findings"
for fuzzer in "$1"/fuzz/fuzz_*; do
  [ -x "$fuzzer" ] || continue
  name=$(basename "$fuzzer")
  mkdir -p "$1/corpus/$name"
  echo "== $name: $2 s"
  "$fuzzer" "$1/corpus/$name" -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$1/findings/$name-" || failed=1
done
exit $failed
