# docs/passes.md and docs/schedules.md are what the tables of passes and schedule steps say now.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$WICK_COMMAND" opt --passes --markdown >"$work/passes.md"
"$WICK_COMMAND" opt --schedule-steps --markdown >"$work/schedules.md"
for page in passes schedules; do
  diff -u "docs/$page.md" "$work/$page.md" || { echo "docs/$page.md is stale: make docs"; exit 1; }
done
