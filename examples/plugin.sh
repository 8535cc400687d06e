#!/bin/sh
# The pytest plugin explains a collection failure, in a repository made for it: sh examples/plugin.sh
# Needs git, pytest and torch (the example's gate), and contract-guard installed beside them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 "$here/pad_free/replay.py" "$work/project"
cd "$work/project"
git checkout --quiet removal

# In a project of your own: contract_guard_doctor = true, in the configuration of pytest.
code=0
pytest --contract-guard-doctor -p no:cacheprovider || code=$?
echo "pytest ends with exit code $code."
