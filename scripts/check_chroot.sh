#!/bin/sh
# The newcomer's check: in a bare Debian 12 that has only make and the tracked source, README's two commands work, and what was
# built can be installed. Prints how long each took. Needs root; keeps the bare system in build/chroot for the next time, and the
# tests' results in build/default/tests.xml.
set -eu
cd "$(dirname "$0")/.."
bare=build/chroot/bookworm.tar
root=$(mktemp -d)

clean_up() {
  for folder in proc shared; do
    ! mountpoint -q "$root/$folder" || umount "$root/$folder" || return 0  # and delete nothing that is not ours
  done
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

mkdir "$root/weft" "$root/shared"
git ls-files -z | tar -c --null -T - | tar -C "$root/weft" -x
mount -t proc proc "$root/proc"
if [ -d ../shared ]; then
  mount --bind ../shared "$root/shared"
  mount -o remount,bind,ro "$root/shared"
fi

# inside NAME COMMAND...
inside() {
  name=$1
  shift
  echo "== $name, in the bare system"
  start=$(date +%s)
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${WEFT_TURN:+WEFT_TURN="$WEFT_TURN"} "$@"
  echo "== $name took $(($(date +%s) - start)) s"
}
inside "make deps-build" make -C /weft deps-build
inside "make run" make -C /weft run
inside "make test" make -C /weft test
mkdir -p build/default
cp "$root/weft/build/default/tests.xml" build/default/
inside "installing" sh -c \
  'apt-get install -y -qq --no-install-recommends pkg-config >/dev/null 2>&1 && /weft/scripts/check_install.sh /weft/build/default'
