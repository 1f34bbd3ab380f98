#!/bin/sh
# weft run, inspect and compare as a user meets them. Usage: models.sh PATH_TO_WEFT FOLDER_OF_MODELS
# The folder may be missing; then what needs its models is left out, and the test counts as skipped.
set -eu
weft=$1 models=$2
. "$(dirname "$0")/expect.sh"

# A model that gives back what it is given: x float (1, 3, 2, 2), w int64 (rows, 3), t string (lines), as X, W and T.
# Of another the only operator is unknown.
same=$dir/same.onnx
printf '\010\010\072\321\001\012\020\012\001x\022\001X\042\010Identity\012\020\012\001w\022\001W\042\010Identity\012\020\012\001t\022\001T\042\010Identity\022\001gZ\033\012\001x\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\003\012\002\010\002\012\002\010\002Z\027\012\001w\022\022\012\020\010\007\022\014\012\006\022\004rows\012\002\010\003Z\024\012\001t\022\017\012\015\010\010\022\011\012\007\022\005linesb\033\012\001X\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\003\012\002\010\002\012\002\010\002b\027\012\001W\022\022\012\020\010\007\022\014\012\006\022\004rows\012\002\010\003b\024\012\001T\022\017\012\015\010\010\022\011\012\007\022\005linesB\002\020\015' >"$same"
unknown=$dir/unknown.onnx
printf '\010\010\072\071\012\022\012\001x\022\001y\042\012Frobnicate\022\001gZ\017\012\001x\022\012\012\010\010\001\022\004\012\002\010\002b\017\012\001y\022\012\012\010\010\001\022\004\012\002\010\002B\002\020\015' >"$unknown"
printf 'one\ntwo\n' >"$dir/t.txt"
printf 'P6 2 2 255\n\000\063\146\231\314\377\377\000\000\000\377\000' >"$dir/pixels.ppm"
printf 'a\nb\n' >"$dir/labels.txt"
echo >"$dir/broken.png"
run() { "$weft" run "$same" --runs 1 --input "t=$dir/t.txt" "$@"; }

expect "help of run" 0 'NAME=FILE' "$weft" run --help
expect "help of inspect" 0 '--shape' "$weft" inspect --help
expect "help of compare" 0 'in bf16 unless another precision is given' "$weft" compare --help
expect "no model" 2 'model is required' "$weft" run
expect "an input without a name" 2 'is not NAME=' "$weft" run "$same" --input "$dir/t.txt"
expect "a size that is none" 2 "'three' is not a size" "$weft" run "$same" --shape w=three,3
expect "a layout that is none" 2 'nhwc' "$weft" run "$same" --layout hwnc
expect "no such model" 1 "there is no file '.*none.onnx'" "$weft" run "$dir/none.onnx"
expect "no model in the file" 1 't.txt' "$weft" run "$dir/t.txt"
expect "no such device" 1 'ABACUS' "$weft" run "$same" --device ABACUS

expect "strings need a file" 1 "input 't': .*--input t=FILE" "$weft" run "$same"
expect "no such input" 1 "there is no input 'y'; the inputs are x, w, t" run --input "y=$dir/t.txt"
expect "no such input to give a shape" 1 "there is no input 'y' to give a shape; the inputs are x, w, t" run --shape y=3
expect "no such file" 1 "input 'x': there is no file 'none.png'" run --input x=none.png
expect "no such kind of file" 1 "input 'x': '.*t.txt' is not a .npy" run --input "x=$dir/t.txt"
expect "an image that is none" 1 "input 'x': .*broken.png" run --input "x=$dir/broken.png"
expect "an input that takes no images" 1 "input 'w': it has 2 axes" run --input "w=$dir/pixels.ppm"
expect "norms that do not fit" 1 'need 2 or 6' run --input "x=$dir/pixels.ppm" --image-norm 1,2,3
expect "labels that are missing" 1 "there is no file 'none.txt'" run --top-k 1 --labels none.txt

expect "strings" 0 '^T  string (2)  \["one", "two"\]$' run
expect "integers that are made up" 0 '^W  int64 (1, 3)  min 0 max 2 mean 1  \[0, 1, 2\]$' run
expect "open sizes" 0 '^W  int64 (2, 3)  min 0 max 5 mean 2.5  \[0, 1, 2, 3, 4, 5\]$' run --shape w=2,3
expect "a number" 0 '^W  int64 (1, 3)  min 7 max 7 mean 7  \[7, 7, 7\]$' run --input w=7
expect "an image" 0 '^X  float (1, 3, 2, 2)  min 0 max 1 .*\[0, 0.6, 1, 0, 0.2, 0.8, \.\.\.\]$' run --input "x=$dir/pixels.ppm"
expect "an image, normalised" 0 '\[-1, 0.2, 1, -1, -0.6, 0.6, \.\.\.\]$' run --input "x=$dir/pixels.ppm" --image-norm 0.5,0.5
expect "from 0 to 255" 0 '^X  float (1, 3, 2, 2)  min 0 max 255 ' "$weft" run --input "x=$dir/pixels.ppm" --input "t=$dir/t.txt" --image-norm 0,0.00392156862745098 "$same"
expect "channel by channel" 0 '\[0, 0.6, 1, 0, 0.1, 0.4, \.\.\.\]$' run --input "x=$dir/pixels.ppm" --image-norm 0,0,0,1,2,1
expect "outputs as files" 0 '^X  float' run --input "x=$dir/pixels.ppm" --out "$dir/outputs"
expect "read again" 0 '^X  float (1, 3, 2, 2)  .*\[0, 0.6, 1, 0, 0.2, 0.8, \.\.\.\]$' run --input "x=$dir/outputs/X.npy"
cmp "$dir/outputs/T.txt" "$dir/t.txt" || failures=$((failures + 1))
expect "a shape that is another" 1 "input 'x': its shape is (1, 3, 2, 2) where (1, 3, 2, 5)" run --shape x=1,3,2,5 --input "x=$dir/outputs/X.npy"
expect "a type that is another" 1 "input 'w': its elements are float where int64" run --shape w=1,3,2,2 --input "w=$dir/outputs/X.npy"

expect "what a model is made of" 0 '^  Identity  *3 of opset 13$' "$weft" inspect "$same"
expect "open inputs" 0 'leaves open are 1 .* in w, t$' "$weft" inspect "$same"
expect "an operator that is unknown" 0 'Frobnicate .*NOT SUPPORTED$' "$weft" inspect "$unknown"
expect "no call then" 0 '"call": null, "missing": "operators are not supported: Frobnicate"' "$weft" inspect --json "$unknown"
expect "running it" 1 'Frobnicate' "$weft" run "$unknown"

drawn=$(dirname "$0")/../../models
digits=$drawn/digits.onnx three=$drawn/3.png
compare() { "$weft" compare "$digits" --input "image=$three" "$@"; }
expect "layer by layer" 0 '^bf16 *0.508 .* conv2 (Conv)' compare
expect "the worst layer" 0 '^f16 .*, the worst$' compare --precision f16
expect "one layer" 0 '^f32  *[0-9.]*  *0.00e+00  *0.00e+00 .* conv1 (Conv)$' compare --precision conv2=int8
expect "the layer comes first" 0 '^{"layers": \[{"name": "conv2", "op": "Conv", "precision": "int8", "products": 508032, "alone": {"max": 0.0' compare --precision conv2=int8 --sort --json
expect "a type that is none" 2 "'f99' is not f32, bf16, f16 or int8" compare --precision f99
expect "a layer that is none" 1 "there is no layer 'none'; the layers are conv1, conv2, conv3" compare --precision none=bf16
expect "types to choose from" 1 'several types for all layers need --max-error' compare --precision bf16 --precision f16
expect "a choice" 0 '^  --precision conv3=int8$' "$weft" run "$digits" --runs 0 --input "image=$three" --max-error 1 --precision int8 --precision bf16 --save-precision "$dir/chosen.json"
expect "a choice, given back" 0 '^int8 .* conv3 (Conv)' compare --precision-file "$dir/chosen.json"
expect "a file that says another" 0 '^bf16 .* conv3 (Conv)' compare --precision-file "$dir/chosen.json" --precision conv3=bf16
expect "samples of a folder" 0 '"calls": 10}$' "$weft" compare "$digits" --samples "$drawn" --json
expect "samples, one by one" 0 '"calls": 2}$' "$weft" compare "$digits" --samples "$three" --samples "$drawn/8.png" --json
expect "samples, or inputs" 2 'excludes' compare --samples "$three"
expect "a folder without samples" 1 'the folders have no .npy' "$weft" compare "$digits" --samples "$(dirname "$0")"
expect "a choice by samples" 0 '^4 of 4 layers in reduced precision$' "$weft" run "$digits" --runs 0 --max-error 1 --samples "$drawn"
expect "samples for no choice" 2 'requires --max-error' "$weft" run "$digits" --samples "$drawn"
echo '[{"layer": "conv1", "precision": "f99"}]' >"$dir/wrong.json"
expect "a file with a type that is none" 1 "wrong.json.*there is no precision 'f99'" compare --precision-file "$dir/wrong.json"
expect "a bound too small for any" 0 '^0 of 4 layers in reduced precision$' "$weft" bench onnx "$digits" --runs 1 --no-cold --max-error 1e-30

if [ ! -e "$models/mnist-8/model.onnx" ]; then
  echo "left out: there is no $models/mnist-8"
  [ "$failures" -eq 0 ] && exit 77
  exit 1
fi
mnist=$models/mnist-8/model.onnx
# As the standard's output_0.pb has it: a 2. The first is 975.6701, where rounding may make the last of six digits another.
expect "a digit" 0 '^Plus214_Output_0  float (1, 10)  min -1952.76 max 6574.57 .*\[975.671\?, -618.724, 6574.57,' "$weft" run "$mnist" --input "Input3=$models/mnist-8/test_data_set_0/input_0.pb"
printf 'zero\none\ntwo\n' >"$dir/digits.txt"
expect "its class" 0 '^ *2  6574.57  *two$' "$weft" run "$mnist" --runs 0 --input "Input3=$models/mnist-8/test_data_set_0/input_0.pb" --top-k 1 --labels "$dir/digits.txt"
# The other two of the standard's inputs say what values there are.
expect "in integers" 0 ' 2 int8 products, 1 float product; 3 activations in 8 bits, 2 calibration calls$' "$weft" quantize "$mnist" -o "$dir/mnist.onnx" --per-channel --calibrate "$models/mnist-8/test_data_set_1/input_0.pb" --calibrate "$models/mnist-8/test_data_set_2/input_0.pb"
expect "its class by integers" 0 '^ *2  6[56][0-9]*' "$weft" run "$dir/mnist.onnx" --runs 0 --input "Input3=$models/mnist-8/test_data_set_0/input_0.pb" --top-k 1
expect "scales of each call need an opset" 1 'is of opset 8; there is dynamic quantisation since 11' "$weft" quantize "$mnist" -o "$dir/mnist.onnx" --dynamic
expect "as JSON" 0 '^{"median_ms": [0-9.e-]*, "min_ms": [0-9.e-]*, "p90_ms": [0-9.e-]*, "runs": 3, "kernels": [1-9][0-9]*, .*"peak_bytes": [1-9][0-9]*, .*"outputs": \[{"name": "Plus214_Output_0", "type": "float", "shape": \[1, 10\]' "$weft" run "$mnist" --runs 3 --json
expect "its kernels' times" 0 'GFLOP/s' "$weft" run "$mnist" --runs 0 --profile
expect "its kernels' nodes" 0 'GB/s  ReLU32 \.\.\. Pooling66$' "$weft" run "$mnist" --runs 0 --profile
expect "its operators" 0 '^  Conv  *2 of opset 8$' "$weft" inspect "$mnist"
expect "its weights" 0 '^  [0-9]* tensors of 5998 elements, 24.01 kB$' "$weft" inspect "$mnist"
expect "its kernels" 0 '^  [1-9][0-9]* kernels*, [0-9.]* Mflop' "$weft" inspect "$mnist"
upscale=$models/super-resolution-10
expect "memory in another order" 0 '^  r_64_224_224_3_3_64  *1x64x224x224  *0 2 3 1  *[0-9.]* ms  *[0-9.]* ms$' "$weft" inspect --layouts "$upscale/model.onnx"
expect "the same as JSON" 0 '"turned": \[.*{"kernel": "r_64_224_224_3_3_64", "shape": \[1,64,224,224\], "order": \[0,2,3,1\], "seconds": [0-9.e-]*, "seconds_as_made": [0-9.e-]*}' "$weft" inspect --json "$upscale/model.onnx"
expect "fewer products" 0 '^f32 .*[1-9]\.[0-9]*e-0[67] .*, the worst$' "$weft" compare "$upscale/model.onnx" --precision f32
expect "all products" 0 '"max_error": 0, "calls": 1}$' env WINOGRAD=0 "$weft" compare "$upscale/model.onnx" --precision f32 --json
expect "its kernels, tuned" 0 '^ *[0-9.]*  *[0-9.]*  *[0-9.]*  r_[0-9_]*[a-z]*, [0-9]* (Conv) \.\.\. [0-9]* (Relu): ' env CACHE_DIR="$dir/cache" "$weft" tune "$upscale/model.onnx" --beam 1 --budget 1s --runs 1
expect "the kernels of what is held" 0 '^[1-9][0-9]* kernels, ' "$weft" run "$upscale/model.onnx" --runs 0
expect "an image, enlarged" 0 '^output  float (1, 1, 672, 672)  min -0.491[0-9]* max 1.7085[0-9]* mean 0.6022[0-9]*' "$weft" run "$upscale/model.onnx" --runs 0 --input "input=$upscale/test_data_set_0/input_0.pb"
expect "a photo, enlarged" 0 '^output  float (1, 1, 672, 672)' "$weft" run "$upscale/model.onnx" --runs 0 --input "input=$models/images-dev/tulip.jpg"
silero=$models/silero-vad/silero_vad_16k_op15.onnx
expect "open sizes that do not fit" 1 'Sizes that the file leaves open are 1 .*--shape NAME=SIZES .* of input, state$' "$weft" run "$silero" --runs 0
expect "sizes that fit" 0 '^output  float (1, 1)' "$weft" run "$silero" --runs 0 --shape input=1,512 --input sr=16000
expect "a photo's class" 0 '^output  float (1, 10)' "$weft" run "$models/tinycnn-cifar/model.onnx" --runs 0 --input "input=$models/images-dev/goldfish.jpg" --image-norm 0.49,0.48,0.45,0.2,0.2,0.2
[ "$failures" -eq 0 ]
