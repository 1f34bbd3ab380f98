#!/bin/sh
# The cache on disk as a user meets it. Usage: cache.sh PATH_TO_WEFT FOLDER_OF_MODELS
set -eu
weft=$1 models=$2
. "$(dirname "$0")/expect.sh"

# Plans are kept without the verifier only.
export DEV=CPU CALIBRATE=0 SPEC=0
unset CACHE_LIMIT XDG_CACHE_HOME
run() { "$weft" run "$models/digits.onnx" --runs 0 --input "image=$models/7.png" --top-k 3 | grep '^  '; }
entries() { find "$CACHE_DIR" -type f -name '????????????????' | wc -l; }

export CACHE_DIR="$dir/cache"
expect "an empty cache" 0 '^plans, code and speeds: 0 files, 0 B of at most 1 GB$' "$weft" cache
run >"$dir/first"
[ "$(entries)" -gt 2 ] || { echo "FAILED nothing is kept"; failures=$((failures + 1)); }
expect "folders for this user alone" 0 '^drwx------ ' ls -ld "$CACHE_DIR"
expect "a full one" 0 '"limit_bytes": 1000000000, ' "$weft" cache --json
expect "another limit" 0 ' of at most 500 MB$' "$weft" cache --limit 500MB
expect "which stays" 0 ' of at most 500 MB$' "$weft" cache
expect "the setting goes first" 0 ' of at most 2 GB$' env CACHE_LIMIT=2GB "$weft" cache
expect "and says so" 0 '^weft: CACHE_LIMIT=2GB is in force, and not the limit that was set$' \
  env CACHE_LIMIT=2GB "$weft" cache --limit 400MB
expect "no limit" 0 '"limit_bytes": null' "$weft" cache --limit none --json
expect "a limit that is none" 1 "^weft: --limit much: expected a size, such as 500MB or 2GB, or none$" "$weft" cache --limit much
expect "a setting that is none" 1 "^weft: CACHE_LIMIT=much: expected" env CACHE_LIMIT=much "$weft" cache
before=$(entries)
expect "a limit that is exceeded" 0 '^plans, code and speeds: [12] files\?, [0-9.]* kB of at most 10 kB$' "$weft" cache --limit 10kB
[ "$before" -gt "$(entries)" ] || { echo "FAILED nothing is evicted"; failures=$((failures + 1)); }
run >"$dir/second"
cmp "$dir/first" "$dir/second" || failures=$((failures + 1))
expect "and holds" 0 '^plans, code and speeds: [0-2] files\?, ' "$weft" cache
expect "clear leaves the limit" 0 '^removed [0-2] files\?, ' "$weft" cache clear
expect "and that only" 0 '^limit$' ls "$CACHE_DIR"

# A cache that others may write to is none, and one line says so.
"$weft" cache --limit none >"$dir/out"
chmod go+w "$CACHE_DIR"
refused="the cache in $CACHE_DIR is not used, since code from it would run: other users may write to $CACHE_DIR. Run chmod go-w '$CACHE_DIR', or set CACHE_DIR to another folder, or to none"
run >"$dir/first" 2>"$dir/err"
echo "weft: $refused" | cmp - "$dir/err" || failures=$((failures + 1))
[ "$(entries)" -eq 0 ] || { echo "FAILED something is kept there"; failures=$((failures + 1)); }
expect "for the command" 1 "^weft: $refused$" "$weft" cache
chmod go-w "$CACHE_DIR"
run >"$dir/second" 2>"$dir/err"
cmp "$dir/first" "$dir/second" && [ ! -s "$dir/err" ] && [ "$(entries)" -gt 2 ] || {
  echo "FAILED it is not used again"
  failures=$((failures + 1))
}

# By default in the home, unless that is another user's.
CACHE_DIR= HOME=$dir/home run >"$dir/first"
expect "in the home" 0 '^drwx------ ' ls -ld "$dir/home/.cache/weft"
chmod g+w "$dir/home/.cache/weft"
CACHE_DIR= HOME=$dir/home run >"$dir/first"
expect "which is closed to others" 0 '^drwx------ ' ls -ld "$dir/home/.cache/weft"
CACHE_DIR= XDG_CACHE_HOME=$dir/xdg run >"$dir/first"
expect "where XDG says" 0 '^drwx------ ' ls -ld "$dir/xdg/weft"
if [ "$(id -u)" -eq 0 ]; then
  mkdir "$dir/other"
  chown 12345 "$dir/other"
  expect "in no home of another" 0 "belongs to user 12345, and this process to user 0" env CACHE_DIR= HOME="$dir/other" \
    "$weft" run "$models/digits.onnx" --runs 0
  expect "nothing there" 0 '^0$' sh -c "ls -A '$dir/other' | wc -l"
fi

[ "$failures" -eq 0 ]
