#!/bin/sh
# A page to open in a browser: sh examples/report.sh FILE
# Needs git, and contract-guard installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
directory=$(cd "$(dirname "${1:?usage: sh report.sh FILE}")" && pwd)
out=$directory/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 "$here/pad_free/replay.py" "$work/project"
cd "$work/project"
git checkout --quiet removal
contract-guard check --fail-on note --exit-zero --format html --output-file "$out"
echo "Open $out in a browser."
