#!/bin/sh
# Runs a program, which has to end well and to print lines with all of these texts; skipped where it needs a file
# that is not there.
# Usage: example.sh FILE PROGRAM ARGUMENT... -- TEXT...
set -eu
[ -e "$1" ] || { echo "there is no $1"; exit 77; }
shift
arguments=
while [ "$1" != -- ]; do
  arguments="$arguments $1"
  shift
done
shift
# shellcheck disable=SC2086
output=$($arguments) || { echo "$output"; echo "$arguments ended with an error"; exit 1; }
for text; do
  case $output in
    *"$text"*) ;;
    *) echo "$output"; echo "FAILED: looking for '$text' in the output of$arguments"; exit 1 ;;
  esac
done
