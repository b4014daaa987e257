/** Elements of a manual page, in roff with the macros of man(7), as both groff and mandoc read it. */
import { wrapped } from '../../src/cli/wrap.ts';

/** Escapes of characters that roff interprets, or displays differently from what is typed. */
const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};
/** Macro for a paragraph; not needed after a heading, which starts one itself. */
const PARAGRAPH = '.PP';
/** Width of source lines in columns, for readability. */
const WIDTH = 74;

/** Escapes a text for the middle of a line: also what is not ASCII, as readers do before they measure lines. */
export const escaped = (text: string): string =>
  text
    .replace(/[\\\-'`^~]/g, (character) => SPECIAL[character] ?? character)
    .replace(/[^\n -~]/gu, (character) => `\\[u${hexadecimal(character)}]`);

const hexadecimal = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');

/**
 * Escapes the beginning of a line, where a dot would start a request. (The other control character is always escaped.)
 */
const line = (text: string): string => (text.startsWith('.') ? `\\&${text}` : text);

/** Formats filled text, on as many lines as necessary. */
export const filled = (text: string): string[] =>
  wrapped(escaped(text).replace(/\s+/g, ' ').trim(), WIDTH, 0).split('\n').map(line);

export const bold = (text: string): string => `\\fB${escaped(text)}\\fR`;
export const italic = (text: string): string => `\\fI${escaped(text)}\\fR`;

/** Quotes the argument of a macro. */
const argument = (text: string): string => `"${escaped(text).replaceAll('"', '\\(dq')}"`;

export const heading = (text: string): string => `.SH ${argument(text.toUpperCase())}`;
export const subheading = (text: string): string => `.SS ${argument(text)}`;
export const paragraph = (text: string): string[] => [PARAGRAPH, ...filled(text)];

/** Formats a term, already in roff, with its meaning. */
export const item = (term: string, meaning: string): string[] => ['.TP', line(term), ...filled(meaning)];

/** Formats literal lines: commands and files. */
export const shown = (lines: readonly string[]): string[] => [
  PARAGRAPH,
  '.RS 4',
  '.nf',
  ...lines.map(escaped).map(line),
  '.fi',
  '.RE',
];

/** Reference to a page by its name and section. */
export interface Reference {
  readonly name: string;
  readonly section: 1 | 5 | 7;
}

export const fileOf = ({ name, section }: Reference): string => `${name}.${section}`;
export const referred = ({ name, section }: Reference): string => `${bold(name)}(${section})`;

/** Formats a whole page with these lines. */
export function page(
  { name, section }: Reference,
  { version, epoch }: { readonly version: string; readonly epoch: number },
  summary: string,
  body: readonly string[],
): string {
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  return [
    '.\\" Generated; do not edit.',
    `.TH ${argument(name.toUpperCase())} ${section} ${date} ${argument(`coffer ${version}`)} "Coffer"`,
    heading('Name'),
    ...filled(`${name} - ${summary}`),
    ...body,
    '',
  ]
    .filter((text, index, lines) => text !== PARAGRAPH || !/^\.S[HS] /.test(lines[index - 1] ?? ''))
    .join('\n');
}

/** Formats "A, B, C", each on a line of its own. */
export const seeAlso = (references: readonly Reference[]): string[] => [
  heading('See also'),
  ...references.map(
    (reference, index) => `${referred(reference)}${index === references.length - 1 ? '' : ','}`,
  ),
];
