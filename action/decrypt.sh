#!/usr/bin/env bash
# Hands decrypted values to later steps. Before anything else "coffer exec" has the log hide each of their lines.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=action/common.sh
. "$here/common.sh"

names=$(lines_of "$INPUT_VARIABLES"; lines_of "$INPUT_OUTPUT")
[ -n "$names" ] || fail 'There are "files", and neither "variables" nor "output" says what of them is wanted.'
[ "$(lines_of "$INPUT_OUTPUT" | wc -l)" -le 1 ] || fail 'The input "output" is one name.'

# Whether bash, which hands the value over, has it as it was given, and not one of its own, as of IFS, RANDOM or PWD.
is_kept() {
  local read
  # shellcheck disable=SC2016 # The other shell expands them.
  read=$(env "$1=as given" bash -c '. "$1"; value_of "$2"' bash "$here/common.sh" "$1" 2>/dev/null) || return 1
  [ "$read" = 'as given.' ]
}

options=()
while IFS= read -r file; do options+=(--file "$file"); done < <(lines_of "$INPUT_FILES")
while IFS= read -r name; do
  [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || fail "That is no name of a variable: $name"
  # The files could lead what follows elsewhere. To Windows `path` is PATH.
  case $(printf '%s' "$name" | tr '[:lower:]' '[:upper:]') in
    GITHUB_* | RUNNER_* | INPUT_* | COFFER_ACTION_* | PATH | BASH_ENV | LD_*) fail "That variable is not for values of files: $name" ;;
  esac
  is_kept "$name" || fail "That variable is not for values of files: $name"
  options+=(--only "$name")
done <<<"$names"

# Only the command itself has the key of a keyring: what it starts finds neither variable.
[ -z "$INPUT_IDENTITY" ] || export COFFER_IDENTITY=$INPUT_IDENTITY
unset INPUT_IDENTITY

# What a step before has left in a variable must not pass for the value of the file.
coffer --quiet exec --overwrite --mask github "${options[@]}" -- bash "$here/hand-over.sh"
