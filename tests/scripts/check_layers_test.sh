#!/bin/sh
# Feeds the layer check one good tree and bad ones: it must accept the first and refuse the rest.
set -eu
check=$(cd "$(dirname "$0")/../.." && pwd)/scripts/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect STATUS FILE INCLUDE: the verdict on a tree whose FILE has that one include
expect() {
  rm -rf "$tree/src" "$tree/include"
  mkdir -p "$tree/src" "$tree/include/weft" "$tree/$(dirname "$2")"
  echo "#include $3" > "$tree/$2"
  status=0
  "$check" "$tree" > "$tree/report" || status=1
  if [ $status -ne "$1" ]; then
    echo "$2 with #include $3: status $status, expected $1"
    cat "$tree/report"
    exit 1
  fi
}

accepts() { expect 0 "$@"; }
refuses() { expect 1 "$@"; }

accepts src/rules/fold.cpp '<weft/dev/rewrite/rule.h>'
accepts src/rules/fold.cpp '<weft/dev/rules/fold.h>'
accepts src/rules/fold.cpp '"private.h"'
accepts src/rules/fold.cpp '<vector>'
accepts include/weft/dtype.h '<weft/error.h>'
accepts include/weft/weft.h '<weft/dev/nn/module.h>'
refuses src/ir/op.cpp '<weft/dev/rewrite/rule.h>'        # upward
refuses src/rules/fold.cpp '<weft/dev/validate/z3.h>'    # sibling
refuses src/base/error.cpp '<weft/dtype.h>'              # upward, through the stable headers
refuses src/ir/op.cpp '<weft/weft.h>'                    # the umbrella
refuses include/weft/dev/base/hash.h '<weft/dev/ir/op.h>'
refuses src/ir/op.cpp '"../base/private.h"'              # a private header of another folder
refuses include/weft/error.h '"settings.h"'
refuses src/ir/op.cpp '<weft/dev/unknown/x.h>'
refuses src/unknown/x.cpp '<vector>'
