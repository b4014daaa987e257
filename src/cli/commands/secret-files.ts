import { isSecret, RULES_NAME } from '../../secret-files/rules.ts';
import type { Command } from '../command.ts';
import { FAILED } from '../exit-codes.ts';
import type { Given } from '../given.ts';
import { committedFile, committedValues } from '../secret-files/committed.ts';
import { Files, formatOption, KEY, keyOption, manyFiles, Outcomes } from '../secret-files/files.ts';
import { consentToLess } from '../secret-files/left-readable.ts';
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
    'Values are encrypted one by one, where they stand; every other byte stays, and so do values that are encrypted already. One ' +
    'that the last commit of git has encrypted, and that is as it was, gets its old ciphertext. Which ' +
    'ones, and with which key, .coffer.yaml says; without it, all that are not empty. Each value is bound to its name, so that ' +
    'it opens nowhere else.',
  examples: [
    ['coffer secrets encrypt .env config/prod.yaml', 'As .coffer.yaml says'],
    ['coffer secrets encrypt --key app .env', 'With a key of your choice'],
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
    'Puts the values back as they were written, byte for byte. They are on the disk then: "coffer edit" opens a file without that, ' +
    '"coffer secrets inject" prints it, and "coffer secrets get" one value.',
  examples: [['coffer secrets decrypt .env', 'The values say by themselves which keys open them']],
  run: (session, { arguments: paths, options }) => transform(session, options, paths, 'Decrypted', openFiles),
};

export const rewrap: Command = {
  arguments: [manyFiles],
  options: [formatOption],
  details: 'Values under the latest version of their key keep their ciphertexts.',
  examples: [['coffer secrets rewrap .env config/*.yaml', 'After "coffer transit keys rotate app"']],
  run: (session, { arguments: paths, options }) =>
    transform(session, options, paths, 'Rewrapped', rewrapFiles),
};

async function transform(
  session: Session,
  options: Given['options'],
  paths: readonly string[],
  done: string,
  work: (session: Session, files: readonly ReadFile[]) => Promise<readonly FileResult[]>,
): Promise<number> {
  const files = new Files(session, options);
  const outcomes = new Outcomes(session);
  const opened = await outcomes.each(paths, (path) => files.open(path));
  await outcomes.write(opened, await work(session, opened), done);
  return outcomes.exitCode;
}
