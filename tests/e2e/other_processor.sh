#!/bin/sh
# A library for another processor gives there, under qemu, what one for this processor gives here.
# Usage: other_processor.sh PATH_TO_WEFT PATH_TO_SOURCES PROCESSOR [MODEL [QEMU_CPU INSTRUCTION]]
# The target is cpu=PROCESSOR, or cpu=PROCESSOR,MODEL; there is the instruction in its code.
set -eu
weft=$1 root=$2 processor=$3 model=${4:-} cpu=${5:-} instruction=${6:-}
qemu=$(command -v "qemu-$processor" || command -v "qemu-$processor-static") || qemu=
compiler=$(command -v "$processor-linux-gnu-gcc") || compiler=
if [ -z "$qemu" ] || [ -z "$compiler" ]; then
  echo "skipped: there is no qemu and C compiler for $processor"
  exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# outputs_by TARGET KIND COMPILER...: the numbers that the model gives; a program before it runs what is not for here.
outputs_by() {
  target=$1 kind=$2
  shift 2
  "$weft" compile "$root/models/digits.onnx" -o "$dir/$target" --name net --target "cpu=$target" --kind "$kind" \
    --shape image=1,1,28,28 >/dev/null
  "$@" -std=c99 -pedantic -Wall -Wextra -Werror -I "$dir/$target" "$root/tests/e2e/print_outputs.c" "$dir/$target"/net.[oa] \
    -o "$dir/$target/print"
}
outputs_by native object cc
"$dir/native/print" "$dir/native/net.weights" >"$dir/here"
there=$processor${model:+,$model}
for kind in object static; do
  rm -rf "${dir:?}/$there"
  outputs_by "$there" "$kind" "$compiler" -static
  "$qemu" ${cpu:+-cpu "$cpu"} "$dir/$there/print" "$dir/$there/net.weights" >"$dir/there"
  [ "$(wc -l <"$dir/here")" -eq 10 ]
  paste "$dir/here" "$dir/there" | awk '
    { off = $1 - $2; if (off < 0) off = -off; if (off > 1e-6 || NF != 2) { print "here and there: " $0; bad = 1 } }
    END { exit bad }'
  if [ -n "$instruction" ]; then "$processor-linux-gnu-objdump" -d "$dir/$there"/net.[oa] | grep -qw "$instruction"; fi
done

# C has the same bits on both.
[ -z "$model" ] || exit 0
"$weft" compile "$root/models/digits.onnx" -o "$dir/c" --name net --target c --shape image=1,1,28,28 >/dev/null
compile_c() {
  "$@" -std=c99 -O2 -pedantic -Wall -Wextra -Werror -I "$dir/c" "$root/tests/e2e/print_outputs.c" "$dir/c/net.c" -lm \
    -o "$dir/c/print"
}
compile_c cc
"$dir/c/print" "$dir/c/net.weights" >"$dir/here"
compile_c "$compiler" -static
"$qemu" "$dir/c/print" "$dir/c/net.weights" >"$dir/there"
cmp "$dir/here" "$dir/there"
