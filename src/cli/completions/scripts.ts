import { type ArgumentSpec, type OptionSpec, takesWord } from '../command.ts';
import { quoted } from '../terminal/shell-word.ts';
import { type CommandPlace, type CompletionValues, HELP_COMMAND, notations, valuesOf } from './model.ts';

/** Returns the shell functions with the completion tables, which bash and zsh both understand. */
function tables(places: readonly CommandPlace[]): string {
  const values = places.flatMap(({ path, options }) =>
    options.filter(takesWord).flatMap((option) => {
      const words = printValues(valuesOf(option));
      return notations(option).map((notation) => [`${path}|${notation}`, words] as const);
    }),
  );
  const positions = places.flatMap(({ path, arguments: specs }) =>
    specs.map((spec, at) => [`${path}|${at}${spec.many ? '+' : ''}`, printValues(valuesOf(spec))] as const),
  );
  const children = places.map(
    (place) => [place.path, place.children.map(({ word }) => word).join(' ')] as const,
  );
  const flags = places.map(({ path, options }) => [path, options.flatMap(notations).join(' ')] as const);
  return [
    // The words that can follow a command; fails if there is no such command.
    table('_coffer_children', '"$1"', children),
    table('_coffer_flags', '"$1"', flags),
    // The completions of an option's value; fails if it takes none.
    table('_coffer_values', '"$1|$2"', values),
    // The completions of the argument at a position (from 0).
    table('_coffer_argument', '"$1|$2"', positions),
    MANY,
  ].join('\n');
}

/** Shell function that prints the completions of an argument that may be repeated up to a position. */
const MANY = `_coffer_many() {
  local at=$2
  while ((at >= 0)); do
    _coffer_argument "$1" "$at+" && return
    at=$((at - 1))
  done
  return 1
}
`;

/**
 * Returns shell code that walks through the words of a command line: `place` becomes the command that they name,
 * `position` the number of arguments after it, and `skip` the option whose value comes next, if any.
 * @param words list of words in the syntax of the shell
 */
const walk = (words: string): string => `  for word in ${words}; do
    if [[ -n $skip ]]; then skip=''; continue; fi
    if [[ $word == -* ]]; then
      _coffer_values "$place" "$word" >/dev/null && skip=$word
    elif _coffer_children "\${place:+$place }$word" >/dev/null; then
      place=\${place:+$place }$word
    else
      position=$((position + 1))
    fi
  done`;

/**
 * Returns shell code after the walk: behind `help` and a word, `place` becomes what the words after `help` name.
 * @param words as for the walk
 */
const helped = (words: string): string => `  if [[ $place == ${HELP_COMMAND} && $position -gt 0 ]]; then
    place=''
    for word in ${words}; do
      [[ $word == ${HELP_COMMAND} || $word == -* ]] || place=\${place:+$place }$word
    done
    isHelp=1
  fi`;

function printValues(values: CompletionValues): string {
  if (values.kind === 'words') return `words ${values.words.join(' ')}`;
  return values.kind === 'names' ? `names ${values.of}` : values.kind;
}

/** Returns a function of a lookup table. Entries with the same answer share a line. */
function table(name: string, subject: string, entries: readonly (readonly [string, string])[]): string {
  const byAnswer = new Map<string, string[]>();
  for (const [key, answer] of entries) byAnswer.set(answer, [...(byAnswer.get(answer) ?? []), key]);
  const cases = [...byAnswer].map(
    ([answer, keys]) => `    ${keys.map(quoted).join('|')}) echo ${quoted(answer)} ;;`,
  );
  return `${name}() {\n  case ${subject} in\n${cases.join('\n')}\n    *) return 1 ;;\n  esac\n}\n`;
}

/** Returns the completion script of bash, from version 3.2. */
export const bashScript = (
  places: readonly CommandPlace[],
): string => `# bash completion of coffer. Generated; do not edit.
# Load it with: source <(coffer completion bash)

${tables(places)}
_coffer_offer() {
  local kind=\${1%% *} rest=\${1#* }
  case $kind in
    words) COMPREPLY=($(compgen -W "$rest" -- "$cur")) ;;
    names) _coffer_names "$rest" ;;
    files) _coffer_paths -f ;;
    directories) _coffer_paths -d ;;
    programs) COMPREPLY=($(compgen -c -- "$cur")) ;;
  esac
}

# One path a line: paths may have blanks.
_coffer_paths() {
  local path
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$cur")
  compopt -o filenames 2>/dev/null
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
  local line=\${COMP_LINE:0:COMP_POINT} cur='' previous='' place='' position=0 skip='' isHelp='' word values
  local -a words=()
  # Without -r: a backslash keeps the blank behind it in the word.
  read -a words <<< "$line"
  if [[ $line != *' ' || $line == *'\\ ' ]]; then
    cur=\${words[\${#words[@]}-1]}
    unset "words[\${#words[@]}-1]"
  fi
${walk(`"\${words[@]:1}"`)}
${helped(`"\${words[@]:1}"`)}
  if [[ -n $isHelp ]]; then
    COMPREPLY=($(compgen -W "$(_coffer_children "$place")" -- "$cur"))
  elif [[ -n $skip ]]; then
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
    local before=\${cur%"\${cur##*:}"} quoted i
    printf -v quoted %q "$before"
    for i in "\${!COMPREPLY[@]}"; do
      COMPREPLY[i]=\${COMPREPLY[i]#"$before"}
      COMPREPLY[i]=\${COMPREPLY[i]#"$quoted"}
    done
  fi
}

complete -F _coffer coffer
`;

/** Returns the completion script of zsh, which is either a file named `_coffer` on the `fpath`, or sourced. */
export const zshScript = (places: readonly CommandPlace[]): string => `#compdef coffer
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
    programs) _command_names -e ;;
    *) _message 'value' ;;
  esac
}

_coffer() {
  local place='' position=0 skip='' isHelp='' word values
  local -a described
${walk(`"\${(@)words[2,CURRENT-1]}"`)}
${helped(`"\${(@)words[2,CURRENT-1]}"`)}
  if [[ -n $isHelp ]]; then
    described=(\${(f)"$(_coffer_summaries "$place")"})
    _describe 'command' described
  elif [[ -n $skip ]]; then
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

/** Returns the arguments of `_describe`: one `word:summary` per line. */
function summaries(places: readonly CommandPlace[]): string {
  const cases = places
    .filter(({ children }) => children.length > 0)
    .map(({ path, children }) => {
      const lines = children.map(({ word, summary }) => quoted(`${word}:${summary.replaceAll(':', '\\:')}`));
      return `    ${quoted(path)}) print -rl -- ${lines.join(' ')} ;;`;
    });
  return `_coffer_summaries() {\n  case "$1" in\n${cases.join('\n')}\n  esac\n}\n`;
}

/** Returns the completion script of fish. */
export const fishScript = (
  places: readonly CommandPlace[],
): string => `# fish completion of coffer. Generated; do not edit.
# Load it with: coffer completion fish | source

${knownPlaces(places)}
${valueFlags(places)}
# The words typed so far without options and their values.
function __coffer_words
    set -l skip ''
    set -l found
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip ''
        else if string match -q -- '-*' $word
            contains -- $word $__coffer_value_flags; and set skip 1
        else
            set -a found $word
        end
    end
    string join \\n -- $found
end

# True at a group that the words name, or the words behind "${HELP_COMMAND}".
function __coffer_in --argument-names place
    set -l words (__coffer_words)
    test "$words[1]" = ${HELP_COMMAND} -a (count $words) -gt 1; or begin
        __coffer_at $place 0
        return
    end
    test "$words[2..-1]" = "$place"
end

# True at the place that the words name, with as many arguments behind it as given ("+": that many or more).
function __coffer_at --argument-names place count
    set -l words (__coffer_words)
    set -l here ''
    set -l arguments 0
    for word in $words
        set -l next (string trim -- "$here $word")
        if contains -- $next $__coffer_places
            set here $next
        else
            set arguments (math $arguments + 1)
        end
    end
    test "$here" = "$place"; or return 1
    switch "$count"
        case ''
            return 0
        case '*+'
            test $arguments -ge (string trim --right --chars + -- $count)
        case '*'
            test $arguments -eq $count
    end
end

function __coffer_names --argument-names kind
    coffer complete $kind -- (commandline -opc) (commandline -ct) 2>/dev/null
end

complete -c coffer -f
${places.flatMap(linesOf).join('\n')}
`;

const knownPlaces = (places: readonly CommandPlace[]): string =>
  `set -g __coffer_places ${places.map(({ path }) => quoted(path)).join(' ')}`;

function valueFlags(places: readonly CommandPlace[]): string {
  const flags = places.flatMap(({ options }) => options.filter(takesWord).flatMap(notations));
  return `set -g __coffer_value_flags ${[...new Set(flags)].join(' ')}`;
}

function linesOf({ path, children, arguments: specs, options }: CommandPlace): string[] {
  const at = (count: string): string =>
    quoted(`__coffer_at ${quoted(path)}${count === '' ? '' : ` ${count}`}`);
  return [
    ...children.map(
      ({ word, summary }) =>
        `complete -c coffer -n ${quoted(`__coffer_in ${quoted(path)}`)} -a ${quoted(word)} -d ${quoted(summary)}`,
    ),
    ...specs.flatMap((spec, index) => {
      const source = sourceOf(spec);
      return source === ''
        ? []
        : [
            `complete -c coffer -n ${at(`${index}${spec.many && path !== HELP_COMMAND ? '+' : ''}`)} ${source}`,
          ];
    }),
    ...options.map((option) => optionLine(at(''), option)),
  ];
}

function optionLine(condition: string, option: OptionSpec): string {
  const short = option.short === undefined ? '' : ` -s ${option.short}`;
  const source = sourceOf(option);
  // -x: only the given completions; -r: file names as well.
  const value = !takesWord(option) ? '' : ` ${source === '-F' ? '-r' : '-x'} ${source}`.trimEnd();
  return `complete -c coffer -n ${condition} -l ${option.flag}${short}${value} -d ${quoted(option.help)}`;
}

function sourceOf(spec: ArgumentSpec | OptionSpec): string {
  const values = valuesOf(spec);
  if (values.kind === 'words') return `-a ${quoted(values.words.join(' '))}`;
  if (values.kind === 'names') return `-a ${quoted(`(__coffer_names ${values.of})`)}`;
  if (values.kind === 'programs') return `-a ${quoted('(complete -C (commandline -ct))')}`;
  if (values.kind === 'directories') return `-a ${quoted('(__fish_complete_directories (commandline -ct))')}`;
  return values.kind === 'files' ? '-F' : '';
}
