#!/bin/sh
# Runs a test of the C API on a model that it compiles, for an image and for 8 at once. Usage: test.sh WEFT SOURCES TEST compiler|none
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for images in 1 8; do
  "$1" compile "$2/models/digits.onnx" -o "$dir/$images" --name digits --kind shared --threads 4 \
    --shape "image=$images,1,28,28" > "$dir/log"
done
"$3" "$dir/1" "$dir/8" "$2/models/digits.onnx" "$2/examples/library/seven.txt" "$4"
