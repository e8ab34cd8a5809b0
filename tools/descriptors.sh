#!/usr/bin/env bash
# tools/descriptors.sh [OUTPUT]: writes the descriptors of proto/*.proto, which python/weir/protos.py builds its message
# classes from, to OUTPUT (default: python/weir/_descriptors.bin). PROTOC names another protoc.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
output=${1:-$root/python/weir/_descriptors.bin}

cd "$root/proto"
# The files are called weir/proto/*.proto, as in the library (cmake/Protos.cmake says why).
"${PROTOC:-protoc}" --proto_path=weir/proto="$root/proto" --include_imports --descriptor_set_out="$output.new" \
  $(printf 'weir/proto/%s ' *.proto)
mv "$output.new" "$output"
