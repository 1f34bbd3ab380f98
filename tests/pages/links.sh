#!/bin/sh
# Whether every link of the documents to a file leads to one. Usage: links.sh
set -eu
cd "$(dirname "$0")/../.."
find README.md bench/README.md docs -name '*.md' | sort | xargs awk '
  /^```/ { code = !code }
  FNR == 1 { code = 0 }
  !code {
    rest = $0
    while (match(rest, /\]\([^)# ]+/)) {
      target = substr(rest, RSTART + 2, RLENGTH - 2)
      rest = substr(rest, RSTART + RLENGTH)
      if (target ~ /^[a-z]+:/) continue
      folder = FILENAME
      sub(/[^\/]*$/, "", folder)
      print FILENAME ":" FNR, folder target
    }
  }
' | {
  bad=0
  while read -r place file; do
    [ -e "$file" ] || { echo "$place: there is no $file"; bad=1; }
  done
  exit $bad
}
