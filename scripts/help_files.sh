#!/bin/sh
# help_files.sh WICK FOLDER: the pages of the manual and the completions, as `wick help` prints them, for installing.
set -eu
wick=$1 out=$2
mkdir -p "$out/man1"
"$wick" help --format man >"$out/man1/wick.1"
for command in $("$wick" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  "$wick" help "$command" --format man >"$out/man1/wick-$command.1"
done
"$wick" help --format bash >"$out/wick"
"$wick" help --format zsh >"$out/_wick"
"$wick" help --format fish >"$out/wick.fish"
