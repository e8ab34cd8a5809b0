#!/usr/bin/env bash
# check_install.sh BUILD_DIR COMPILER: installs the build into a temporary folder, builds a small program against that
# copy with find_package (shared and static), README's program and those of docs/cpp_guide.md with pkg-config, runs them,
# and checks that libweir.so exports nothing but Weir's API.
set -euo pipefail
build_dir=$1 compiler=$2
source_dir=$(cd "$(dirname "$0")" && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/prefix

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

expect_output() {
  local answer
  answer=$("$2") || fail "$2 did not run"
  [ "$answer" = "$1" ] || fail "$2 printed '$answer', not '$1'"
}

cmake --install "$build_dir" --prefix "$prefix" >/dev/null

cmake -S "$source_dir" -B "$temporary/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$temporary/build"
expect_output 12 "$temporary/build/with_shared"
expect_output 12 "$temporary/build/with_static"

library=$(echo "$prefix"/lib*/libweir.so "$prefix"/lib*/*/libweir.so | tr ' ' '\n' | grep -v '\*' | head -n 1)
library_dir=$(dirname "$library")
compile() {
  # shellcheck disable=SC2046  # flags are words
  "$compiler" -std=c++20 "$1.cc" -o "$1" \
    $(PKG_CONFIG_PATH="$library_dir/pkgconfig" pkg-config --cflags --libs weir) -Wl,-rpath,"$library_dir"
}

# blocks LANGUAGE FILE PREFIX SUFFIX: writes the blocks of a language in a page to PREFIX1SUFFIX, PREFIX2SUFFIX, ...
blocks() {
  awk -v language="$1" -v prefix="$3" -v suffix="$4" '
    $0 == "```" language { inside = 1; ++count; next } /^```/ { inside = 0 }
    inside { print > (prefix count suffix) }' "$2"
}

blocks cpp "$source_dir/../../README.md" "$temporary/readme" .cc
compile "$temporary/readme1"
expect_output "W = 2.000" "$temporary/readme1"

guide=$source_dir/../../docs/cpp_guide.md
blocks cpp "$guide" "$temporary/guide" .cc
blocks text "$guide" "$temporary/guide" .txt
for program in "$temporary"/guide*.cc; do
  compile "${program%.cc}"
  expect_output "$(cat "${program%.cc}.txt")" "${program%.cc}"
done

exported=$(nm --dynamic --defined-only --demangle --format=posix "$library" | cut -d ' ' -f 1-4)
# Not through a pipe: grep -q leaves at the first match, and the writer's broken pipe would fail the line.
grep -q '^weir::Graph::Graph' <<<"$exported" || fail "weir::Graph is not exported"
foreign=$(echo "$exported" | grep -vE '^(non-virtual thunk to |virtual thunk to |vtable for |typeinfo for |typeinfo name for |guard variable for |VTT for )?weir::' || true)
[ -z "$foreign" ] || fail "libweir.so exports foreign symbols:"$'\n'"$foreign"
internal=$(echo "$exported" | grep -E '^[a-z ]*weir::(proto|cpu)::' || true)
[ -z "$internal" ] || fail "libweir.so exports internals:"$'\n'"$internal"
