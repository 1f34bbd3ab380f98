#!/bin/sh
# Whether programs that were linked with libweft-run before still run with it: functions and types are those of the baseline,
# or there are more. After such an addition: abi.sh --update LIBRARY HEADERS BASELINE. Usage: abi.sh LIBRARY HEADERS BASELINE
set -eu
command -v abidw >/dev/null || exit 77
if [ "$1" = --update ]; then
  exec abidw --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs --drop-private-types --headers-dir "$3" --out-file "$4" "$2"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$0" --update "$1" "$2" "$scratch/now.abi"
grep -q 'weft_session_open' "$scratch/now.abi" || { echo "nothing is known of the library"; exit 1; }
abidiff --no-added-syms "$3" "$scratch/now.abi"
