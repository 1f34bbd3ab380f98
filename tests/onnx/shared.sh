#!/bin/sh
# Networks and layers of the standard give what lies beside them. Usage: shared.sh PATH_TO_WEFT FOLDER_OF_MODELS
# Where the folder is missing the test counts as skipped.
set -eu
[ -d "$2/onnx" ] || exit 77
weft=$1 super_resolution=$2/super-resolution-10
"$weft" onnx-test --device CPU --jobs 2 "$2/onnx" "$2/mnist-8"
# The standard wants 1e-7 near 0, where outputs are about 1: sums of products in f32, one by one, are as near as that.
WINOGRAD=0 "$weft" onnx-test --device CPU "$super_resolution"
"$weft" onnx-test --device CPU --atol 1e-6 "$super_resolution"
