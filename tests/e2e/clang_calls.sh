#!/bin/sh
# All kernels of a plan are compiled by one run of clang. Usage: clang_calls.sh PATH_TO_WEFT_TESTS
set -eu
tests=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

clang=$(command -v clang || command -v clang-19)
cat >"$dir/clang" <<SCRIPT
#!/bin/sh
echo "\$*" >>"$dir/calls"
exec "$clang" "\$@"
SCRIPT
chmod +x "$dir/clang"

PATH="$dir:$PATH" "$tests" --gtest_filter=Clang.CompilesAPlan >"$dir/out" || {
  cat "$dir/out"
  exit 1
}
if [ "$(grep -c -e ' -c ' "$dir/calls")" -ne 1 ]; then
  echo "clang was to compile once, but was called with"
  cat "$dir/calls"
  exit 1
fi
