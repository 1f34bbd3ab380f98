#!/bin/sh
# Packages of a build: what is in them, what they depend on, and that the tool runs from where they put it.
# Usage: package.sh BUILD VERSION SOURCES
set -eu
for program in cpack dpkg-deb dpkg-shlibdeps; do
  command -v $program >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
(cd "$1" && cpack -B "$dir/packages" >"$dir/log") || { cat "$dir/log"; exit 1; }

package() { echo "$dir/packages/$1_$2"_*.deb; }
depends() {  # PACKAGE PATTERN
  dpkg-deb -f "$(package "$1" "$2")" Depends | grep -q "$3" || { echo "$1 does not depend on $3"; exit 1; }
}
has() {
  dpkg-deb -c "$(package "$1" "$2")" | grep -q "$3" || { echo "$1 has no $3"; exit 1; }
}
depends libweft-run1 "$2" '^libc6 (>= [0-9.]*)$'
depends weft "$2" 'libstdc++6'
depends libweft-dev "$2" "libweft-run1 (= $2)"
has weft "$2" './usr/bin/weft$'
has weft "$2" 'man1/weft.1'
has libweft-run1 "$2" 'libweft-run.so.1 -> '
has libweft-dev "$2" 'include/weft/weft_c.h'
has libweft-dev "$2" 'man3/weft_c.3'
has libweft-dev "$2" 'cmake/weft/WeftCompile.cmake'
for name in weft libweft-run1 libweft-dev; do dpkg-deb -x "$(package $name "$2")" "$dir/root"; done
[ "$("$dir/root/usr/bin/weft" --version)" = "$2" ]
"$dir/root/usr/bin/weft" compile "$3/models/digits.onnx" -o "$dir/digits" --shape image=1,1,28,28 >/dev/null
