import { type Place, quoted } from './model.ts';
import { tables, walk } from './posix-cases.ts';

/** The completion script of zsh; a file named `_coffer` on the `fpath`, or sourced. */
export const zshScript = (places: readonly Place[]): string => `#compdef coffer
# zsh completion of coffer. Generated; do not edit.
# Put it on your fpath as _coffer, or load it with: source <(coffer completion zsh)

${tables(places)}
${summaries(places)}
_coffer_offer() {
  local kind=\${1%% *} rest=\${1#* }
  case $kind in
    words) compadd -- \${=rest} ;;
    names) compadd -- \${(f)"$(coffer complete "$rest" -- "\${(@)words[1,CURRENT]}" 2>/dev/null)"} ;;
    files) _files ;;
    directories) _files -/ ;;
    *) _message 'value' ;;
  esac
}

_coffer() {
  local place='' position=0 skip='' word values
  local -a described
${walk(`"\${(@)words[2,CURRENT-1]}"`)}
  if [[ -n $skip ]]; then
    _coffer_offer "$(_coffer_values "$place" "$skip")"
  elif [[ $PREFIX == --*=* ]]; then
    values=$(_coffer_values "$place" "\${PREFIX%%=*}") && compset -P '*=' && _coffer_offer "$values"
  elif [[ $PREFIX == -* ]]; then
    compadd -- \${=$(_coffer_flags "$place")}
  elif [[ -n $(_coffer_children "$place") ]]; then
    described=(\${(f)"$(_coffer_summaries "$place")"})
    _describe 'command' described
  else
    values=$(_coffer_argument "$place" "$position" || _coffer_many "$place" "$position") && _coffer_offer "$values"
  fi
}

if [[ $funcstack[1] == _coffer ]]; then
  _coffer "$@"
else
  compdef _coffer coffer
fi
`;

/** What `_describe` takes: one `word:summary` a line. */
function summaries(places: readonly Place[]): string {
  const cases = places
    .filter(({ children }) => children.length > 0)
    .map(({ path, children }) => {
      const lines = children.map(({ word, summary }) => quoted(`${word}:${summary.replaceAll(':', '\\:')}`));
      return `    ${quoted(path)}) print -rl -- ${lines.join(' ')} ;;`;
    });
  return `_coffer_summaries() {\n  case "$1" in\n${cases.join('\n')}\n  esac\n}\n`;
}
