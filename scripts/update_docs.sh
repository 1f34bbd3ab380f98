#!/bin/sh
# Writes the output of `weft demo` into docs/architecture.md, between its markers.
# With --check it only says whether the document is up to date.
# Usage: update_docs.sh [--check] WEFT
set -eu
document=$(dirname "$0")/../docs/architecture.md
mode=update
if [ "$1" = --check ]; then
  mode=check
  shift
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$1" demo > "$scratch/demo"
awk -v demo="$scratch/demo" '
  /^<!-- end -->$/ { generated = 0 }
  !generated
  /^<!-- generated: weft demo -->$/ {
    generated = 1
    print "```text"
    while ((getline line < demo) > 0) print line
    print "```"
  }
' "$document" > "$scratch/document"

if [ $mode = update ]; then
  cp "$scratch/document" "$document"
elif ! diff -u "$document" "$scratch/document"; then
  echo "docs/architecture.md is out of date: run 'make docs'"
  exit 1
fi
