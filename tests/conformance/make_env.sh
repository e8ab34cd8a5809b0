#!/usr/bin/env bash
# tests/conformance/make_env.sh: prints the path of a Python that has TensorFlow, outside the repository.
# $WEIR_CONFORMANCE_PYTHON names one, or two: that of TensorFlow 1.15.5 and one of a later release for what it lacks.
# Otherwise they are kept in ${XDG_CACHE_HOME:-~/.cache}/weir: TensorFlow 1.15.5 when there is a Python 3.6 (of pyenv or of
# the system), and TensorFlow 2.21 when there is a 3.11, whose tf.compat.v1 stands in for the other where that is missing.
set -euo pipefail

if [ -n "${WEIR_CONFORMANCE_PYTHON-}" ]; then
  echo "$WEIR_CONFORMANCE_PYTHON"
  exit
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weir

# make NAME PYTHON PIP PACKAGE: an environment appears under its name only when it is complete.
make() {
  local target=$cache/$1 python=$2 pip=$3 package=$4
  if [ ! -e "$target/ready" ]; then
    echo "making $target with $package" >&2
    rm -rf "$target"
    mkdir -p "$cache"
    "$python" -m venv "$target" >&2
    "$target/bin/python" -m pip install --quiet --disable-pip-version-check -U "$pip" >&2
    "$target/bin/python" -m pip install --quiet --disable-pip-version-check "$package" >&2
    touch "$target/ready"
  fi
  echo "$target/bin/python"
}

python36() {
  local python
  for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.6.*/bin/python; do
    [ ! -x "$python" ] || { echo "$python" && return; }
  done
  command -v python3.6
}

found=()
if python=$(python36); then
  found+=("$(make tensorflow-1.15 "$python" pip==21.3.1 tensorflow==1.15.5)")
fi
if python=$(command -v python3.11); then
  found+=("$(make tensorflow-2.21 "$python" pip tensorflow-cpu==2.21.0)")
fi
if [ ${#found[@]} -gt 0 ]; then
  echo "${found[@]}"
else
  echo "make_env.sh: neither Python 3.6 (for TensorFlow 1.15) nor 3.11 (for 2.21) is there;" \
       "WEIR_CONFORMANCE_PYTHON can name a Python that has TensorFlow" >&2
  exit 1
fi
