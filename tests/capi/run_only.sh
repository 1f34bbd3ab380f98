#!/bin/sh
# What libweft-run needs and shows: libc, and the functions of weft_c.h. Usage: run_only.sh LIBRARY HEADER
set -eu
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux')
if [ "$needed" != libc.so.6 ]; then
  echo "it needs $needed"
  exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nm -D -j --defined-only "$1" | sort > "$scratch/seen"
grep -oE '\bweft_[a-z_0-9]+\(' "$2" | tr -d '(' | sort -u > "$scratch/declared"
diff "$scratch/declared" "$scratch/seen"
strip -o "$scratch/stripped" "$1"
size=$(wc -c < "$scratch/stripped")
echo "$size bytes stripped, $(wc -l < "$scratch/seen") functions"
[ "$size" -lt 400000 ]
