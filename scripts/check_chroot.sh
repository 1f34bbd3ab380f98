#!/bin/sh
# The newcomer's check: in a bare Debian 12 that has only make and the tracked source, `make test`
# and `make run` work. Needs root; keeps the bare system in build/chroot for the next time.
# Usage: [CMAKE_FLAGS=-DWEFT_QUICK=ON] check_chroot.sh
set -eu
cd "$(dirname "$0")/.."
bare=build/chroot/bookworm.tar
root=$(mktemp -d)

clean_up() {
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap clean_up EXIT

if [ ! -e "$bare" ]; then
  mkdir -p build/chroot
  debootstrap --variant=minbase --include=make bookworm "$root"
  tar -C "$root" -cf "$bare.part" .
  mv "$bare.part" "$bare"
else
  tar -C "$root" -xf "$bare"
fi

# The same package sources and network as this machine.
cp -r /etc/apt "$root/etc/"
cp -r /usr/share/keyrings "$root/usr/share/"
cp /etc/resolv.conf /etc/hosts "$root/etc/"

mkdir "$root/weft"
git ls-files -z | tar -c --null -T - | tar -C "$root/weft" -x
mount -t proc proc "$root/proc"

for target in test run; do
  echo "== make $target, in the bare system"
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    CMAKE_FLAGS="${CMAKE_FLAGS:-}" make -C /weft "$target"
done
