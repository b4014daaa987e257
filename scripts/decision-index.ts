/** Index of docs/decisions: each decision with its title, and the files that refer to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const NOTES = 'docs/decisions/';
export const DECISION_INDEX = `${NOTES}README.md`;
const CODE = ['src', 'scripts', 'bench', 'test'] as const;
const TITLE = /^# (\d{4}) (.+)\n/;
const EVIDENCE = /^\*\*Evidence\.\*\*/m;
const CITATION = /@see docs\/decisions\/(\d{4})(?![\w-])/g;
/** Pattern of a reference in any form. */
const MENTION = /\bdecisions?[ /]\d{4}/gi;
const MARK = '<!-- What follows is written by "npm run generate". -->\n';

export interface Note {
  readonly number: string;
  readonly file: string;
  /** Undefined if the first line is not `# NUMBER Title` with the number of the file name. */
  readonly title: string | undefined;
  /** Whether a paragraph gives the evidence for the choice. */
  readonly hasEvidence: boolean;
}

/** File that refers to decisions. */
export interface Citing {
  readonly path: string;
  readonly cited: readonly string[];
  /** Number of references; higher than that of citations if some are in another form. */
  readonly mentions: number;
}

/** Returns the decisions, sorted by number. */
export function decisionNotes(): readonly Note[] {
  const files = readdirSync(root + NOTES).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return files.sort().map((file) => {
    const number = file.slice(0, 4);
    const text = readFileSync(root + NOTES + file, 'utf8');
    const [, written, title] = TITLE.exec(text) ?? [];
    return { number, file, title: written === number ? title : undefined, hasEvidence: EVIDENCE.test(text) };
  });
}

/** Returns the references, sorted by path, sources first. */
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

/** Returns the page with the current index. */
export function withDecisionIndex(page: string): string {
  const citing = citations();
  const rows = decisionNotes().map(({ number, file, title }) => {
    const paths = citing.filter(({ cited }) => cited.includes(number)).map(({ path }) => `\`${path}\``);
    return `| [${number}](${file}) | ${title} | ${paths.join(', ')} |`;
  });
  const table = ['| number | what was decided | where it holds |', '|---|---|---|', ...rows];
  return `${page.split(MARK, 1)[0]}${MARK}\n${table.join('\n')}\n`;
}
