#!/bin/sh
# The example that carries a model builds with weft as it is installed, and reads a seven.
# Usage: embed.sh BUILD SOURCES
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$1" --prefix "$dir/prefix" >"$dir/log"
cmake -S "$2/examples/embed" -B "$dir/build" -G Ninja -DCMAKE_PREFIX_PATH="$dir/prefix" \
  -DCMAKE_C_FLAGS="-std=c99 -pedantic -Wall -Wextra -Werror" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" >"$dir/log"
cmake --build "$dir/build" >"$dir/log" || { cat "$dir/log"; exit 1; }
for program in "digit $dir/build/digits/digits.weights" "digit_shared $dir/build/digits_shared"; do
  # shellcheck disable=SC2086
  read=$("$dir"/build/$program <"$2/examples/library/seven.txt")
  case $read in
    "7 ("*) ;;
    *) echo "$program reads '$read'"; exit 1 ;;
  esac
done
if readelf -d "$dir/build/digit" | grep NEEDED | grep -v -e libc.so -e libm.so; then
  echo "the program with a model needs more than libc"
  exit 1
fi
grep -q '^\.TH WEFT_C 3' "$dir/prefix/share/man/man3/weft_c.3"
PKG_CONFIG_PATH=$dir/prefix/lib/pkgconfig
export PKG_CONFIG_PATH
if command -v pkg-config >/dev/null; then
  # shellcheck disable=SC2046
  c++ "$2/examples/embed/digit_shared.cpp" $(pkg-config --cflags --libs weft-run) -o "$dir/by_name"
  LD_LIBRARY_PATH=$dir/prefix/lib "$dir/by_name" "$dir/build/digits_shared" <"$2/examples/library/seven.txt" | grep -q '^7'
fi
