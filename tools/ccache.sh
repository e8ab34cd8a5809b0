#!/bin/sh
# tools/ccache.sh COMPILER ARGUMENTS: compiles through ccache, but precompiled headers without it. g++ knows a header again
# by its time; a precompiled one that was kept from a checkout with other times would bring every header in twice. No two
# of them are the same to the byte, so that ccache knows one by the text that it was made from: its sum is written beside it.
header= output= previous=
for argument; do
  [ "$argument" != c++-header ] || header=yes
  [ "$previous" != -o ] || output=$argument
  previous=$argument
done
if [ "$header" ]; then
  "$@" || exit
  text=$output.text
  first=yes
  for argument; do  # the same with another output
    [ ! "$first" ] || set --
    first=
    [ "$argument" != "$output" ] || argument=$text
    set -- "$@" "$argument"
  done
  "$@" -E && sha256sum <"$text" >"$output.sum" && rm "$text"
  exit
fi
# Precompiled headers hide macros and times from ccache, which is harmless here.
CCACHE_PCH_EXTSUM=true CCACHE_SLOPPINESS=pch_defines,time_macros exec ccache "$@"
