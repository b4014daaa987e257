import type { Place } from './model.ts';
import { tables, walk } from './posix-cases.ts';

/** The completion script of bash, from version 3.2 on. */
export const bashScript = (
  places: readonly Place[],
): string => `# bash completion of coffer. Generated; do not edit.
# Load it with: source <(coffer completion bash)

${tables(places)}
_coffer_offer() {
  local kind=\${1%% *} rest=\${1#* }
  case $kind in
    words) COMPREPLY=($(compgen -W "$rest" -- "$cur")) ;;
    names) _coffer_names "$rest" ;;
    files) COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
    directories) COMPREPLY=($(compgen -d -- "$cur")); compopt -o filenames 2>/dev/null ;;
  esac
}

# Names were chosen by others, maybe on another machine, so nothing in them may be expanded, now or when the line is
# entered. compgen -W would run what stands in $(…).
_coffer_names() {
  local name quoted
  while IFS= read -r name; do
    [[ $name == "$cur"* ]] || continue
    printf -v quoted %q "$name"
    COMPREPLY+=("$quoted")
  done < <(coffer complete "$1" -- "\${words[@]}" "$cur" 2>/dev/null)
}

_coffer() {
  COMPREPLY=()
  # The words are cut at spaces alone: bash would also cut them at the colons of tags.
  local line=\${COMP_LINE:0:COMP_POINT} cur='' previous='' place='' position=0 skip='' word values
  local -a words=()
  read -ra words <<< "$line"
  if [[ $line != *' ' ]]; then
    cur=\${words[\${#words[@]}-1]}
    unset "words[\${#words[@]}-1]"
  fi
${walk(`"\${words[@]:1}"`)}
  if [[ -n $skip ]]; then
    _coffer_offer "$(_coffer_values "$place" "$skip")"
  elif [[ $cur == --*=* ]]; then
    previous=\${cur%%=*}
    cur=\${cur#*=}
    values=$(_coffer_values "$place" "$previous") && _coffer_offer "$values"
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_coffer_flags "$place")" -- "$cur"))
  elif [[ -n $(_coffer_children "$place") ]]; then
    COMPREPLY=($(compgen -W "$(_coffer_children "$place")" -- "$cur"))
  else
    values=$(_coffer_argument "$place" "$position" || _coffer_many "$place" "$position") && _coffer_offer "$values"
  fi
  # What bash replaces begins after the last colon.
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local before=\${cur%"\${cur##*:}"} i
    for i in "\${!COMPREPLY[@]}"; do COMPREPLY[i]=\${COMPREPLY[i]#"$before"}; done
  fi
}

complete -F _coffer coffer
`;
