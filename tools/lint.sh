#!/usr/bin/env bash
# tools/lint.sh BUILD_DIR JOBS: fails when a source is not formatted or clang-tidy has something to say. clang-tidy reads
# a source again only after it, a header or the list of checks has changed.
set -euo pipefail
build_dir=$1 jobs=$2

git ls-files -co --exclude-standard -- '*.cc' '*.h' '*.inc' | xargs -r clang-format --dry-run -Werror

# Prints the sources that clang-tidy has not passed as they are now; headers are checked through them.
stale_sources() {
  local source stamp
  git ls-files -co --exclude-standard -- 'src/*.cc' 'examples/*.cc' 'tools/*.cc' 'bench/*.cc' | grep -v '_test\.cc$' |
    while read -r source; do
      stamp=$build_dir/lint/$source
      if [ ! "$stamp" -nt "$source" ] || [ -n "$(find include src .clang-tidy -not -name '*.cc' -type f -newer "$stamp" -print -quit)" ]; then
        echo "$source"
      fi
    done
}

check_source() {
  clang-tidy -p "$1" --quiet "$2" 2>/dev/null || return 1
  mkdir -p "$(dirname "$1/lint/$2")" && touch "$1/lint/$2"
}
export -f check_source

stale_sources | xargs -r -P "$jobs" -I {} bash -c 'check_source "$0" "$1"' "$build_dir" {}
