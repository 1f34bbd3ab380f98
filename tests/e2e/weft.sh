#!/bin/sh
# The command line as a user meets it. Usage: weft.sh PATH_TO_WEFT
set -eu
weft=$1
. "$(dirname "$0")/expect.sh"

cat >"$dir/flat.weft" <<'GRAPH'
graph flat {
  %0 = const 64 : index
  %1 = range %0 {id = 0, kind = loop} : index
  %2 = const 8 : index
  %3 = floordiv %1, %2 : index
  %4 = mul %3, %2 : index
  %5 = floormod %1, %2 : index
  %6 = add %4, %5 : index
  return %6
}
GRAPH
printf 'graph bad {\n  %%0 = cosnt 1 : index\n  return %%0\n}\n' >"$dir/bad.weft"

expect version 0 '^[0-9][0-9.]*$' "$weft" --version
expect help 0 'opt' "$weft" --help
expect "help of a subcommand" 0 '--pass' "$weft" opt --help
expect "no subcommand" 2 'subcommand' "$weft"
expect "unknown flag" 2 'not expected' "$weft" opt --no-such-flag
expect "unknown pass" 1 "no pass or rule set 'polish'" "$weft" opt --pass polish "$dir/flat.weft"
expect "missing file" 1 'cannot open' "$weft" opt "$dir/nowhere.weft"
expect "syntax error" 1 "bad.weft:2:8: there is no op 'cosnt'" "$weft" opt "$dir/bad.weft"
expect "one pass" 0 'return %1' "$weft" opt --pass simplify "$dir/flat.weft"
expect "one rule set" 0 'return %1' "$weft" opt --pass sum "$dir/flat.weft"
printf 'graph odd {\n  %%0 = const 1 : index\n  %%1 = range %%0 {id = 0, kind = loop} : index\n  %%2 = range %%1 {id = 0, kind = loop} : index\n  return %%2\n}\n' >"$dir/odd.weft"
expect "illegal graph" 1 'graph odd is not legal' "$weft" opt "$dir/odd.weft"
expect "output that is full" 1 'cannot be written' sh -c "'$weft' opt '$dir/flat.weft' >/dev/full"
expect "whole pipeline" 0 'range %0 {id = 0, kind = loop} : i32' "$weft" opt "$dir/flat.weft"
expect "standard input" 0 'return %1' sh -c "'$weft' opt --pass simplify - <'$dir/flat.weft'"
expect trace 0 'by .*sum' "$weft" opt --trace --pass simplify "$dir/flat.weft"
expect "an open loop" 0 '^flat: r0: the loop is still open' "$weft" opt --check-loops "$dir/flat.weft"
expect "bounded loops" 0 '^flat: ends after at most 64 iterations' sh -c "sed 's/return %6/%7 = reduce %6, %1 {op = add, axes = []} : index\n  return %7/' '$dir/flat.weft' | '$weft' opt --pass order --check-loops"
expect "dump of one pass" 0 '^graph ranges' env DUMP=ranges "$weft" opt "$dir/flat.weft"
expect "dump of all passes" 0 '^graph width' env DEBUG=4 "$weft" opt "$dir/flat.weft"
expect "time of a pass" 0 '^// width: [0-9.]* ms, 7 nodes -> ' env DEBUG=3 SKIP=ranges,simplify "$weft" opt "$dir/flat.weft"
expect "pass left out" 0 'floordiv' env SKIP=ranges,simplify "$weft" opt "$dir/flat.weft"
expect "no such pass to leave out" 1 "there is no pass 'polish'" env SKIP=simplify,polish "$weft" opt "$dir/flat.weft"
expect "a pass that is needed" 1 "SKIP=flatten: the pass 'flatten' is required; these can be skipped: .*transpose_vectors" env SKIP=flatten "$weft" demo
expect "no such pass to print" 1 "DUMP=polish: there is no pass 'polish'; there are ranges, .*guard" env DUMP=polish "$weft" opt "$dir/flat.weft"
expect "no visualiser" 1 'VIZ=1 in the environment: this build has no visualiser' env VIZ=1 "$weft" demo
expect "a visualiser that nobody asks for" 0 'graph flat' env VIZ=0 "$weft" opt "$dir/flat.weft"
expect "setting that is no number" 1 'DEBUG=high' env DEBUG=high "$weft" opt "$dir/flat.weft"
cat >"$dir/rows.weft" <<'GRAPH'
graph rows {
  %0 = const 64 : index
  %1 = const 48 : index
  %2 = param %0 {slot = 0, access = write, alias = 0} : f32
  %3 = param %0, %1 {slot = 1, access = read, alias = 0} : f32
  %4 = const true : bool
  %5 = range %0 {id = 0, kind = loop} : index
  %6 = range %1 {id = 1, kind = reduce} : index
  %7 = index %3, %4, %5, %6 : f32
  %8 = load %7 : f32
  %9 = reduce %8, %6 {op = add, axes = []} : f32
  %10 = index %2, %4, %5 : f32
  %11 = store %10, %9 {combine = false, op = add}
  %12 = end %11, %5
  %13 = sink %12 {name = "sum_of_rows", schedule = "", far_constants = false}
  return %13
}
GRAPH
for switch in NV CUDA AMD METAL GPU; do
  expect "no device $switch" 1 "^weft: $switch=1 in the environment: there is no device '$switch'; there are CLANG, CPU, " env -u DEV $switch=1 "$weft" kernels "$dir/rows.weft"
done
expect "its number" 1 '^weft: GPU=2 in the environment: there is no device' env -u DEV GPU=2 "$weft" kernels "$dir/rows.weft"
expect "a device that is named goes first" 0 '^sum_of_rows$' env DEV=INTERP NV=1 "$weft" kernels "$dir/rows.weft"
expect "a variable that is no switch" 0 '^sum_of_rows$' env -u DEV CUDA=/usr/local/cuda GPU=0 "$weft" kernels "$dir/rows.weft"
expect "no device of that name" 1 "there is no device 'NV'; there are CLANG, CPU, " env DEV=NV "$weft" kernels "$dir/rows.weft"
expect "a kernel by name" 0 '^sum_of_rows$' "$weft" kernels "$dir/rows.weft"
expect "its loops" 0 '^  loops: r0: 64 iterations, k0: 48 iterations$' "$weft" kernels "$dir/rows.weft"
expect "its reads" 0 '^  reads: p1: f32 of 64 x 48$' "$weft" kernels "$dir/rows.weft"
expect "its schedule" 0 '^  schedule: none$' "$weft" kernels --device NULL "$dir/rows.weft"
expect "its time" 0 '^  model: [0-9.]* us: compute ' "$weft" kernels --opts none "$dir/rows.weft"
expect "its source" 0 '^void kernel(' "$weft" kernels --device NULL "$dir/rows.weft"
expect "actions of one's own" 0 '^  schedule: tile r0 8; upcast r0.1$' "$weft" kernels --opts 'tile r0 8;upcast r0.1' "$dir/rows.weft"
expect "actions in the kernel" 0 '^  schedule: tile k0 16$' sh -c "sed 's/schedule = \"\"/schedule = \"tile k0 16\"/' '$dir/rows.weft' | '$weft' kernels"
expect "no such loop" 1 "the kernel has no loop 'r1'; it has r0 k0" "$weft" kernels --opts 'upcast r1' "$dir/rows.weft"
expect "no such action" 1 "'fold r0': there is no such action" "$weft" kernels --opts 'fold r0' "$dir/rows.weft"
expect "a tail is wanted" 1 '64 iterations are not a multiple of it; add a tail: mask, remainder or shift' "$weft" kernels --opts 'tile r0 7' "$dir/rows.weft"
expect "no kernel" 1 'there is no kernel in it' "$weft" kernels "$dir/flat.weft"
expect ops 0 '^floordiv .*floor(a / b)' "$weft" list ops
expect passes 0 '^simplify  *optional  *simplifies ' "$weft" list passes
expect settings 0 '^VALIDATE  *0  *1: prove with Z3' "$weft" list settings
expect devices 0 '^INTERP' "$weft" list devices
expect "a processor as assumed" 0 '^GHz  *3\.7 ' env DEV=CPU CALIBRATE=0 CACHE_DIR="$dir/cache" "$weft" list machine
expect "nothing measured then" 0 none sh -c "test -e '$dir/cache' || echo none"
expect "a processor as measured" 0 '^GHz  *[0-9.]* ' env DEV=CPU CALIBRATE=1 CACHE_DIR="$dir/cache" "$weft" list machine
cp "$dir/out" "$dir/measured"
entries="ls -iR '$dir/cache' 2>&1 || true"  # builds without LLVM measure nothing
sh -c "$entries" >"$dir/entries"
env DEV=CPU CALIBRATE=1 CACHE_DIR="$dir/cache" "$weft" list machine | cmp - "$dir/measured" || failures=$((failures + 1))
sh -c "$entries" | cmp - "$dir/entries" || failures=$((failures + 1))
expect rules 0 'divmod.cpp:' "$weft" list rules
expect demo 0 'after vectorize' "$weft" demo

# What a pass prints is its input again: printing and parsing agree.
"$weft" opt --pass simplify "$dir/flat.weft" >"$dir/once.weft"
"$weft" opt --pass simplify "$dir/once.weft" >"$dir/twice.weft"
cmp "$dir/once.weft" "$dir/twice.weft" || failures=$((failures + 1))

[ "$failures" -eq 0 ]
