#!/usr/bin/env bash
# tools/wheels.sh LIBRARY OUTPUT PYTHON...: makes a wheel for each interpreter in folder OUTPUT, installs it into a fresh
# environment, and there runs the tests of the package and the first program from another folder. The wheels share the
# libweir.a of folder LIBRARY, so that only the extension is compiled for each Python.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library=$(cd "$1" && pwd)
mkdir -p "$2"
output=$(cd "$2" && pwd)
shift 2

for python in "$@"; do
  tag=$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
  venv=$output/$tag
  "$python" -m venv --clear "$venv"
  python=$venv/bin/python
  "$python" -m pip install --quiet --disable-pip-version-check -r "$root/python/requirements.txt"
  # Without isolation the headers have the same names each time, and a compiler cache knows them.
  "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$output" \
    --config-settings=cmake.define.WEIR_PREBUILT="$library" --config-settings=build-dir="$output/build-$tag" "$root"
  wheel=$(ls -t "$output"/weir-*-"${tag/cpython-/cp}"-*.whl | head -1)
  "$python" -m pip install --quiet --disable-pip-version-check "$wheel"
  (cd "$output" && "$venv/bin/weir" run "$root/examples/python/counter.py" && "$python" -m weir --version)
  (cd "$output" && "$python" -m pytest -q -p no:cacheprovider "$root/python/tests")
done
