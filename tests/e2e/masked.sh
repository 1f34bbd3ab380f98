#!/bin/sh
# The device CPU on processors that have less than this one, as qemu shows them: what they have is found
# out at run time. Usage: masked.sh WEFT_TESTS
set -eu
qemu=$(command -v qemu-x86_64 || command -v qemu-x86_64-static) || qemu=
if [ "$(uname -m)" != x86_64 ] || [ -z "$qemu" ]; then
  echo "skipped: there is no qemu-x86_64"
  exit 77
fi
for processor in qemu64 Nehalem Haswell; do
  echo "== $processor"
  "$qemu" -cpu "$processor" "$1" --gtest_filter='Processors.RunOrAreRefusedByLlvm'
done
