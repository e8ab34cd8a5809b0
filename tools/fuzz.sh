#!/usr/bin/env bash
# tools/fuzz.sh BIN_DIR SECONDS: runs each fuzzer from its seeds (tests/fuzz/<name>_seeds). What it finds new is kept in
# build/fuzz/corpus; an input that breaks the library is left in build/fuzz.
set -euo pipefail
bin_dir=$1 seconds=$2

for fuzzer in "$bin_dir"/*_fuzzer; do
  name=$(basename "$fuzzer" _fuzzer)
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  seeds=()
  [ -d "tests/fuzz/${name}_seeds" ] && seeds=("tests/fuzz/${name}_seeds")
  "$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-" "$corpus" "${seeds[@]}"
done
