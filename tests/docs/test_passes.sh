# docs/passes.md and docs/schedules.md are what the tables of passes and schedule steps say now.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$WICK_COMMAND" opt --passes --markdown >"$work/passes.md"
"$WICK_COMMAND" opt --schedule-steps --markdown >"$work/schedules.md"
# tests/forms/test_effects.py checks the table of effects, which another program writes after the page.
sed '/^<!-- effects/,$d' docs/passes.md | sed '$d' >"$work/page"
for page in passes schedules; do
  [ $page = passes ] || cp "docs/$page.md" "$work/page"
  diff -u "$work/page" "$work/$page.md" || { echo "docs/$page.md is stale: make docs"; exit 1; }
done
