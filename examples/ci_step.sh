#!/bin/sh
# What a CI step makes of a change that breaks a test: sh examples/ci_step.sh DIRECTORY
# Leaves in DIRECTORY: contract-guard.sarif for code scanning, annotations.txt and summary.md for
# GitHub Actions, affected.txt for the machine with the GPU. Needs git, and contract-guard installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: sh ci_step.sh DIRECTORY}"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 "$here/pad_free/replay.py" "$work/project"
cd "$work/project"
git checkout --quiet removal

# `before` stands for the branch that a pull request goes into.
contract-guard check --base before --exit-zero --format sarif --output-file "$out/contract-guard.sarif"
contract-guard diff before --exit-zero --format nodeids --output-file "$out/affected.txt"
code=0
GITHUB_STEP_SUMMARY="$out/summary.md" \
  contract-guard check --base before --format github > "$out/annotations.txt" || code=$?
echo "The step ends with exit code $code."
