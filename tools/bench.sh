#!/usr/bin/env bash
# tools/bench.sh BIN_DIR: one JSON line for each workload, then the kernels' tables.
set -euo pipefail
bin_dir=$1

for workload in tiny mnist_mlp mnist_cnn matpow cifar10; do
  "$bin_dir/bench_steps" "$workload"
done
for program in "$bin_dir"/kernels_*; do
  echo "== $(basename "$program")"
  "$program"
done
