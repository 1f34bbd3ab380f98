#!/bin/sh
# Every public header, and every group of methods in tensor.h, has its example. Usage: complete.sh
set -eu
cd "$(dirname "$0")"
headers=../../include/weft
{
  for header in "$headers"/*.h; do basename "$header" .h; done | grep -vx -e weft -e tensor
  sed -n 's,^  // --- \([A-Za-z]*\).*,\1,p' "$headers/tensor.h" | tr '[:upper:]' '[:lower:]'
} | while read -r name; do
  test -f "$name.cpp" || { echo "docs/examples/$name.cpp is missing"; exit 1; }
done
