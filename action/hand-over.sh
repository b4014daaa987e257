#!/usr/bin/env bash
# Runs within "coffer exec": the values are in the environment of this script alone.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=action/common.sh
. "$here/common.sh"

value_of() {
  [ -n "${!1+set}" ] || fail "The files have no $1."
  printf '%s.' "${!1}"
}

while IFS= read -r name; do
  [ -n "$name" ] || continue
  # The dot keeps the newlines at the end of a value, which the shell would drop.
  value=$(value_of "$name") || exit 1
  hand_over "$GITHUB_ENV" "$name" "${value%.}"
done < <(lines_of "$INPUT_VARIABLES")
name=$(lines_of "$INPUT_OUTPUT")
if [ -n "$name" ]; then
  value=$(value_of "$name") || exit 1
  hand_over "$GITHUB_OUTPUT" value "${value%.}"
fi
