#!/bin/sh
# The example of a model as a library, from object code and from C, under valgrind where there is one: it knows no AVX-512.
# Usage: library.sh PATH_TO_WEFT PATH_TO_SOURCES
set -eu
weft=$1 root=$2
. "$(dirname "$0")/expect.sh"
lib=$dir/lib
strict="-std=c99 -pedantic -Wall -Wextra -Werror -O2"
valgrind=$(command -v valgrind || true)

read_by() {  # TARGET CODE [VALGRIND]
  checked=${3:-}
  expect "compiles for $1" 0 "^digits.h, digits.[co], digits.weights: " "$weft" compile \
    "$root/models/digits.onnx" -o "$lib" --name digits --target "$1" --shape image=1,1,28,28
  # shellcheck disable=SC2086
  cc $strict -I "$lib" "$root/examples/library/read_digit.c" "$lib/digits.$2" -o "$dir/read" -lm
  expect "reads a seven by $1" 0 '^7 (\(0.99\|1.00\)' sh -c \
    "${checked:+$checked -q --error-exitcode=9 }'$dir/read' '$lib/digits.weights' < '$root/examples/library/seven.txt'"
  printf 'x' | dd of="$lib/digits.weights" bs=1 seek=100 conv=notrunc 2>/dev/null
  expect "finds damage by $1" 1 'damaged weights' sh -c \
    "'$dir/read' '$lib/digits.weights' < '$root/examples/library/seven.txt'"
}
read_by cpu=native o
read_by cpu=x86-64-v2 o "$valgrind"
read_by c c "$valgrind"

# With instructions of its own processor, which the system may have to be asked for.
expect "compiles in bf16" 0 "^digits.h, digits.o" "$weft" compile "$root/models/digits.onnx" -o "$lib" \
  --name digits --shape image=1,1,28,28 --precision bf16
# shellcheck disable=SC2086
cc $strict -I "$lib" "$root/examples/library/read_digit.c" "$lib/digits.o" -o "$dir/read" -lm
expect "reads a seven in bf16" 0 '^7 (' sh -c \
  "'$dir/read' '$lib/digits.weights' < '$root/examples/library/seven.txt'"

for kind in static shared; do
  expect "writes $kind" 0 "^digits.h, digits.[as]" "$weft" compile "$root/models/digits.onnx" \
    -o "$dir/$kind" --name digits --kind $kind --shape image=1,1,28,28
done
# shellcheck disable=SC2086
cc $strict -I "$dir/static" "$root/examples/library/read_digit.c" "$dir/static/digits.a" -o "$dir/a"
# shellcheck disable=SC2086
cc $strict -I "$dir/shared" "$root/examples/library/read_digit.c" "$dir/shared/digits.so" -o "$dir/so"
expect "reads a seven by an archive" 0 '^7 (' sh -c \
  "'$dir/a' '$dir/static/digits.weights' < '$root/examples/library/seven.txt'"
expect "reads a seven by a shared library" 0 '^7 (' sh -c \
  "LD_LIBRARY_PATH='$dir/shared' '$dir/so' '$dir/shared/digits.weights' < '$root/examples/library/seven.txt'"
expect "wants a C compiler" 1 "there is no nonsense on PATH to link with; name a C compiler" env CC=nonsense \
  "$weft" compile "$root/models/digits.onnx" -o "$lib" --kind shared --shape image=1,1,28,28
expect "wants sizes" 1 "size 'batch' of input 'image' is open: set it with --size batch=N or batch=LEAST..MOST, or with --shape image=SIZES" "$weft" \
  compile "$root/models/digits.onnx" -o "$lib"
expect "says what it wrote" 0 '"calls": [0-9]*, "weights_bytes": [0-9]*, "workspace_bytes": [0-9]*, "state_bytes": 0, "files": \["net.h", "net.c", "net.weights"\]' \
  "$weft" compile "$root/models/digits.onnx" -o "$lib" --target c --shape image=1,1,28,28 --json
[ "$failures" -eq 0 ]
