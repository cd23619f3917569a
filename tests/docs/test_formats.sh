# docs/formats.md is what the tables of operators say now, and README.md has its numbers.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$WICK_COMMAND" ops --formats --markdown >"$work/formats.md"
diff -u docs/formats.md "$work/formats.md" || { echo "docs/formats.md is stale: make docs"; exit 1; }
scripts/format_numbers.py --check
