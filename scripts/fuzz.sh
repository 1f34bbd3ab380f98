#!/bin/sh
# Runs every fuzzer in turn, starting from the inputs kept in tests/fuzz/corpus. With --keep it
# then adds the fewest new inputs that reach more code to that folder. Usage: fuzz.sh [--keep] SECONDS
set -eu
cd "$(dirname "$0")/.."
keep=
if [ "$1" = --keep ]; then
  keep=1
  shift
fi

for fuzzer in build/fuzz/bin/fuzz_*; do
  name=${fuzzer##*/fuzz_}
  kept=tests/fuzz/corpus/$name
  found=build/fuzz/corpus/$name
  mkdir -p "$found"
  "$fuzzer" -max_total_time="$1" -timeout=10 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-" "$found" "$kept"
  # Without counters: how often code is reached would keep thousands.
  [ -z "$keep" ] || "$fuzzer" -set_cover_merge=1 -use_counters=0 "$kept" "$found"
done
