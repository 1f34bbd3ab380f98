#!/bin/sh
# Every source and header compiles by itself: the default build, which compiles sources in groups, hides includes that are
# missing. Looks at one of OF fixed parts in turn and at what the change touches (in_turn.sh); at all by default.
# Usage: check_standalone.sh BUILD_DIR [OF], of a build by clang with WEFT_UNITY=OFF that is configured
set -eu
build=$1
cd "$(dirname "$0")/.."
root=$(pwd)
commands=$(mktemp)
trap 'rm -f "$commands"' EXIT

# PATH COMMAND, of each source in the tree.
awk -v root="$root/" '
  { text = $0; sub(/^ *"[a-z]*": "/, "", text); sub(/",?$/, "", text); gsub(/\\"/, "\"", text); gsub(/\\\\/, "\\", text) }
  /^ *"command":/ { command = text; sub(/ -o [^ ]* -c .*/, "", command) }
  /^ *"file":.*\.cpp"/ && index(text, root) == 1 { print substr(text, length(root) + 1), command }
' "$build/compile_commands.json" | grep -v '^build/' | sort -u -k 1,1 >"$commands.all"
mv "$commands.all" "$commands"

# A header is compiled as a source of the nearest folder would be.
git ls-files '*.h' | grep -E '^(include|src|cli|tests|bench|examples)/' | while read -r header; do
  folder=$(dirname "$header")
  case $folder in include/weft/dev/*) folder=src/$(basename "$folder") ;; include/*) folder=src/tensor ;; esac
  while ! command=$(grep -m 1 "^$folder/[^/]*\.cpp .*-I$root/include " "$commands"); do
    folder=$(dirname "$folder")
    [ "$folder" != . ] || { command=$(grep -m 1 '^cli/' "$commands"); break; }
  done
  printf '%s %s\n' "$header" "${command#* }"
done >"$commands.headers"
cat "$commands.headers" >>"$commands"
rm "$commands.headers"

count=$(wc -l <"$commands")
scripts/in_turn.sh "${2:-1}" <"$commands" >"$commands.part"
mv "$commands.part" "$commands"
echo "compiling $(wc -l <"$commands") of $count sources and headers, each by itself"
cd "$build"
sed "s,^\([^ ]*\.cpp\) \(.*\)$,\2 -fsyntax-only $root/\1,; s,^\([^ ]*\.h\) \(.*\)$,\2 -fsyntax-only -include $root/\1 -x c++ /dev/null," "$commands" |
  tr '\n' '\0' | xargs -0 -P "$(nproc)" -n 1 sh -c
