# What tests of the command line share: a folder that goes when they end, and expect. It is sourced.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

# expect NAME STATUS PATTERN command...: the exit status, and a line of its output.
expect() {
  name=$1 status=$2 pattern=$3
  shift 3
  got=0
  "$@" >"$dir/out" 2>&1 || got=$?
  if [ "$got" -ne "$status" ] || ! grep -q -e "$pattern" "$dir/out"; then
    echo "FAILED $name: exit $got (expected $status), looking for '$pattern' in:"
    cat "$dir/out"
    failures=$((failures + 1))
  fi
}
