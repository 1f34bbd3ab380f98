#!/bin/sh
# Writes what is generated into documents, between their markers: the output of `weft demo` into
# docs/architecture.md, lines of source into docs/source_map.md.
# With --check it only says whether docs/architecture.md is up to date; scripts/count_lines.sh checks the other.
# Usage: update_docs.sh [--check] WEFT
set -eu
scripts=$(dirname "$0")
docs=$scripts/../docs
mode=update
if [ "$1" = --check ]; then
  mode=check
  shift
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# fill DOCUMENT MARKER: the document with $scratch/text between its marker and the end of that.
fill() {
  awk -v marker="<!-- generated: $2 -->" -v text="$scratch/text" '
    /^<!-- end -->$/ { generated = 0 }
    !generated
    $0 == marker {
      generated = 1
      while ((getline line < text) > 0) print line
    }
  ' "$1" >"$scratch/document"
}

{ echo '```text'; "$1" demo; echo '```'; } >"$scratch/text"
fill "$docs/architecture.md" 'weft demo'
if [ $mode = check ]; then
  diff -u "$docs/architecture.md" "$scratch/document" && exit 0
  echo "docs/architecture.md is out of date: run 'make docs'"
  exit 1
fi
cp "$scratch/document" "$docs/architecture.md"

"$scripts/count_lines.sh" --round >"$scratch/text"
fill "$docs/source_map.md" 'count_lines.sh'
cp "$scratch/document" "$docs/source_map.md"
