# docs/operators.md is what the rows say now.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$WICK_COMMAND" ops --markdown >"$work/operators.md"
diff -u docs/operators.md "$work/operators.md" || { echo "docs/operators.md is stale: make docs"; exit 1; }
