#!/bin/sh
# Makes the folder $1 a virtual environment with the Python packages that tests and benches need;
# quick where it is up to date. If a package cannot be installed, the folder is removed, so that tests
# are skipped for want of it instead of failing.
set -eu
venv=$1
wanted=$(dirname "$0")/requirements.txt
stamp=$venv/requirements.txt
if cmp -s "$wanted" "$stamp"; then exit 0; fi

# pip brings a list of certificate authorities of its own; the machine's list is the right one.
bundle=/etc/ssl/certs/ca-certificates.crt
if [ -z "${PIP_CERT:-}" ] && [ -f "$bundle" ]; then export PIP_CERT=$bundle; fi

echo "making $venv"
trap 'rm -rf "$venv"' EXIT
python3 -m venv --clear "$venv"
"$venv/bin/python" -m pip install -q --disable-pip-version-check --retries 3 -r "$wanted"
cp "$wanted" "$stamp"
trap - EXIT
