#!/usr/bin/env bash
# Says to later steps where the server is, and logs in with what the runner vouches for, if a role is given.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=action/common.sh
. "$here/common.sh"

[ -n "$INPUT_ADDRESS" ] || fail 'There is a "role", and no "address" to log in at.'
hand_over "$GITHUB_ENV" COFFER_ADDR "$INPUT_ADDRESS"
[ -n "$INPUT_ROLE" ] || exit 0
options=(--address "$INPUT_ADDRESS" --path "$INPUT_PATH")
[ -z "$INPUT_AUDIENCE" ] || options+=(--audience "$INPUT_AUDIENCE")
# The command itself hides the token in the log before it keeps it.
coffer --quiet login jwt "role=$INPUT_ROLE" "${options[@]}"
