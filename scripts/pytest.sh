#!/bin/sh
# Runs pytest on the files in the environment's WICK_VENV; 77, "skipped", where there is none.
python=${WICK_VENV:-build/venv}/bin/python
if ! [ -x "$python" ]; then
  echo "skipped: $python is not there; \`make venv\` makes it"
  exit 77
fi
status=0
"$python" -B -m pytest -q -p no:cacheprovider -rs "$@" || status=$?
[ "$status" != 5 ] || status=77 # nothing to run: the whole file was skipped, with its reason
exit "$status"
