#!/bin/sh
# tools/ccache.sh COMPILER ARGUMENTS: compiles through ccache, but precompiled headers without it. g++ knows a header again
# by its time; a precompiled one that was kept from a checkout with other times would bring every header in twice.
for argument; do
  [ "$argument" != c++-header ] || exec "$@"
done
# Precompiled headers hide macros and times from ccache, which is harmless here.
CCACHE_SLOPPINESS=pch_defines,time_macros exec ccache "$@"
