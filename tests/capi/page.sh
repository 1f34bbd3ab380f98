#!/bin/sh
# The programs of a page, in C99, print what it says. Usage: page.sh WEFT SOURCES FOLDER_OF_LIBWEFT_RUN PAGE
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ln -s "$2/models" "$dir/models"
sed -n 's/^weft compile //p' "$4" | while read -r arguments; do
  # shellcheck disable=SC2086
  (cd "$dir" && "$1" compile $arguments >/dev/null)
done
awk -v dir="$dir" '
  /^```c$/ { file = dir "/" ++count ".c"; next }
  /^```text$/ && count { file = dir "/" count ".text"; next }
  /^```/ { file = "" }
  file != "" { print > file }' "$4"
number=1
cd "$dir"
while [ -e "$number.c" ]; do
  cc -std=c99 -pedantic -Wall -Wextra -Werror -I "$2/include" "$number.c" -L "$3" -lweft-run -Wl,-rpath,"$3" -o "$number"
  "./$number" >"$number.printed"
  diff -u "$number.text" "$number.printed"
  number=$((number + 1))
done
[ "$number" -gt 4 ]
