#!/bin/sh
# The hook blocks a commit that breaks a test, in a repository made for it: sh examples/hook.sh
# Needs git, pre-commit, and contract-guard installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PRE_COMMIT_HOME="$work/pre-commit"

python3 "$here/pad_free/replay.py" "$work/project"
cd "$work/project"
git config user.name "A Developer"
git config user.email "dev@pad-free.example"
git switch --quiet --create topic before

# In a project of your own, pre-commit makes the environment, from where contract-guard comes from:
#   - repo: https://<where contract-guard is>
#     rev: <a version>
#     hooks:
#       - id: contract-guard
# Here the contract-guard that is installed does it.
cat > .pre-commit-config.yaml <<END
repos:
  - repo: local
    hooks:
      - id: contract-guard
        name: contract-guard
        entry: contract-guard check --hook
        language: system
        pass_filenames: false
        always_run: true
END
git add .pre-commit-config.yaml
pre-commit install
git commit --quiet --message "A hook"

# A production file alone: the test that breaks is not in the commit.
sed -i.bak '/^IMAGE_PAD_ID/d' gate/constants.py
sed -i.bak 's/IMAGE_PAD_ID, //; s/ | (ids == IMAGE_PAD_ID)//' gate/preprocess.py
rm gate/*.bak
git add gate
if git commit --quiet --message "Remove IMAGE_PAD_ID"; then
  echo "The commit was made: it should not have been." >&2
  exit 1
fi
echo "The commit was blocked."
