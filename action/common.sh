# shellcheck shell=bash
# For the scripts of this action.

fail() {
  printf '::error::%s\n' "$1"
  exit 1
}

# Writes NAME with a value of any number of lines into a file of the runner. Whoever chose the value does not know the delimiter,
# so no value can end early and go on with another name.
hand_over() {
  local delimiter
  delimiter=coffer_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '%s<<%s\n%s\n%s\n' "$2" "$delimiter" "$3" "$delimiter" >>"$1"
}

# The lines of an input, without blanks around them and without empty ones.
lines_of() {
  printf '%s\n' "$1" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d'
}

# The value of a variable. The dot keeps the newlines at its end, which the shell would drop.
value_of() {
  [ -n "${!1+set}" ] || fail "The files have no $1." >&2
  printf '%s.' "${!1}"
}
