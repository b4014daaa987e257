/** The index of docs/decisions: each note with its title, and the files that say that it holds in them. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const NOTES = 'docs/decisions/';
export const DECISION_INDEX = `${NOTES}README.md`;
const CODE = ['src', 'scripts', 'bench', 'test'] as const;
const TITLE = /^# (\d{4}) (.+)\n/;
const EVIDENCE = /^\*\*Evidence\.\*\*/m;
const CITATION = /@see docs\/decisions\/(\d{4})(?![\w-])/g;
/** Everything that looks like one, in whatever form. */
const MENTION = /\bdecisions?[ /]\d{4}/gi;
const MARK = '<!-- What follows is written by "npm run generate". -->\n';

export interface Note {
  readonly number: string;
  readonly file: string;
  /** Undefined when the first line is not `# NUMBER Title`, with the number of the file's name. */
  readonly title: string | undefined;
  /** Whether a paragraph says what shows that the choice is right. */
  readonly hasEvidence: boolean;
}

/** A file that mentions decisions. */
export interface Citing {
  readonly path: string;
  readonly cited: readonly string[];
  /** More than are cited: some are in another form. */
  readonly mentions: number;
}

/** Sorted by number. */
export function decisionNotes(): readonly Note[] {
  const files = readdirSync(root + NOTES).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return files.sort().map((file) => {
    const number = file.slice(0, 4);
    const text = readFileSync(root + NOTES + file, 'utf8');
    const [, written, title] = TITLE.exec(text) ?? [];
    return { number, file, title: written === number ? title : undefined, hasEvidence: EVIDENCE.test(text) };
  });
}

/** Sorted by path, source first. */
export function citations(): readonly Citing[] {
  return CODE.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[cm]?ts$|\.cjs$/.test(name))
      .sort()
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  )
    .map((path) => ({ path, text: readFileSync(root + path, 'utf8') }))
    .map(({ path, text }) => ({
      path,
      cited: [...text.matchAll(CITATION)].map(([, number = '']) => number),
      mentions: [...text.matchAll(MENTION)].length,
    }))
    .filter(({ mentions }) => mentions > 0);
}

/** The page in front of the notes, with the index as it has to be. */
export function withDecisionIndex(page: string): string {
  const citing = citations();
  const rows = decisionNotes().map(({ number, file, title }) => {
    const paths = citing.filter(({ cited }) => cited.includes(number)).map(({ path }) => `\`${path}\``);
    return `| [${number}](${file}) | ${title} | ${paths.join(', ')} |`;
  });
  const table = ['| number | what was decided | where it holds |', '|---|---|---|', ...rows];
  return `${page.split(MARK, 1)[0]}${MARK}\n${table.join('\n')}\n`;
}
