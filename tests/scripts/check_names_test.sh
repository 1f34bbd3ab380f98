#!/bin/sh
# Feeds the check of names two files: it must accept classes of two names or namespaces, and refuse those of one.
set -eu
check=$(cd "$(dirname "$0")/../.." && pwd)/scripts/check_names.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/include" "$tree/src"

# expect STATUS TEXT TEXT: the verdict on two files with these definitions
expect() {
  printf "namespace weft {\n$2\n}  // namespace weft\n" > "$tree/src/a.cpp"
  printf "namespace weft {\n$3\n}  // namespace weft\n" > "$tree/src/b.cpp"
  status=0
  "$check" "$tree" > "$tree/report" || status=1
  if [ $status -ne "$1" ]; then
    echo "$2 and $3: status $status, expected $1"
    cat "$tree/report"
    exit 1
  fi
}

expect 0 'struct Forms {\n};' 'struct Lengths {\n};'
expect 0 'struct Forms {\n};' 'namespace {\nstruct Forms {\n};\n}  // namespace'
expect 0 'struct Forms {\n};' 'namespace nn {\nstruct Forms {\n};\n}  // namespace nn'
expect 0 'struct Forms {\n};' 'struct Forms;'
expect 1 'struct Forms {\n};' 'class Forms final : public Base {\n};'
expect 1 'class Forms : public Base {\n};' 'struct Forms { int number; };'
expect 1 'namespace {\nstruct Other {\n};\n}  // namespace\nstruct Forms {\n};' 'enum class Forms { A };'
