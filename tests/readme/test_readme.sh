# Runs what README.md shows: the sh blocks that a comment marks, with this build's wick and a folder of
# its own in place of build/,
# and every C example, linked with libwick alone.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WICK_CACHE_DIR=$work/cache

awk -v dir="$work" '
  /^```/ && open { open = 0; close(out); next }
  /^<!-- tests\/readme runs/ { marked = 1; next }
  /^```sh/ && marked { open = 1; out = dir "/block" ++n ".sh" }
  /^```c$/ { open = 1; out = dir "/block" ++n ".c" }
  /^```/ { marked = 0; if (!open) { open = 1; out = "/dev/null" } next }
  open { print > out }' README.md

count=0
for block in "$work"/block*; do
  case $block in
  *.sh)
    sed "s#build/\([a-z0-9-]*\.\)#$work/\1#g; s#build/wick#$WICK_COMMAND#g" "$block" >"$block.run"
    sh -eu "$block.run" >"$block.out" 2>&1 || { cat "$block" "$block.out"; exit 1; }
    ;;
  *.c)
    "${CC:-cc}" -std=c17 -Wall -Wextra -Werror -Iinclude "$block" -o "$block.run" \
      -L"$WICK_BUILD/lib" -Wl,-rpath,"$WICK_BUILD/lib" -lwick
    "$block.run" >"$block.out" 2>&1 || { cat "$block" "$block.out"; exit 1; }
    ;;
  esac
  count=$((count + 1))
done
[ "$count" -gt 0 ]
echo "$count blocks of README.md run"
