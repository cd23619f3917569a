# docs/relay.md is what the table of Relay's operators says now.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$WICK_COMMAND" ops --relay --markdown >"$work/relay.md"
diff -u docs/relay.md "$work/relay.md" || { echo "docs/relay.md is stale: make docs"; exit 1; }
