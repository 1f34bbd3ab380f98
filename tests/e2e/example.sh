#!/bin/sh
# Runs a program, which has to end well and to print lines with all of these texts.
# Usage: example.sh PROGRAM "ARGUMENT..." TEXT...
set -eu
program=$1 arguments=$2
shift 2
# shellcheck disable=SC2086
output=$("$program" $arguments) || { echo "$output"; echo "$program ended with an error"; exit 1; }
for text; do
  case $output in
    *"$text"*) ;;
    *) echo "$output"; echo "FAILED: looking for '$text' in the output of $program"; exit 1 ;;
  esac
done
