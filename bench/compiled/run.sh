#!/bin/sh
# A model as weft runs it and as what weft compile makes of it: the first result, those after it, memory.
# Usage: run.sh BUILD MODEL.onnx THREADS RUNS [--shape NAME=SIZES...]
set -eu
build=$1 model=$2 threads=$3 runs=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$build/bin/weft" compile "$model" -o "$dir/net" --kind shared --threads "$threads" "$@"
cc -std=c99 -O2 -Wall -Wextra -I "$here/../../include" "$here/first_result.c" -L "$build/lib" -lweft-run \
  -Wl,-rpath,"$build/lib" -o "$dir/first_result"
for round in 1 2 3; do
  echo "compiled, round $round"
  "$dir/first_result" "$dir/net" "threads=$threads" "$runs"
done
size=$(wc -c <"$dir/net/net.so")
echo "the shared library has $size bytes"
echo "in process"
"$build/bin/weft" bench onnx "$model" --runs "$runs" --threads "$threads" "$@"
