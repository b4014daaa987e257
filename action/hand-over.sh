#!/usr/bin/env bash
# Runs within "coffer exec": the values are in the environment of this script and of nothing else. Its own variables have names that
# none of them has.
set -euo pipefail
COFFER_ACTION_HERE=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=action/common.sh
. "$COFFER_ACTION_HERE/common.sh"

while IFS= read -r COFFER_ACTION_NAME; do
  COFFER_ACTION_VALUE=$(value_of "$COFFER_ACTION_NAME") || exit 1
  hand_over "$GITHUB_ENV" "$COFFER_ACTION_NAME" "${COFFER_ACTION_VALUE%.}"
done < <(lines_of "$INPUT_VARIABLES")
COFFER_ACTION_NAME=$(lines_of "$INPUT_OUTPUT")
if [ -n "$COFFER_ACTION_NAME" ]; then
  COFFER_ACTION_VALUE=$(value_of "$COFFER_ACTION_NAME") || exit 1
  hand_over "$GITHUB_OUTPUT" value "${COFFER_ACTION_VALUE%.}"
fi
