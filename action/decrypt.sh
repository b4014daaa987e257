#!/usr/bin/env bash
# Hands decrypted values to later steps. Before anything else "coffer exec" has the log hide each of their lines.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=action/common.sh
. "$here/common.sh"

names=$(lines_of "$INPUT_VARIABLES"; lines_of "$INPUT_OUTPUT")
[ -n "$names" ] || fail 'There are "files", and neither "variables" nor "output" says what of them is wanted.'
options=()
while IFS= read -r file; do options+=(--file "$file"); done < <(lines_of "$INPUT_FILES")
while IFS= read -r name; do
  [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || fail "That is no name of a variable: $name"
  # A value that is there already would be handed on as if it were that of the file.
  unset "$name" 2>/dev/null || fail "That variable belongs to the shell: $name"
  options+=(--only "$name")
done <<<"$names"

coffer --quiet exec --mask github "${options[@]}" -- bash "$here/hand-over.sh"
