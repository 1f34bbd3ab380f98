#!/bin/sh
# Runs clang-tidy over the core, with the compile commands of a build by clang: of one that compiles several
# sources at a time (WEFT_QUICK), as many at a time. Usage: lint.sh BUILD_DIR
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
# Not what consists of others' headers. That a group includes sources is its purpose.
sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$1/compile_commands.json" | sort -u |
  grep -E "^$root/(src/|$1/src/.*/Unity/)" |
  grep -vE '/(z3|image|without_[a-z0-9_]*)\.cpp$|/src/llvm/(archive|compile|frames)\.cpp$' |
  xargs -P "$(nproc)" -n 1 clang-tidy-22 -p "$1" --quiet --checks=-bugprone-suspicious-include
