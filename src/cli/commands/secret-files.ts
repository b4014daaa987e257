import { isSecret, RULES_NAME } from '../../secret-files/rules.ts';
import type { Command } from '../command.ts';
import { FAILED } from '../exit-codes.ts';
import type { Given } from '../given.ts';
import { committedFile, committedValues } from '../secret-files/committed.ts';
import { Files, formatOption, KEY, keyOption, manyFiles, Outcomes } from '../secret-files/files.ts';
import { consentToLess, requireRules } from '../secret-files/left-readable.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import {
  type FileResult,
  openFiles,
  type ReadFile,
  rewrapFiles,
  type Sealing,
  sealFiles,
} from '../secret-files/transform.ts';
import type { Session } from '../session.ts';

export const encrypt: Command = {
  arguments: [manyFiles],
  options: [keyOption, formatOption],
  details:
    'Encrypts values in place, one by one; everything else in the file, including values that are ' +
    'already encrypted, stays byte for byte. A value that is unchanged since the last git commit ' +
    'gets its old ciphertext back. .coffer.yaml says which values are encrypted with which key; ' +
    'without it, all non-empty values are. Each ciphertext is bound to the name of its value and ' +
    'cannot be decrypted under another name.',
  examples: [
    ['coffer secrets encrypt .env config/prod.yaml', 'Encrypt files according to .coffer.yaml'],
    ['coffer secrets encrypt --key app .env', 'Encrypt all values with one key'],
  ],
  async run(session, { arguments: paths, options }) {
    const rulebook = new Rulebook(session);
    const files = new Files(session, options, rulebook);
    const outcomes = new Outcomes(session);
    const plans = await outcomes.each(paths, async (path) => {
      const file = await files.open(path);
      const key = files.keyFor(session, file);
      const readable = file.file.places.filter((place) => place.sealed === undefined);
      const places = readable.filter((place) => isSecret(place, file.rule));
      const committed = readable.length === 0 ? undefined : await committedFile(file);
      return { ...file, key, places, committed };
    });
    if (!(await consentToLess(session, rulebook, plans, options.has(KEY)))) return FAILED;
    for (const plan of plans) await requireRules(session, rulebook, plan);
    const sealings: ((typeof plans)[number] & Sealing)[] = [];
    for (const plan of plans) {
      const known = plan.committed && (await committedValues(session, plan, plan.places, plan.committed));
      sealings.push({ ...plan, known });
    }
    await outcomes.write(sealings, await sealFiles(session, sealings), 'Encrypted');
    if (options.has(KEY)) for (const sealing of sealings) sayReadable(session, sealing);
    return outcomes.exitCode;
  },
};

/** Tells a user who names a key how many values the rules leave unencrypted. */
function sayReadable(session: Session, { path, file, places }: Sealing): void {
  const left =
    file.places.filter((place) => place.sealed === undefined && isSecret(place, undefined)).length -
    places.length;
  if (left === 0) return;
  session.say(
    `${left === 1 ? 'A value' : `${left} values`} of ${path} stay${left === 1 ? 's' : ''} readable, as ${RULES_NAME} says.`,
  );
}

export const decrypt: Command = {
  arguments: [manyFiles],
  options: [formatOption],
  details:
    'Restores the values byte for byte, which leaves plaintext on disk. To avoid that, use "coffer ' +
    'edit", "coffer secrets inject" (prints the file) or "coffer secrets get" (prints one value).',
  examples: [['coffer secrets decrypt .env', 'Decrypt a file; the values name their keys']],
  run: (session, { arguments: paths, options }) =>
    transform(session, options, { paths, done: 'Decrypted', work: openFiles }),
};

export const rewrap: Command = {
  arguments: [manyFiles],
  options: [formatOption],
  details: 'Values that already use the latest key version are left unchanged.',
  examples: [['coffer secrets rewrap .env config/*.yaml', 'Rewrap after rotating the key']],
  run: (session, { arguments: paths, options }) =>
    transform(session, options, { paths, done: 'Rewrapped', work: rewrapFiles }),
};

interface Transformation {
  readonly paths: readonly string[];
  readonly done: string;
  readonly work: (session: Session, files: readonly ReadFile[]) => Promise<readonly FileResult[]>;
}

async function transform(
  session: Session,
  options: Given['options'],
  { paths, done, work }: Transformation,
): Promise<number> {
  const files = new Files(session, options);
  const outcomes = new Outcomes(session);
  const opened = await outcomes.each(paths, (path) => files.open(path));
  await outcomes.write(opened, await work(session, opened), done);
  return outcomes.exitCode;
}
