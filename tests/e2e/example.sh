#!/bin/sh
# Runs a program, which has to end well and to print all of these texts. Where a folder is named that is not there,
# it is skipped (77). Usage: example.sh PROGRAM "ARGUMENT..." FOLDER TEXT...
set -eu
program=$1 arguments=$2 folder=$3
shift 3
[ -z "$folder" ] || [ -d "$folder" ] || { echo "$folder is not there"; exit 77; }
# shellcheck disable=SC2086
output=$("$program" $arguments) || { echo "$output"; echo "$program ended with an error"; exit 1; }
for text; do
  case $output in
    *"$text"*) ;;
    *) echo "$output"; echo "FAILED: looking for '$text' in the output of $program"; exit 1 ;;
  esac
done
