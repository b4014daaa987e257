import { type ArgumentSpec, type OptionSpec, takesWord } from '../command.ts';
import { quoted } from '../terminal/shell-word.ts';
import { type CommandPlace, HELP_COMMAND, notations, valuesOf } from './model.ts';

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
