import type { Command, Help, Option } from 'commander';

/** Options under this heading belong to every command; `coffer help options` explains them. */
export const EVERYWHERE_HEADING = 'Global options:';

/** Summary of a command that is only named on the page of its group. */
export const ONLY_NAMED = '';

/** Maximum width of a term; a longer one gets a line of its own. */
const MAX_TERM = 30;

/** Formats `--help`: the command's own arguments and options first, the global ones last and short. */
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
    const width = termWidth(items.map(term), helper);
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
    ...commandLists(command, helper),
    ...list(
      'Arguments:',
      helper.visibleArguments(command),
      (argument) => helper.argumentTerm(argument),
      (argument) => argument.description,
    ),
    ...(command.parent === null
      ? optionLine('Options:', options, helper)
      : [...optionList('Options:', own), ...optionLine(EVERYWHERE_HEADING, shared, helper)]),
  ].join('\n');
}

/** Formats the commands of a group, with a list for each of its sections. */
function commandLists(command: Command, helper: Help): string[] {
  const children = helper.visibleCommands(command);
  const sections = Map.groupBy(children, (child) => child.helpGroup() || 'Commands:');
  const names = (of: readonly Command[]): string[] => of.map((child) => child.name());
  const isListed = (child: Command): boolean => child.summary() !== ONLY_NAMED;
  const width = termWidth(names(children), helper);
  return [...sections].flatMap(([heading, all]) => {
    const listed = all.filter(isListed);
    const named = names(all.filter((child) => !isListed(child)));
    const lines = listed.map((child) =>
      listItem(child.name(), width, helper.subcommandDescription(child), helper),
    );
    const last = named.length === 0 ? [] : [listItem('also:', width, named.join(', '), helper)];
    return [heading, ...lines, ...last, ''];
  });
}

function termWidth(terms: readonly string[], helper: Help): number {
  const widest = Math.min(MAX_TERM, Math.floor((helper.helpWidth ?? 80) / 2));
  return Math.min(widest, Math.max(0, ...terms.map((term) => term.length)));
}

function listItem(term: string, width: number, text: string, helper: Help): string {
  if (term.length <= width) return helper.formatItem(term, width, text, helper);
  return `  ${term}\n${helper.formatItem('', width, text, helper)}`;
}

/** Formats options by name only. */
function optionLine(heading: string, options: readonly Option[], helper: Help): string[] {
  const terms = options.map((option) => option.long ?? '').join(' ');
  return [helper.boxWrap(`${heading} ${terms} (see "coffer help options")`, helper.helpWidth ?? 80), ''];
}
