#!/bin/sh
# Runs a test of the C API on a model that it compiles. Usage: test.sh WEFT SOURCES TEST compiler|none
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$1" compile "$2/models/digits.onnx" -o "$dir/digits" --name digits --kind shared --threads 4 \
  --shape image=1,1,28,28 > "$dir/log"
"$3" "$dir/digits" "$2/models/digits.onnx" "$2/examples/library/seven.txt" "$4"
