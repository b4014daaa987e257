/** The parts of a page of the manual, in roff with the macros of man(7), as both groff and mandoc read it. */
import { wrapped } from '../../src/cli/topics/topic.ts';

/** The characters that roff takes for something else, or shows as something else than what is typed. */
const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};
/** Follows no heading: that begins one itself. */
const PARAGRAPH = '.PP';
/** Source lines are kept short, for whoever reads the source. */
const WIDTH = 74;

/** A text as it is, for the middle of a line. */
export const escaped = (text: string): string =>
  text.replace(/[\\\-'`^~]/g, (character) => SPECIAL[character] ?? character);

/** A line as it is: at its beginning a dot would be a request. (Of the two characters that are, the other one is always escaped.) */
const line = (text: string): string => (text.startsWith('.') ? `\\&${text}` : text);

/** Text that is filled, on as many lines as it needs. */
export const filled = (text: string): string[] =>
  wrapped(escaped(text).replace(/\s+/g, ' ').trim(), WIDTH, 0).split('\n').map(line);

export const bold = (text: string): string => `\\fB${escaped(text)}\\fR`;
export const italic = (text: string): string => `\\fI${escaped(text)}\\fR`;

/** The argument of a macro, whatever is in it. */
const argument = (text: string): string => `"${escaped(text).replaceAll('"', '\\(dq')}"`;

export const heading = (text: string): string => `.SH ${argument(text.toUpperCase())}`;
export const subheading = (text: string): string => `.SS ${argument(text)}`;
export const paragraph = (text: string): string[] => [PARAGRAPH, ...filled(text)];

/** A term, already in roff, with what it means. */
export const item = (term: string, meaning: string): string[] => ['.TP', line(term), ...filled(meaning)];

/** Lines that stand as they are: commands and files. */
export const shown = (lines: readonly string[]): string[] => [
  PARAGRAPH,
  '.RS 4',
  '.nf',
  ...lines.map(escaped).map(line),
  '.fi',
  '.RE',
];

/** A page, by its name and section, as others refer to it. */
export interface Reference {
  readonly name: string;
  readonly section: 1 | 5;
}

export const fileOf = ({ name, section }: Reference): string => `${name}.${section}`;
export const referred = ({ name, section }: Reference): string => `${bold(name)}(${section})`;

/** A whole page of these lines. */
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

/** "A, B, C", each on a line of its own. */
export const seeAlso = (references: readonly Reference[]): string[] => [
  heading('See also'),
  ...references.map(
    (reference, index) => `${referred(reference)}${index === references.length - 1 ? '' : ','}`,
  ),
];
