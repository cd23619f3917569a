# docs/targets.md is what the rows of targets say now.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$WICK_COMMAND" targets --markdown >"$work/targets.md"
diff -u docs/targets.md "$work/targets.md" || { echo "docs/targets.md is stale: make docs"; exit 1; }
