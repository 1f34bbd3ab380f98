#!/bin/sh
# Installs the Debian packages of the named groups. Where nothing is missing it does nothing.
# Usage: install_deps.sh GROUP...
set -eu

packages() {
  case $1 in
    build) echo g++ cmake ninja-build libfmt-dev libz3-dev libsqlite3-dev zlib1g-dev libstb-dev libdlpack-dev libprotozero-dev llvm-19-dev clang-19 libcli11-dev libgtest-dev libmpfr-dev ;;
    bench) echo nlohmann-json3-dev python3-venv ;;
    clang) echo clang-19 libclang-rt-19-dev ;;
    qemu) echo qemu-user g++-aarch64-linux-gnu gcc-riscv64-linux-gnu libc6-dev-riscv64-cross ;;
    check) echo abigail-tools clang-format-19 clang-tidy-22 doxygen pkg-config ;;
    chroot) echo debootstrap git ;;
    *) echo "install_deps.sh: no group '$1'" >&2; return 1 ;;
  esac
}

missing=
for group; do
  names=$(packages "$group")
  for package in $names; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
  done
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "Not a Debian system: continuing without checking for$missing" >&2
  exit 0
fi

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
echo "Installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
