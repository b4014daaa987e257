import { tmpdir } from 'node:os';
import { closing, refusedAs, unlessRefused } from '../../ground/errors.ts';
import type { ScalarPlace, SecretFile } from '../../secret-files/format.ts';
import { align, areEqual, inQuestion, isAsExpected, type Plaintexts } from '../../secret-files/three-way.ts';
import type { OwnCommand } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { readFileWhole } from '../files/in-file.ts';
import { writeOutFile } from '../files/out-file.ts';
import type { MergeSides } from '../repository/git.ts';
import { type Merged, mergeFile } from '../secret-files/merge-file.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import { formatFor, textOf } from '../secret-files/secret-file.ts';
import { openValues } from '../secret-files/values.ts';
import type { Session } from '../session.ts';

/** Maximum size of each side, in bytes. Files too large to be read as values are left to git's own merge. */
const MAX_BYTES = 1 << 28;
const LABELS = ['ours', 'theirs'] as const;

/** Command that git runs to merge a file: its three versions, and its path. The result replaces "ours". */
export const command: OwnCommand = {
  arguments: [
    { metavar: 'BASE', help: 'Common ancestor (%O).', required: true, offers: 'file' },
    { metavar: 'OURS', help: 'Our version (%A); receives the result.', required: true, offers: 'file' },
    { metavar: 'THEIRS', help: 'Their version (%B).', required: true, offers: 'file' },
    { metavar: 'PATH', help: 'Path in the repository (%P).', required: true, offers: 'file' },
  ],
  /**
   * Merges the file. The exit code tells git whether conflicts remain.
   * @see docs/decisions/0153
   */
  async run(session, { arguments: [base = '', ours = '', theirs = '', path = ''] }) {
    const [was, mine, others] = [base, ours, theirs].map((side) => readFileWhole(side, 'FILE', MAX_BYTES));
    if (was === undefined || mine === undefined || others === undefined) return FAILED;
    const sides = { base: was, ours: mine, theirs: others };
    const merged =
      (await mergedByValue(session, sides, path)) ?? mergeFile({ ...sides, labels: LABELS }, tmpdir());
    await writeOutFile({ path: ours, replace: true }, merged.bytes);
    return merged.isClean ? DONE : FAILED;
  },
};

/**
 * Merges the file by its values.
 * @returns undefined if it is not a file of values, is not UTF-8 or is too large; then it is merged by lines, as bytes
 */
async function mergedByValue(session: Session, sides: MergeSides, path: string): Promise<Merged | undefined> {
  const files = await parsedSides(session, sides, path).catch(refusedAs(undefined));
  if (files === undefined) return undefined;
  const { format, base, ours, theirs } = files;
  const plaintexts = await plaintextsOf(session, path, inQuestion(base, ours, theirs));
  const aligned = align(base, ours, theirs, plaintexts);
  const parsed = (text: string): SecretFile | undefined =>
    unlessRefused(() => format.parse(text, path), undefined);
  const merged = mergeFile({ ...aligned, labels: LABELS }, tmpdir());
  const isRight = ({ bytes }: Merged): boolean => {
    const file = parsed(bytes.toString());
    return file !== undefined && isAsExpected(file, aligned);
  };
  if (merged.isClean && isRight(merged)) return merged;
  // Both sides have added values at the same line.
  const both = merged.onlyInsertions ? mergeFile({ ...aligned, labels: LABELS }, tmpdir(), true) : undefined;
  if (both !== undefined && isRight(both)) return { ...both, isClean: true };
  return { ...merged, isClean: false };
}

async function parsedSides(session: Session, sides: MergeSides, path: string) {
  const [was, mine, others] = [sides.base, sides.ours, sides.theirs].map((side) => textOf(path, side));
  const rule = await new Rulebook(session).ruleFor(path).catch(() => undefined);
  const format = await formatFor(path, rule?.format);
  const parsed = (text = ''): SecretFile =>
    format.parse(text === '' && format.name === 'json' ? '{}' : text, path);
  return { format, base: parsed(was), ours: parsed(mine), theirs: parsed(others) };
}

/**
 * Returns the plaintexts that tell which side has changed a value; none without a key. Values of the base are opened only
 * where both sides differ.
 */
async function plaintextsOf(
  asked: Session,
  path: string,
  questions: ReturnType<typeof inQuestion>,
): Promise<Plaintexts> {
  if (questions.length === 0) return new Map();
  return closing(asked.quietly(), async (session) => {
    const sides = await opened(
      session,
      path,
      questions.flatMap(({ ours, theirs }) => [ours, theirs]),
    );
    if (sides.size === 0) return sides;
    // Separate, so that a key of the base which may no longer be used does not hide that both sides are equal.
    const base = await opened(
      session,
      path,
      questions.flatMap((question) => (areEqual(question, sides) ? [] : [question.was])),
    );
    return new Map([...sides, ...base]);
  });
}

async function opened(
  session: Session,
  path: string,
  asked: readonly (ScalarPlace | undefined)[],
): Promise<Map<ScalarPlace, string>> {
  const places = asked.filter((place) => place !== undefined);
  // What was readable before is compared with what both sides have encrypted.
  const readable = places.flatMap((place) =>
    place.sealed === undefined ? [[place, place.source] as const] : [],
  );
  const found = places.flatMap((place) =>
    place.sealed === undefined
      ? []
      : [{ place, value: place.sealed, name: place.name, where: place.name, path }],
  );
  const results =
    found.length === 0 ? [] : await openValues(session, found, 'of-all-commits').catch(refusedAs([]));
  const texts = results.flatMap((result, index) => {
    const place = found[index]?.place;
    return typeof result === 'string' && place !== undefined ? [[place, result] as const] : [];
  });
  return new Map([...readable, ...texts]);
}
