#!/bin/sh
# When the module of LLVM is loaded, where from, and what is said where it is not there. INSTALLED is where
# a module would be found whatever else is missing.
# Usage: module.sh COMPUTES CMAKE BUILD_DIR LIBDIR OTHER_MODULE INSTALLED
set -eu
computes=$1 cmake=$2 build=$3 libdir=$4 other=$5 installed=$6
. "$(dirname "$0")/../e2e/expect.sh"
CACHE_DIR=$dir/cache
export CACHE_DIR

expect "an empty cache" 0 '^has libLLVM' "$computes"
expect "a full cache" 0 '^has no libLLVM' "$computes"
expect "nor the module" 0 '^has no weft-llvm.so' "$computes"

"$cmake" --install "$build" --prefix "$dir/prefix" --component runtime >"$dir/log"
weft="$dir/prefix/bin/weft bench op add 8x8 --runs 1 --no-cold"
module=$dir/prefix/$libdir/weft/weft-llvm.so
CACHE_DIR=$dir/other
# shellcheck disable=SC2086
expect "the one that is installed" 0 "file=$module " env LD_DEBUG=files $weft

rm "$module"
[ ! -e "$installed" ] || exit "$failures"
# shellcheck disable=SC2086
{
  expect "a full cache without the module" 0 '^median' env PATH=/nowhere $weft
  CACHE_DIR=$dir/third
  without_clang="env PATH=/nowhere $weft"
  expect "an empty cache without it" 1 "LLVM: weft-llvm.so .* cannot be loaded" $without_clang
  expect "the same again" 1 "^  $module: cannot open" $without_clang
  expect "clang does without" 0 '^median' env CLANG=1 $weft
  expect "and is called for" 0 '^median' $weft
  expect "which is said" 0 '^weft: clang compiles the kernels, a process for each. LLVM: weft-llvm.so' $weft
  cp "$other" "$module"
  expect "that of another version" 1 "^  $module: made for weft 0.0.1, LLVM 1.0" $weft
  echo damaged >"$module"
  expect "one that is none" 1 "^  $module: " $weft
}
[ "$failures" -eq 0 ]
