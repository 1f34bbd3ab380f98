#!/bin/sh
# What examples/04_mnist.cpp learns in five epochs, from three seeds, and in other settings: a line of a table for each
# run. Takes half an hour of an idle machine. Usage: mnist.sh DATA [PROGRAM]
set -eu
data=${1:?the folder with the files of MNIST}
program=${2:-$(dirname "$0")/../build/bench/bin/examples/04_mnist}

# run NAME [SETTING=VALUE...] -- ARGUMENT...
run() {
  name=$1
  shift
  settings=
  while [ "$1" != -- ]; do
    settings="$settings $1"
    shift
  done
  shift
  # shellcheck disable=SC2086  # several settings are several words
  env $settings "$program" --data "$data" --save "${TMPDIR:-/tmp}/mnist_$$.safetensors" "$@" |
    awk -v name="$name" '
      /kernels in each step/ { kernels = $1; ms = $(NF - 1) }
      /s in all/ { seconds = $1 }
      /test accuracy/ { accuracy = $(NF - 1) }
      END { printf "| %s | %s %% | %s s | %s ms | %s |\n", name, accuracy, seconds, ms, kernels }'
}

echo "| run | test accuracy | in all | a step | kernels in it |"
echo "|---|---|---|---|---|"
for seed in 1 2 3; do
  run "5 epochs, Adam 3e-4, batch 128, seed $seed" -- --epochs 5 --seed $seed
done
run "1 epoch" -- --epochs 1
run "1 epoch, BEAM=2" BEAM=2 -- --epochs 1
run "1 epoch, SGD 0.01 with momentum" -- --epochs 1 --optimizer sgd --lr 0.01
run "1 epoch without batch norm" -- --epochs 1 --no-norm
run "1 epoch, batch 512" -- --epochs 1 --batch 512
rm -f "${TMPDIR:-/tmp}/mnist_$$.safetensors"
