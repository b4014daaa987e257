/** Generates docs/environment.md from the texts of `coffer help environment` and `coffer help exit-codes`. */
import { EMPTY_VARIABLES, variableGroups } from '../src/cli/commands/help.ts';
import { exitCodeMeanings } from '../src/cli/exit-codes.ts';

export const ENVIRONMENT_PAGE = 'docs/environment.md';

const INTRODUCTION = `# Environment variables and exit codes

Written by \`npm run generate\`. The same texts are in \`coffer help environment\`, \`coffer help exit-codes\` and
\`man coffer\`. Options of the command line take precedence over variables.`;

/** Returns the whole page. */
export function environmentPage(): string {
  const groups = variableGroups().map(({ title, variables }) =>
    [title, '', ...table(['variable', 'meaning'], variables.map(variableRow))].join('\n'),
  );
  const codes = table(
    ['exit code', 'meaning'],
    exitCodeMeanings.map(([code, meaning]) => [String(code), meaning]),
  );
  const sections = [
    INTRODUCTION,
    '## Environment variables',
    ...groups,
    EMPTY_VARIABLES,
    '## Exit codes',
    codes.join('\n'),
  ];
  return `${sections.join('\n\n')}\n`;
}

const variableRow = ([names, meaning]: readonly [string, string]): readonly string[] => [
  names
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(', '),
  meaning,
];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)];
}
