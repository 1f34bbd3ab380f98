#!/bin/sh
# Runs clang-tidy over the core, with the compile commands of a build by clang whose sources are compiled in groups: as many at
# a time. Looks at one of OF fixed parts in turn and at the groups that the change touches (in_turn.sh); at all by default.
# Usage: lint.sh BUILD_DIR [OF]
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
groups=$(mktemp)
trap 'rm -f "$groups"' EXIT

# Not what consists of others' headers. That a group includes sources is its purpose.
sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$1/compile_commands.json" | sort -u |
  grep -E "^$root/(src/|$1/src/.*/Unity/)" |
  grep -vE '/(z3|image|without_[a-z0-9_]*)\.cpp$|/src/llvm/(archive|compile|frames)\.cpp$' >"$groups"
count=$(wc -l <"$groups")
while read -r group; do  # and the sources in it
  echo "${group#"$root/"}" $(sed -n "s,^#include \"$root/\(.*\)\"$,\1,p" "$group")
done <"$groups" | scripts/in_turn.sh "${2:-1}" 8 | sed "s,^\([^ ]*\).*,$root/\1," >"$groups.part"
mv "$groups.part" "$groups"
echo "clang-tidy over $(wc -l <"$groups") of $count groups of sources"
xargs -P "$(nproc)" -n 1 clang-tidy-22 -p "$1" --quiet --checks=-bugprone-suspicious-include <"$groups"
