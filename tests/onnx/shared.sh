#!/bin/sh
# Networks and layers of the standard give what lies beside them. Usage: shared.sh PATH_TO_WEFT FOLDER_OF_MODELS
# Where the folder is missing the test counts as skipped.
set -eu
[ -d "$2/onnx" ] || exit 77
exec "$1" onnx-test --device CPU --jobs 2 "$2/onnx" "$2/mnist-8" "$2/super-resolution-10"
