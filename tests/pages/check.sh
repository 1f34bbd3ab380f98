#!/bin/sh
# Runs the examples of a page and compares what they print with what it says, where "..." stands for anything.
# With --update it writes into the page what is not so. Usage: check.sh [--update] BIN PAGE.md
set -eu
mode=check
if [ "$1" = --update ]; then
  mode=update
  shift
fi
here=$(cd "$(dirname "$0")" && pwd)
page=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
PATH=$(cd "$1" && pwd):$PATH
cd "$here/../.."
name=${page#"$PWD/"}
name=${name#docs/}
name=${name%.md}

# No device that somebody asks for, and no kernels, speeds and schedules that other runs left.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH DEV=CPU CALIBRATE=0 CACHE_DIR="$scratch/cache"

count=$(awk -v dir="$scratch" -v name="$name" -f "$here/split.awk" "$page")
wrong=
number=1
while [ "$number" -le "$count" ]; do
  example=$scratch/$number
  sh "$example.run" >"$example.got" 2>&1 || echo "exit status $?" >>"$example.got"
  if ! awk -f "$here/same.awk" "$example.text" "$example.got"; then
    wrong="$wrong $number"
    if [ $mode = check ]; then
      echo "$name, example $number: $(cat "$example.run")"
      diff -u "$example.text" "$example.got" || true
    fi
  fi
  number=$((number + 1))
done
[ -n "$wrong" ] || exit 0
[ $mode = update ] || exit 1

awk -v wrong="$wrong " -v dir="$scratch" '
  /^```/ && !inside {
    inside = substr($0, 4)
    print
    if (inside == "text" && before != "" && index(wrong, " " ++pairs " ")) {
      while ((getline line < (dir "/" pairs ".got")) > 0) print line
      replaced = 1
    }
    next
  }
  /^```/ {
    before = inside == "cpp" || inside == "sh" ? inside : ""
    inside = ""
    replaced = 0
  }
  !replaced
' "$page" >"$scratch/page"
cp "$scratch/page" "$page"
echo "$name: wrote the output of$wrong"
