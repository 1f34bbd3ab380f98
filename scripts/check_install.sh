#!/bin/sh
# Installs a build into an empty prefix and uses it from there as others would: with CMake's
# find_package, with pkg-config, and as a tool. Usage: check_install.sh BUILD_DIR
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../tests/consumer"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

cmake --install "$build" --prefix "$prefix" > "$scratch/log"
version=$("$prefix/bin/weft" --version)

module=$prefix/lib/weft/weft-llvm.so
if readelf -d "$prefix/bin/weft" | grep -q "$build"; then
  echo "the tool has a run path into the build"
  exit 1
fi

models=$prefix/share/weft/models
"$prefix/bin/weft" run "$models/digits.onnx" --input "image=$models/7.png" --runs 0 --top-k 1 \
  --labels "$models/digits.txt" | grep -q seven || { echo "the model does not read a 7"; exit 1; }

grep -q '^\.TH WEFT 1 .*"weft '"$version" "$prefix/share/man/man1/weft.1"
for shell in bash-completion/completions/weft zsh/site-functions/_weft fish/vendor_completions.d/weft.fish; do
  grep -q 'weft bench' "$prefix/share/$shell"
done

# With no cache each compiles by the module that was installed, and by no other.
expect_version() {
  printed=$(CACHE_DIR=none LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/$1" "$2")
  if [ -e "$module" ] && ! grep -q "file=$prefix/.*/weft-llvm.so " "$scratch/$1".*; then
    echo "the consumer built with $1 does not load $module"
    exit 1
  fi
  if [ "$printed" != "$version" ]; then
    echo "the consumer built with $1 printed '$printed', not '$version'"
    exit 1
  fi
}

cmake -S . -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > "$scratch/log"
cmake --build "$scratch/build"
expect_version find_package "$scratch/build/consumer"

LD_LIBRARY_PATH=$prefix/lib
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export LD_LIBRARY_PATH PKG_CONFIG_PATH
mkdir "$scratch/bin"  # not in $scratch: programs look in ../lib as well, where others may have put a module
# shellcheck disable=SC2046
g++ -std=c++20 main.cpp $(pkg-config --cflags --libs weft) -o "$scratch/bin/consumer"
expect_version pkg-config "$scratch/bin/consumer"

cd "$prefix/include"
# shellcheck disable=SC2016
find weft -name '*.h' -print0 | xargs -0 -P "$(nproc)" -I header sh -c '
  echo "#include <$0>" | g++ -std=c++20 -I. -fsyntax-only -x c++ - ||
    { echo "$0 does not compile alone"; exit 1; }' header
echo "weft $version installs and is usable from its prefix"
