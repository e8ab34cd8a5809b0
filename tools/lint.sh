#!/usr/bin/env bash
# tools/lint.sh BUILD_DIR JOBS: fails when a source is not formatted or clang-tidy has something to say.
set -euo pipefail
build_dir=$1 jobs=$2

git ls-files -co --exclude-standard -- '*.cc' '*.h' '*.inc' | xargs -r clang-format --dry-run -Werror

# Headers are checked through the sources that include them.
git ls-files -co --exclude-standard -- 'src/*.cc' 'examples/*.cc' 'tools/*.cc' 'bench/*.cc' | grep -v '_test\.cc$' |
  xargs -r -P "$jobs" -n 4 clang-tidy -p "$build_dir" --quiet
