#!/bin/sh
# The model that is shipped, as `make run` runs it. Usage: digits.sh PATH_TO_WEFT FOLDER_OF_MODELS
set -eu
weft=$1 models=$2
. "$(dirname "$0")/expect.sh"

digit=0
while read -r name; do
  expect "a drawn $digit" 0 "^ *$digit  \(1\|0.99[0-9]*\)  $name$" "$weft" run "$models/digits.onnx" \
    --input "image=$models/$digit.png" --runs 0 --top-k 1 --labels "$models/digits.txt"
  digit=$((digit + 1))
done <"$models/digits.txt"
[ "$digit" -eq 10 ] || failures=$((failures + 1))
expect "kernels and time" 0 'median .* ms' "$weft" run "$models/digits.onnx" --input "image=$models/7.png"
expect "an open batch" 0 '"shape": \[1, 10\]' "$weft" run "$models/digits.onnx" --runs 0 --json
expect "a batch of three" 0 '"shape": \[3, 10\]' "$weft" run "$models/digits.onnx" --runs 0 --json --shape image=3,1,28,28
expect "what is kept of its constants" 0 '^  r_[0-9_]* *p[0-9]* *f32 of [0-9]* x [0-9]* x 3 x 3 ' env WINOGRAD=0 "$weft" inspect --layouts "$models/digits.onnx" --shape image=8,1,28,28
layouts() { WINOGRAD=0 "$weft" inspect "$models/digits.onnx" --shape image=8,1,28,28 --json "$@"; }
expect "the same as JSON" 0 '"kept": \[{"kernel": "r_[0-9_]*", "read": "p[0-9]*", "of": "f32 of [0-9]* x [0-9]* x 3 x 3", "schedule": ".*stage p[0-9]* in constant' layouts --layouts
expect "JSON without it" 0 '"turned": \[.*\], "kept": null' layouts
expect "what it is made of" 0 '^  Conv  *3 of opset 17$' "$weft" inspect "$models/digits.onnx"

expect "as integers" 0 ' int8 products, 0 float products; .* 10 calibration calls$' "$weft" quantize "$models/digits.onnx" -o "$dir/i8.onnx" --calibrate "$models" --method percentile --per-channel
expect "read by integers" 0 '^ *7  \(1\|0.9[0-9]*\)$' "$weft" run "$dir/i8.onnx" --input "image=$models/7.png" --runs 0 --top-k 1
expect "scales of each call" 0 '"others": 0, "activations": 0, "calls": 0' "$weft" quantize "$models/digits.onnx" -o "$dir/dynamic.onnx" --dynamic --json
expect "read by scales of the call" 0 '^ *4  \(1\|0.9[0-9]*\)$' "$weft" run "$dir/dynamic.onnx" --input "image=$models/4.png" --runs 0 --top-k 1
expect "values that are made up" 0 'of little use' "$weft" quantize "$models/digits.onnx" -o "$dir/none.onnx"
mkdir "$dir/empty"
expect "a folder of no samples" 1 'the folders have no .npy' "$weft" quantize "$models/digits.onnx" -o "$dir/none.onnx" --calibrate "$dir/empty"
expect "samples for scales of each call" 2 'excludes' "$weft" quantize "$models/digits.onnx" -o "$dir/none.onnx" --dynamic --calibrate "$models"
expect "a node that is not there" 1 "there is no node 'conv9' to exclude" "$weft" quantize "$models/digits.onnx" -o "$dir/none.onnx" --exclude conv9
expect "a method that is none" 2 'entropy' "$weft" quantize "$models/digits.onnx" -o "$dir/none.onnx" --method best
expect "nowhere to write" 2 'out is required' "$weft" quantize "$models/digits.onnx"
[ "$failures" -eq 0 ]
