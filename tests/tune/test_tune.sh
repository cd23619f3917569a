# wick tune as its users meet it: what is searched stays in the file, later runs go on from it, files
# merge, and a model that takes what was found gives the same answers.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WICK_CACHE_DIR=$work/cache
model=examples/digits/digits.onnx image=examples/digits/seven.png

"$WICK_COMMAND" tune $model --minutes 0.03 -o "$work/a.records" >"$work/a.out"
head -1 "$work/a.records" | grep -qx 'wick records 1'
grep -q '^group .*(%p0: ' "$work/a.records"
grep -q '^group .*(Winograd 3x3: ' "$work/a.records"
grep -q '^tried [0-9]* ' "$work/a.records"
grep -q 'groups, .* trials, .* refused; .* schedules replaced' "$work/a.out"

# it goes on: nothing is lost, no schedule of a group is measured twice
"$WICK_COMMAND" tune $model --minutes 0.03 -o "$work/b.records" --merge "$work/a.records" >/dev/null
[ "$(grep -c '^group' "$work/b.records")" -ge "$(grep -c '^group' "$work/a.records")" ]
[ "$(grep -c '^tried' "$work/b.records")" -ge "$(grep -c '^tried' "$work/a.records")" ]
awk '/^group/ { g = $0 } /^tried/ { $2 = ""; if (seen[g $0]++) { print "twice: " $0; exit 1 } }' "$work/b.records"

"$WICK_COMMAND" run $model --input $image >"$work/plain"
"$WICK_COMMAND" run $model --input $image --tuning "$work/b.records" >"$work/tuned"
head -1 "$work/plain" | grep -q seven
head -1 "$work/tuned" | grep -q seven

# the error for a record that does not fit has its location, and the user's model is not compiled
sed 's/^tried .*/steps split q.z\ntime 1 was 2/' "$work/b.records" >"$work/c.records"
! "$WICK_COMMAND" run $model --input $image --tuning "$work/c.records" 2>"$work/err"
grep -q 'c.records: ' "$work/err"
printf 'wick records 1\nnonsense\n' >"$work/d.records"
! "$WICK_COMMAND" tune $model --minutes 0 -o "$work/d.records" 2>"$work/err"
grep -q 'd.records:2: expected a group first' "$work/err"
grep -q nonsense "$work/d.records" # and what is not understood is not overwritten
