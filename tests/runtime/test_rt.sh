# An artifact runs in a program that links libwick_rt alone, and gives the bits that `wick run` gives.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WICK_CACHE_DIR=$work/cache

cat >"$work/net.txt" <<'TEXT'
constant @w : f32[3,2] = [0.5, -1.25, 3, 4, 5.75, 6]
graph @main(%x: f32[4,3]) -> f32[4,2] {
  %1 = const @w : f32[3,2]
  %2 = matmul %x, %1 : f32[4,2]
  %3 = sigmoid %2 : f32[4,2] as "y"
  return %3
}
TEXT
# f32 in little-endian: 1, -2, 0.5 four times
for _ in 1 2 3 4; do printf '\000\000\200\077\000\000\000\300\000\000\000\077'; done >"$work/x.bin"
{
  printf '\223NUMPY\001\000\166\000'
  printf "%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }"
  cat "$work/x.bin"
} >"$work/x.npy"

"$WICK_COMMAND" compile "$work/net.txt" -o "$work/net.wick"
"$WICK_COMMAND" run "$work/net.txt" --inputs "$work/x.npy" --outputs "$work/out" >/dev/null
"${CC:-cc}" -std=c17 -Wall -Wextra -Werror -Iinclude tests/runtime/run.c -o "$work/run" \
  -L"$WICK_BUILD/lib" -Wl,-rpath,"$WICK_BUILD/lib" -lwick_rt
"$work/run" "$work/net.wick" "$work/x.bin" "$work/y.bin"
tail -c 32 "$work/out/output_0.npy" | cmp - "$work/y.bin"

# What is cut off or of another kind is refused with a message.
head -c 1000 "$work/net.wick" >"$work/cut.wick"
for bad in cut.wick net.txt none; do
  if "$work/run" "$work/$bad" "$work/x.bin" "$work/y.bin" 2>"$work/said"; then
    echo "$bad was taken"
    exit 1
  fi
  grep -q "$bad" "$work/said"
done
echo "an artifact of $(wc -c <"$work/net.wick") bytes, run by libwick_rt"
