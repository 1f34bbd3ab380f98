#!/bin/sh
# Runs a test of the C API on models that it compiles: digits for an image and for 8 at once, sums of rows, and what was
# given two calls before. Usage: test.sh WEFT SOURCES MAKE_MODELS TEST compiler|none
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for images in 1 8; do
  "$1" compile "$2/models/digits.onnx" -o "$dir/$images" --name digits --kind shared --threads 4 \
    --shape "image=$images,1,28,28" > "$dir/log"
done
"$3" "$dir"
"$1" compile "$dir/sums.onnx" -o "$dir/sums" --kind shared --state past=present --entry one:rows=1,3 --entry many:rows=n,3 \
  --size n=2..4 > "$dir/log"
"$1" compile "$dir/delay.onnx" -o "$dir/delay" --kind shared --state last=new_last --state before=new_before > "$dir/log"
"$4" "$dir/1" "$dir/8" "$dir/sums" "$dir/delay" "$2/models/digits.onnx" "$2/examples/library/seven.txt" "$5"
