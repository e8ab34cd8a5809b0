#!/bin/sh
# tools/ccache.sh COMPILER ARGUMENTS: compiles through ccache, but precompiled headers without it. g++ knows a header again
# by its time; a precompiled one that was kept from a checkout with other times would bring every header in twice. No two
# of them are the same to the byte, so that ccache knows one by the text that it was made from: its sum is written beside it.
# Paths below the source folder count relative to it, so that checkouts in different folders share objects.
root=${0%/tools/ccache.sh}
header= output= previous=
for argument; do
  [ "$argument" != c++-header ] || header=yes
  [ "$previous" != -o ] || output=$argument
  previous=$argument
done
if [ "$header" ]; then
  rm -f "$output"  # with the old one in place the text would be no more than its name
  [ "$output" ] || exec "$@"
  compiler=$1
  shift
  # The text first: the same command with another output.
  (
    count=$#
    while [ $count -gt 0 ]; do
      argument=$1
      shift
      [ "$argument" != "$output" ] || argument=$output.text
      set -- "$@" "$argument"
      count=$((count - 1))
    done
    "$compiler" "$@" -E
  ) && sed "s#$root/##g" "$output.text" | sha256sum >"$output.sum" && rm "$output.text" || exit
  exec "$compiler" "$@"
fi
# Precompiled headers hide macros and times from ccache, which is harmless here.
CCACHE_PCH_EXTSUM=true CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true exec ccache "$@"
