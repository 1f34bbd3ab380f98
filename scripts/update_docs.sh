#!/bin/sh
# Writes what is generated into documents, between their markers: the output of `weft demo` into
# docs/architecture.md, operators into docs/onnx.md, lines of source into docs/source_map.md.
# With --check it only says whether the first two are up to date; scripts/count_lines.sh checks the last.
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

# generate DOCUMENT MARKER: the same, written or compared.
generate() {
  fill "$docs/$1" "$2"
  if [ $mode = update ]; then
    cp "$scratch/document" "$docs/$1"
  elif ! diff -u "$docs/$1" "$scratch/document"; then
    echo "docs/$1 is out of date: run 'make docs'"
    exit 1
  fi
}

{ echo '```text'; "$1" demo; echo '```'; } >"$scratch/text"
generate architecture.md 'weft demo'

# A paragraph for each domain; a name with the opsets whose meanings differ, where there are several.
"$1" list onnx | awk '
  $1 != domain { printf "%s**%s**", separator, $1; domain = $1; between = ": "; separator = "\n\n" }
  {
    opsets = ""
    if (NF > 3) for (i = 3; i <= NF; ++i) opsets = opsets (i > 3 ? " " : " (") $i
    printf "%s%s%s", between, $2, opsets (opsets == "" ? "" : ")")
    between = ", "
  }
  END { print "" }' | fold -s -w 118 | sed 's/ *$//' >"$scratch/text"
generate onnx.md 'weft list onnx'
[ $mode = update ] || exit 0

"$scripts/count_lines.sh" --round >"$scratch/text"
generate source_map.md 'count_lines.sh'
