#!/bin/sh
# Times a build of everything from nothing, without ccache, and, with each source by itself (the preset edit), one after a rule
# file was touched, which relinks the tests. Usage: time_build.sh
set -eu
cd "$(dirname "$0")/.."
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
export CCACHE_DISABLE=1

# Usage: timed NAME GOAL COMMAND...
timed() {
  name=$1 goal=$2
  shift 2
  start=$(date +%s%N)
  "$@" > "$build/log" 2>&1 || { cat "$build/log"; exit 1; }
  awk -v name="$name" -v goal="$goal" -v ns="$(($(date +%s%N) - start))" 'BEGIN {
    printf "  %-52s %12.2f %-10s goal %s\n", name, ns / 1e9, "s", goal }'
}

everything() {  # PRESET
  cmake --preset "$1" -B "$build/$1" && cmake --build "$build/$1"
}

echo "Building weft and its tests, on $(nproc) cores"
timed "from nothing" 240 everything default
everything edit >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
touch src/rules/divmod.cpp
timed "after touching a rule file" 20 cmake --build "$build/edit"
