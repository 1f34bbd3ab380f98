#!/bin/sh
# The subcommands that measure and tune, as a user meets them. Usage: tools.sh PATH_TO_WEFT PYTHON
set -eu
weft=$1 python=$2
. "$(dirname "$0")/expect.sh"
export CACHE_DIR="$dir/cache" CALIBRATE=0 WEFT_THREADS=2

# y = sum(relu(x w)): x float (64, 96), w float (96, 80).
model=$dir/model.onnx
printf '\010\010\072v\012\021\012\001x\012\001w\022\001m\042\006MatMul\012\014\012\001m\022\001r\042\004Relu\012\021\012\001r\022\001y\042\011ReduceSum\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\100\012\002\010\140Z\023\012\001w\022\016\012\014\010\001\022\010\012\002\010\140\012\002\010Pb\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\001B\002\020\013' >"$model"
cat >"$dir/rows.weft" <<'GRAPH'
graph rows {
  %0 = const 64 : index
  %1 = param %0 {slot = 0, access = write, alias = 0} : f32
  %2 = const true : bool
  %3 = range %0 {id = 0, kind = loop} : index
  %4 = index %1, %2, %3 : f32
  %5 = const 1 : f32
  %6 = store %4, %5 {combine = false, op = add}
  %7 = end %6, %3
  %8 = sink %7 {name = "ones", schedule = "", far_constants = false}
  return %8
}
GRAPH

"$python" -c '
import struct, sys
head = repr({"descr": "<f4", "fortran_order": False, "shape": (2,)}).encode().ljust(117) + b"\n"
open(sys.argv[1], "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + bytes(8))' "$dir/x.npy"
echo >"$dir/broken.png"

# expect_json NAME CONDITION command...: its output is one JSON value v, of which the Python condition holds.
expect_json() {
  name=$1 condition=$2
  shift 2
  if ! "$@" >"$dir/out" 2>"$dir/errors" || ! "$python" -c '
import json, sys
v = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$dir/out" "$condition" 2>>"$dir/errors"; then
    echo "FAILED $name: not $condition in:"
    cat "$dir/out" "$dir/errors"
    failures=$((failures + 1))
  fi
}

# --- kernels ---------------------------------------------------------------------------------------
expect "the kernels of a model" 0 '^  *[0-9.]* .* r_64_80_96, m (MatMul): [a-z]' "$weft" kernels "$model" --runs 2
expect "their sources" 0 'kernel(' "$weft" kernels "$model" --runs 2 --source
expect_json "kernels as JSON" 'len(v["kernels"]) == 2 and v["kernels"][0]["ms"] >= v["kernels"][1]["ms"] > 0 and v["kernels"][0]["model_ms"] > 0 and abs(sum(k["share"] for k in v["kernels"]) - 1) < 1e-6 and v["roof_gflops"] > 0' \
  "$weft" kernels "$model" --runs 2 --json
expect_json "flops and bytes" '[(k["flops"], k["bytes"]) for k in v["kernels"] if k["name"] == "r_64_80_96"] == [(2 * 64 * 96 * 80, 4 * (64 * 96 + 96 * 80 + 64 * 80))]' \
  "$weft" kernels "$model" --runs 2 --json
expect_json "nodes" '[k["nodes"] for k in v["kernels"]] == [["m (MatMul)"], ["r (Relu) ... y (ReduceSum)"]]' "$weft" kernels "$model" --runs 2 --json
expect_json "no roof" 'v["roof_gflops"] is None and v["kernels"][0]["roof"] is None and v["kernels"][0]["model_ms"] is None and "source" in v["kernels"][0]' \
  "$weft" kernels "$model" --runs 1 --device INTERP --json --source
expect_json "kernels of text" '[k["name"] for k in v["kernels"]] == ["ones"]' "$weft" kernels "$dir/rows.weft" --json
expect "blocks that may not follow a batch" 0 gradient_of_attention "$weft" kernels "$(dirname "$0")/gradient_of_attention.weft"
expect "actions for a model" 1 "--opts is for kernels as text" "$weft" kernels "$model" --opts none
expect "no such model" 1 "there is no file '.*none.onnx'" "$weft" kernels "$dir/none.onnx"
expect "no such text" 1 'cannot open' "$weft" kernels "$dir/none.weft"

# --- bench -----------------------------------------------------------------------------------------
keys='all(k in v for k in "median_ms min_ms p90_ms runs gflops gbps kernels peak_bytes compile_ms cold".split())'
timed="$keys and 0 < v['min_ms'] <= v['median_ms'] <= v['p90_ms']"
expect_json "a model" "$timed and v['kernels'] == 2 and v['runs'] == 3 and v['cold'] > v['min_ms']" "$weft" bench onnx "$model" --runs 3 --json
expect_json "a product" "$timed and abs(v['gflops'] * v['median_ms'] * 1e6 - 2 * 16 * 24 * 32) < 1" "$weft" bench matmul 16 24 32 --runs 3 --json
expect_json "on one thread, without a cold start" "$timed and v['cold'] is None" "$weft" bench matmul 8 8 8 --runs 2 --threads 1 --no-cold --json
expect_json "a convolution" "$timed" "$weft" bench conv 1 4 8 8 6 3 --padding 1 --groups 2 --runs 2 --no-cold --json
expect_json "an op" "$timed and v['peak_bytes'] >= 3 * 2 * 32 * 16" "$weft" bench op add 32x16 --dtype f16 --runs 2 --no-cold --json
expect_json "a launch" "$timed and v['kernels'] == 1" "$weft" bench launch --device INTERP --runs 2 --no-cold --json
expect_json "first results" "$keys and v['gflops'] is None and v['cold'] == v['median_ms'] and v['warm'] > 0" "$weft" bench compile "$model" --runs 1 --json
expect "an input of another shape" 1 "input 'x': its shape is" "$weft" bench onnx "$model" --input "x=$dir/x.npy" --no-cold
expect "an input that takes no images" 1 "input 'x': it has 2 axes" "$weft" kernels "$model" --input "x=$dir/broken.png"
expect "in words" 0 '^median .* of 2 runs$' "$weft" bench op sum 64x64 --runs 2
expect "no such op" 1 "there is no op 'polish'; there are copy, " "$weft" bench op polish 3
expect "shapes that do not suffice" 1 'muladd takes 3 shapes, but 2 are given' "$weft" bench op muladd 3 3
expect "a shape that is none" 2 "'3,4' is not a size" "$weft" bench op add 3,4
expect "no such dtype" 1 "there is no dtype 'float'" "$weft" bench op add 3 --dtype float
expect "groups that do not fit" 1 '4 channels and 6 filters do not divide into 3 groups' "$weft" bench conv 1 4 8 8 6 3 --groups 3
expect "a size that is missing" 2 'n is required' "$weft" bench matmul 3 4
expect "nothing to time" 2 'subcommand' "$weft" bench

# --- tune ------------------------------------------------------------------------------------------
expect "a search" 0 '^2 of 2 kernels searched, [1-9][0-9]* schedules timed in ' "$weft" tune "$model" --budget 10m --beam 2 --runs 2
expect_json "it is over" 'v["timed"] == 0 and v["searched"] == 2 and not v["interrupted"] and all(k["before_ms"] > 0 and k["after_ms"] > 0 and k["schedule"] for k in v["kernels"])' \
  "$weft" tune "$model" --budget 10m --beam 2 --runs 2 --json
expect_json "it is used" 'all(k["found"] for k in v["kernels"])' "$weft" kernels "$model" --runs 1 --json
expect "nothing to choose" 0 '^0 of 2 kernels searched' "$weft" tune "$model" --budget 1 --runs 1 --device INTERP
expect "a time that is none" 2 "'soon' is not a time" "$weft" tune "$model" --budget soon
expect "no time at all" 2 "'0s' is not a time" "$weft" tune "$model" --budget 0s
expect "no model to tune" 1 "there is no file" "$weft" tune "$dir/none.onnx"

# interrupted FOLDER command...: Ctrl-C once the search has begun to keep what it finds in the folder.
interrupted() {
  "$python" -c '
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen(sys.argv[2:])
while not os.path.exists(sys.argv[1] + "/schedules.sqlite") and p.poll() is None: time.sleep(0.01)
time.sleep(0.2)
p.send_signal(signal.SIGINT)
sys.exit(p.wait())' "$@"
}
CACHE_DIR=$dir/interrupted
expect "Ctrl-C" 130 ', then interrupted$' interrupted "$CACHE_DIR" "$weft" tune "$model" --beam 2000 --budget 1h --runs 2
expect_json "what was found is kept" 'v["tunings"] >= 1' "$weft" cache --json
expect_json "and found again" 'v["kernels"][0]["found"]' "$weft" kernels "$model" --runs 1 --json
expect "and gone on with" 0 ' kernels searched, ' "$weft" tune "$model" --beam 2 --budget 1s --runs 1

# Two processes that begin with the same empty cache.
CACHE_DIR=$dir/shared
"$weft" tune "$model" --beam 2 --budget 10m --runs 1 >"$dir/one" 2>&1 &
one=$!
expect "beside another" 0 ' kernels searched, ' "$weft" tune "$model" --beam 2 --budget 10m --runs 1
wait "$one" || { echo "FAILED the other one:"; cat "$dir/one"; failures=$((failures + 1)); }
expect_json "one cache of both" 'v["tunings"] == 2 and v["entries"] >= 2' "$weft" cache --json
expect_json "that both can use" 'all(k["found"] for k in v["kernels"])' "$weft" kernels "$model" --runs 1 --json

# --- cache -----------------------------------------------------------------------------------------
echo mine >"$CACHE_DIR/notes.txt"
printf 'weft 1' >"$CACHE_DIR/0123456789abcdef.12.1"
expect "in words" 0 '^found schedules: 2 kernels, ' "$weft" cache
expect "export" 0 '^wrote found schedules of 2 kernels to ' "$weft" cache export "$dir/tunings.txt"
expect "on standard output" 0 '^weft tuning 1$' "$weft" cache export -
expect "clear" 0 '^kept found schedules of 2 kernels; ' "$weft" cache clear
expect_json "no code any more" 'v["entries"] == 0 and v["tunings"] == 2' "$weft" cache --json
expect "clear all" 0 '^removed found schedules of 2 kernels$' "$weft" cache clear --tunings
expect_json "nothing any more" 'v["entries"] == 0 and v["tunings"] == 0' "$weft" cache --json
grep -q mine "$CACHE_DIR/notes.txt" || { echo "FAILED a file of others is gone"; failures=$((failures + 1)); }
CACHE_DIR=$dir/other
expect "import" 0 '^read found schedules of 2 kernels$' "$weft" cache import "$dir/tunings.txt"
expect_json "used elsewhere" 'all(k["found"] for k in v["kernels"])' "$weft" kernels "$model" --runs 1 --json
sed "s/\t[^\t]*$/\tupcast r9/; 1s/.*/weft tuning 1/" "$dir/tunings.txt" >"$dir/refused.txt"
expect "schedules that are refused" 0 '^read found schedules of 2 kernels$' "$weft" cache import "$dir/refused.txt"
expect_json "are as none" 'not any(k["found"] for k in v["kernels"]) and all(k["schedule"] for k in v["kernels"])' "$weft" kernels "$model" --runs 1 --json
expect "no such tunings" 1 'has no found schedules' "$weft" cache import "$model"
expect "no such file of tunings" 1 "there is no file 'none.txt'" "$weft" cache import none.txt
expect "nowhere to write" 1 'cannot be written' "$weft" cache export "$dir/none/tunings.txt"
expect "no cache" 1 'there is no cache' env CACHE_DIR=none "$weft" cache
expect "no such part of it" 2 'not expected' "$weft" cache polish

# --- devices, completion, man ------------------------------------------------------------------------
expect "devices in words" 0 '^CPU ' "$weft" devices
expect "what a processor has" 0 ' threads*.*; vectors of [0-9]* bytes$' "$weft" devices
expect "its caches and memory" 0 '^  *caches L1 [0-9.]* [KM]iB, .*; memory [0-9.]* [GT]B$' "$weft" devices
expect "lines that can be read" 0 '^short$' sh -c "'$weft' devices | awk 'length > 160 { long = 1 } END { print long ? \"long\" : \"short\" }'"
expect_json "what a processor has, as JSON" 'all(d["processor"] and d["threads"] >= 1 and d["vector_bytes"] >= 16 and len(d["caches"]) == 3 and d["compiler"] for d in v["devices"] if d["name"] == "CPU")' \
  "$weft" devices --json
expect_json "devices as JSON" '{"CPU", "INTERP", "NULL", "DISK"} <= {d["name"] for d in v["devices"]} and {d["name"]: d["works"] for d in v["devices"]}["INTERP"] and all(d["works"] == (d["missing"] is None) for d in v["devices"])' \
  "$weft" devices --json
expect_json "inspect as JSON" 'v["call"]["flops"] > 2 * 64 * 96 * 80' "$weft" inspect "$model" --json
expect_json "run as JSON" 'v["runs"] == 2 and v["outputs"][0]["name"] == "y"' "$weft" run "$model" --runs 2 --json
expect "no such shell" 2 'tcsh not in' "$weft" completion tcsh
expect "exit codes" 0 '^Exit codes: 0 success, .*130' "$weft" --help
expect "a manual page" 0 '^\.SS "weft bench matmul \[options\] m k n"$' "$weft" man
expect "of zsh" 0 "'weft run --layout') compadd -- nchw nhwc" "$weft" completion zsh
expect "of fish" 0 '^complete -c weft .*"weft run".* -l layout -x -a .nchw nhwc.' "$weft" completion fish
"$weft" completion bash >"$dir/weft.bash"
if command -v bash >/dev/null; then
  # completes WORD... : what the last of these words may become.
  completes() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; echo "[${COMPREPLY[*]}]"' bash "$dir/weft.bash" "$@"
  }
  expect "a subcommand" 0 '^\[bench\]$' completes weft be
  expect "one below it" 0 '^\[matmul\]$' completes weft bench m
  expect "an option" 0 '^\[--layout\]$' completes weft run --lay
  expect "its values" 0 '^\[nchw nhwc\]$' completes weft run --layout n
  expect "a file" 0 'model.onnx' completes weft run "$dir/mod"
  expect "a value that nobody can guess" 0 '^\[\]$' completes weft run --runs ''
fi
expect "no colours in a file" 0 '^  .*  r_64_80_96, m (MatMul): ' "$weft" kernels "$model" --runs 1

[ "$failures" -eq 0 ]
