#!/bin/sh
# Compares the lines that DEBUG=2 names with those that the source marks. A program without debug
# information names functions. Usage: source_lines.sh SOURCE PROGRAM... -- PROGRAM_WITHOUT_LINES
set -eu
source=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

sed -n 's/.*kernel \([0-9]*\)$/\1/p' "$source" | sort -n | while read -r kernel; do
  line=$(grep -n "kernel $kernel\$" "$source" | cut -d: -f1)
  echo "${source##*/}:$line"
done >"$dir/expected"

while [ "$1" != -- ]; do
  DEBUG=2 "$1" 2>&1 | sed -n 's/.* args .* GB\/s  //p' >"$dir/named"
  diff -u "$dir/expected" "$dir/named"
  shift
done

DEBUG=2 "$2" >"$dir/report" 2>&1
if ! grep -q 'GB/s  scaled(weft::Tensor const&)+0x[0-9a-f]*$' "$dir/report" ||
  ! grep -q 'GB/s  main+0x[0-9a-f]*$' "$dir/report"; then
  echo "these lines should name functions:"
  cat "$dir/report"
  exit 1
fi
