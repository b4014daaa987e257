import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

/** A file of the project's TypeScript, as tests about the source read it. */
export interface SourceFile {
  /** Below the root of the project. */
  readonly path: string;
  /** The text without its comments. */
  readonly code: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** The TypeScript below a folder of the project. */
export const sourceFiles = (folder: string): readonly SourceFile[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(join(root, folder, path), 'utf8');
      return { path: join(folder, path), code: withoutComments(text) };
    });

/** A source without its comments. */
export const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1');

/** The modules of the project that a file imports, also by `import()`, by their paths below the root. */
export const importsOf = ({ path, code }: SourceFile): readonly string[] =>
  [...code.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+)'(\.[^']+)'/gm)].map(([, specifier = '']) =>
    join(dirname(path), specifier),
  );

const OPENING = '([{';
const CLOSING = ')]}';

/** Where the bracket at `start` ends, behind its other half; brackets in texts are passed over. */
export function endOfBrackets(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    const letter = code.charAt(at);
    if (QUOTES.includes(letter)) at = endOfText(code, at);
    else if (OPENING.includes(letter)) depth++;
    else if (CLOSING.includes(letter) && --depth === 0) return at + 1;
  }
  return code.length;
}

const QUOTES = '\'"`';

/** Where the closing quote stands. */
function endOfText(code: string, start: number): number {
  for (let at = start + 1; at < code.length; at++) {
    if (code[at] === '\\') at++;
    else if (code[start] === '`' && code.startsWith('${', at)) at = endOfBrackets(code, at + 1) - 1;
    else if (code[at] === code[start]) return at;
  }
  return code.length;
}

/** The parts between commas that are in no brackets, those of types included. */
export function partsOf(code: string): readonly string[] {
  const parts: string[] = [];
  let begun = 0;
  let angles = 0;
  for (let at = 0; at < code.length; at++) {
    const letter = code.charAt(at);
    if (QUOTES.includes(letter)) at = endOfText(code, at);
    else if (OPENING.includes(letter)) at = endOfBrackets(code, at) - 1;
    else if (letter === '<') angles++;
    else if (letter === '>' && code[at - 1] !== '=') angles--;
    else if (letter === ',' && angles <= 0) {
      parts.push(code.slice(begun, at));
      begun = at + 1;
    }
  }
  return [...parts, code.slice(begun)].map((part) => part.trim()).filter((part) => part !== '');
}
