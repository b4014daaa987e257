/**
 * Generates docs/terminal.svg: a terminal with a few commands. They are run each time on a temporary store.
 * Ciphertexts, which differ in each run, are replaced by fixed ones of the same length, so that the picture changes
 * only if the output does.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { runCommandLine } from '../src/cli/command-line.ts';
import { wrapped } from '../src/cli/wrap.ts';
import { streamsDouble } from '../test/cli/streams.double.ts';

export const TERMINAL_PICTURE = 'docs/terminal.svg';

/** Command lines: commands of Coffer, and `cat` for the files that they write. */
const TYPED = [
  'coffer transit keys create orders',
  "coffer transit encrypt orders 'credit card 4242' --out card.txt",
  'cat card.txt',
  'coffer transit decrypt orders --in card.txt',
  'cat .env',
  'coffer secrets encrypt .env',
  'cat .env',
  'coffer secrets get .env DB_PASSWORD',
] as const;
const FILES = {
  '.env': '# the shop\nDB_USER=shop\nDB_PASSWORD=s3cret\n',
  '.coffer.yaml': 'rules:\n  - files: .env\n    key: orders\n    except: "*_USER"\n',
};
/** Body of a ciphertext, after its version. */
const CIPHERTEXT = /(?<=:v\d+:)[A-Za-z0-9+/]{20,}={0,2}/g;

const COLUMNS = 80;
const CHARACTER_PX = 8.4;
const LINE_PX = 20;
const MARGIN_PX = 20;
const TITLE_PX = 32;

/**
 * Returns the picture as SVG.
 * @throws if a command fails
 */
export async function terminalPicture(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-picture-'));
  const usual = process.cwd();
  try {
    process.chdir(directory);
    return drawn(await played(directory));
  } finally {
    process.chdir(usual);
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Line {
  readonly text: string;
  readonly isTyped: boolean;
}

async function played(directory: string): Promise<readonly Line[]> {
  const environment = {
    HOME: directory,
    XDG_STATE_HOME: join(directory, 'state'),
    COFFER_STORE: join(directory, 'store'),
    COFFER_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  };
  for (const [name, text] of Object.entries(FILES)) writeFileSync(name, text);
  const run = async (words: readonly string[]): Promise<string> => {
    const streams = streamsDouble({ terminals: ['out', 'err'] });
    const exitCode = await runCommandLine(words, streams, environment);
    const { out, err } = streams.written;
    if (exitCode !== 0) throw new Error(`coffer ${words.join(' ')} failed: ${err}`);
    return stripVTControlCharacters(err + out);
  };
  await run(['init']);
  const lines: Line[] = [];
  for (const typed of TYPED) {
    const [program, ...words] = [...typed.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, bare]) => quoted ?? bare ?? '',
    );
    const output = program === 'cat' ? readFileSync(words[0] ?? '', 'utf8') : await run(words);
    lines.push({ text: typed, isTyped: true });
    for (const text of output.replace(/\n$/, '').split('\n')) {
      if (output !== '')
        lines.push(...inColumns(withFixedCiphertexts(text)).map((part) => ({ text: part, isTyped: false })));
    }
  }
  return lines;
}

/** Replaces ciphertexts, each by another one, derived from the text before it. */
const withFixedCiphertexts = (text: string): string =>
  text.replace(CIPHERTEXT, (found, at: number) => {
    const seed = text.slice(0, at);
    const fixed = createHash('shake256', { outputLength: found.length }).update(seed).digest('base64');
    return fixed.replaceAll('=', '').slice(0, found.length);
  });

/** Wraps a line at its words or, if a word is too long, at the width of the terminal. */
const inColumns = (text: string): string[] =>
  text.length <= COLUMNS
    ? [text]
    : wrapped(text, COLUMNS, 0)
        .split('\n')
        .flatMap((line) => line.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? []);

function drawn(lines: readonly Line[]): string {
  const width = COLUMNS * CHARACTER_PX + 2 * MARGIN_PX;
  const height = TITLE_PX + lines.length * LINE_PX + MARGIN_PX;
  const rows = lines.map(({ text, isTyped }, index) => {
    const y = TITLE_PX + (index + 1) * LINE_PX - 4;
    const content = isTyped ? `<tspan class="prompt">$ </tspan>${escaped(text)}` : escaped(text);
    return `  <text x="${MARGIN_PX}" y="${y}"${isTyped ? ' class="typed"' : ''}>${content}</text>`;
  });
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, index) => `  <circle cx="${MARGIN_PX + index * 18}" cy="18" r="5.5" fill="${color}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
  <title>A terminal in which a key is created, a value encrypted and decrypted, and a file of secrets encrypted</title>
  <style>
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre }
    .typed { fill: #ffffff; font-weight: 600 }
    .prompt { fill: #3fb950 }
  </style>
  <rect width="100%" height="100%" rx="8" fill="#161b22"/>
${[...dots, ...rows].join('\n')}
</svg>
`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
