#!/bin/sh
# Runs clang-tidy over the core, with the compile commands of a build by clang.
# Usage: lint.sh BUILD_DIR
set -eu
cd "$(dirname "$0")/.."
# Not what consists of others' headers.
find src -name '*.cpp' ! -name z3.cpp ! -name image.cpp ! -name 'without_*.cpp' \
  ! -path 'src/llvm/compile.cpp' ! -path 'src/llvm/frames.cpp' |
  xargs -P "$(nproc)" -n 1 clang-tidy-22 -p "$1" --quiet
