import type { Command, Help, Option } from 'commander';

/** Options under this heading belong to every command; they are explained on the first page alone. */
export const EVERYWHERE_HEADING = 'Options of every command:';

/** A longer term gets a line of its own. */
const MAX_TERM = 30;

/** Lays out `--help`: what the command takes first, what is the same everywhere last and short. */
export function helpPage(command: Command, helper: Help): string {
  const isEverywhere = (option: Option): boolean => option.helpGroupHeading === EVERYWHERE_HEADING;
  const options = helper.visibleOptions(command);
  const own = options.filter((option) => !isEverywhere(option));
  const shared = options.filter(isEverywhere);
  const list = <T>(
    heading: string,
    items: readonly T[],
    term: (item: T) => string,
    text: (item: T) => string,
  ) => {
    const widest = Math.min(MAX_TERM, Math.floor((helper.helpWidth ?? 80) / 2));
    const width = Math.min(widest, Math.max(0, ...items.map((item) => term(item).length)));
    const lines = items.map((item) => listItem(term(item), width, text(item), helper));
    return lines.length === 0 ? [] : [heading, ...lines, ''];
  };
  const optionList = (heading: string, items: readonly Option[]) =>
    list(
      heading,
      items,
      (option) => helper.optionTerm(option),
      (option) => option.description,
    );
  return [
    `Usage: ${helper.commandUsage(command)}`,
    '',
    helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80),
    '',
    ...list(
      'Commands:',
      helper.visibleCommands(command),
      (child) => child.name(),
      (child) => helper.subcommandDescription(child),
    ),
    ...list(
      'Arguments:',
      helper.visibleArguments(command),
      (argument) => helper.argumentTerm(argument),
      (argument) => argument.description,
    ),
    ...optionList('Options:', own),
    ...(command.parent === null ? optionList(EVERYWHERE_HEADING, shared) : everywhereLine(shared, helper)),
  ].join('\n');
}

function listItem(term: string, width: number, text: string, helper: Help): string {
  if (term.length <= width) return helper.formatItem(term, width, text, helper);
  return `  ${term}\n${helper.formatItem('', width, text, helper)}`;
}

function everywhereLine(options: readonly Option[], helper: Help): string[] {
  const terms = options.map((option) => option.long ?? '').join(' ');
  return [helper.boxWrap(`${EVERYWHERE_HEADING} ${terms} (see coffer --help)`, helper.helpWidth ?? 80), ''];
}
