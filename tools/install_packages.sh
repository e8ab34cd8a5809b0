#!/usr/bin/env bash
# tools/install_packages.sh [clang|python|browser]: installs the Debian packages that the build needs (and clang's tools,
# for lint and fuzz, Python's, for the Python package, or a browser, for the tests of pages) where they are missing.
# Needs no network when none is.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config                         # to build
  ccache mold                                              # faster
  libprotobuf-dev protobuf-compiler libfmt-dev             # the library
  zlib1g-dev libjpeg62-turbo-dev libpng-dev libgif-dev libeigen3-dev libre2-dev libfarmhash-dev
  libopenmpi-dev openmpi-bin libgloo-dev                   # collectives, in libraries of their own
  libgrpc++-dev                                            # libweir_grpc: servers and clusters
  libgtest-dev pocl-opencl-icd ocl-icd-libopencl1 libclblast1  # the tests
  libdnnl-dev                                              # what the kernel benchmarks compare with
)
[ "${1-}" != clang ] || packages+=(clang clang-format clang-tidy libclang-rt-14-dev)
[ "${1-}" != python ] || packages+=(python3 python3-venv python3-dev)
[ "${1-}" != browser ] || packages+=(chromium fonts-dejavu-core)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "Installing Debian packages: ${missing[*]}"
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
