#!/bin/sh
# Runs a program, which has to end well and to print lines with all of these texts.
# Usage: example.sh PROGRAM ARGUMENT... -- TEXT...
set -eu
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
