import { type CofferError, invalid } from '../../ground/errors.ts';
import { FORMAT_NAMES } from '../../secret-files/format.ts';
import { isSecret, RULES_NAME } from '../../secret-files/rules.ts';
import { type ArgumentSpec, type Command, switching } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { readStandardInput, STANDARD } from '../files/input.ts';
import { type Given, textOption } from '../given.ts';
import { remindOfGitSetup } from '../secret-files/clone-reminder.ts';
import { refuseNameAsFile } from '../secret-files/file-first.ts';
import {
  ENCRYPTED,
  Files,
  formatIn,
  formatOption,
  KEY,
  keyOption,
  manyFiles,
  Outcomes,
  printExactly,
  type RuledFile,
} from '../secret-files/files.ts';
import { keyOrAdvice, openOrAdvice, refuseKeyAsFile } from '../secret-files/first-key.ts';
import { consentToLess, requireRules } from '../secret-files/left-readable.ts';
import { refuseOfOtherTool } from '../secret-files/other-tools.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import { parsedFile, refuseUnreadable } from '../secret-files/secret-file.ts';
import {
  committedFile,
  committedValues,
  locatedIn,
  openFiles,
  requireFile,
  rewrapFiles,
  type Sealing,
  sealFiles,
  warnOfDamaged,
} from '../secret-files/transform.ts';
import type { Session } from '../session.ts';
import { teamKeysFor } from '../team/nearest.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Files, or standard input, whose result is then printed. */
const filesOrInput: ArgumentSpec = {
  ...manyFiles,
  help: 'Files: .env, YAML or JSON; "-" reads standard input.',
};

export const encrypt: Command = {
  arguments: [filesOrInput],
  options: [keyOption, formatOption],
  details:
    'Encrypts values in place, one by one. Everything else in the file, including values that are ' +
    'already encrypted, is left unchanged. A value that is unchanged since the last git commit ' +
    'gets its old ciphertext back. .coffer.yaml says which values are encrypted with which key; ' +
    'without it, all non-empty values are. A ciphertext can only be decrypted under the name that the ' +
    'value had when it was encrypted. "-" encrypts standard input to standard output, and needs --format and --key, since ' +
    '.coffer.yaml has rules for file names only.',
  examples: [
    ['coffer secrets encrypt .env config/prod.yaml', 'Encrypt files according to .coffer.yaml'],
    [
      'coffer secrets encrypt --key app .env',
      'Encrypt values with the key "app" instead of the one in .coffer.yaml',
    ],
    ['fetch-settings | coffer secrets encrypt - --format dotenv --key app > .env', 'Encrypt standard input'],
  ],
  async run(session, { arguments: paths, options }) {
    if (paths.includes(STANDARD)) return printEncrypted(session, paths, options);
    const rulebook = new Rulebook(session);
    const files = new Files(session, options, rulebook);
    const outcomes = new Outcomes(session);
    const named = textOption(options, KEY);
    if (named === undefined && paths.length > 1) await refuseKeyAsFile(rulebook, paths);
    const plans = await outcomes.each(paths, async (path) => {
      const file = await openOrAdvice(session, path, named, () => files.open(path));
      const key = await keyOrAdvice(session, path, () => files.keyFor(session, file));
      const readable = file.file.places.filter((place) => place.sealed === undefined);
      const places = readable.filter((place) => isSecret(place, file.rule));
      refuseOfOtherTool(path, places);
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
    await outcomes.write(sealings, await sealFiles(session, sealings), ENCRYPTED);
    for (const { path, file, key, places } of plans) {
      const used = places.length > 0 ? key.name : undefined;
      (await teamKeysFor(session, path))?.warnOfOtherKeys(path, locatedIn({ path, file }), used);
    }
    if (options.has(KEY)) for (const sealing of sealings) sayLeft(session, sealing);
    if (outcomes.exitCode === DONE) await remindOfGitSetup(session, rulebook, paths);
    return outcomes.exitCode;
  },
};

/** Tells a user who names a key how many values the rules leave unencrypted, or that all have another key. */
function sayLeft(session: Session, { path, file, places, key }: Sealing): void {
  const others = new Set(file.places.flatMap(({ sealed }) => sealed?.key ?? []));
  if (places.length === 0 && others.size > 0 && !others.has(key.name))
    session.say(
      `No value of ${path} is encrypted with key "${key.name}": values that are already encrypted keep their key (${[...others].join(', ')}).`,
    );
  const left =
    file.places.filter((place) => place.sealed === undefined && isSecret(place, undefined)).length -
    places.length;
  if (left === 0) return;
  session.say(
    `${left === 1 ? 'A value' : `${left} values`} of ${path} stay${left === 1 ? 's' : ''} readable, as ${RULES_NAME} says.`,
  );
}

const STDOUT = 'stdout';

/**
 * Prints standard input encrypted. Values that are encrypted already are left as they are.
 * @throws `invalid` for further files, or without a key
 */
async function printEncrypted(
  session: Session,
  [, ...others]: readonly string[],
  options: Given['options'],
): Promise<number> {
  if (others.length > 0) throw besideStandardInput();
  if (!options.has(KEY))
    throw invalid('no key given to encrypt standard input with', {
      hint: `use --key NAME: ${RULES_NAME} has no rules for standard input`,
    });
  const read = await openPiped(session, options);
  const key = new Files(session, options).keyFor(session, read);
  const places = read.file.places.filter((place) => place.sealed === undefined && isSecret(place, undefined));
  refuseOfOtherTool(STANDARD, places);
  const [result] = await sealFiles(session, [{ ...read, key, places }]);
  const { text } = requireFile(result);
  refuseUnreadable('the result', text);
  await printExactly(session, undefined, 'text', text);
  return DONE;
}

const besideStandardInput = (): CofferError =>
  invalid('standard input (-) cannot be combined with other files', { hint: 'run it once for each file' });

export const decrypt: Command = {
  arguments: [filesOrInput],
  options: [
    switching(STDOUT, 'Print the decrypted file, and leave the file itself encrypted.'),
    formatOption,
  ],
  details:
    'Replaces the encrypted values in each FILE by plaintext, and prints nothing, not even to a pipe. Encrypting a ' +
    'file and then decrypting it restores it byte for byte. To leave it encrypted, use --stdout, "coffer edit", ' +
    'or "coffer secrets get" for one value. "-" decrypts standard input to standard output, and needs --format.',
  examples: [
    ['coffer secrets decrypt .env', 'Decrypt all values in a file'],
    ['coffer secrets decrypt .env --stdout', 'Print a file decrypted, without changing it'],
    ['git show main:.env | coffer secrets decrypt - --format dotenv', 'Decrypt standard input'],
  ],
  async run(session, { arguments: paths, options }) {
    if (options.has(STDOUT) || paths.includes(STANDARD)) return printDecrypted(session, paths, options);
    const files = new Files(session, options);
    const outcomes = new Outcomes(session);
    await refuseNameAsFile(files, paths);
    const opened = await outcomes.each(paths, (path) => files.open(path));
    for (const file of opened) warnOfDamaged(session, file);
    const results = await openFiles(session, opened);
    await outcomes.write(opened, results, 'Decrypted');
    const changed = opened.filter((_, index) => {
      const result = results[index];
      return result !== undefined && 'file' in result && result.changed > 0;
    });
    for (const file of changed) remarkPlaintext(session, file);
    if (changed.length > 0) sayNothingPrinted(session, changed);
    return outcomes.exitCode;
  },
};

/** Reads standard input as a file in the working directory; --format is required. */
async function openPiped(session: Session, options: Given['options']): Promise<RuledFile> {
  const format = formatIn(options);
  if (format === undefined)
    throw invalid('cannot tell the format of standard input', {
      field: 'format',
      hint: `use --format ${FORMAT_NAMES.join('|')}`,
    });
  const bytes = readStandardInput(session);
  return { ...(await parsedFile('standard input', bytes, format)), stats: undefined, rule: undefined };
}

/**
 * Prints a file decrypted.
 * @throws `invalid` for several files, whose ends nothing would mark
 */
async function printDecrypted(
  session: Session,
  [path = '', ...others]: readonly string[],
  options: Given['options'],
): Promise<number> {
  if (others.length > 0)
    throw options.has(STDOUT)
      ? invalid(`--${STDOUT} takes a single file`, { hint: 'run it once for each file' })
      : besideStandardInput();
  const opened =
    path === STANDARD ? await openPiped(session, options) : await new Files(session, options).open(path);
  warnOfDamaged(session, opened);
  const [result] = await openFiles(session, [opened]);
  await printExactly(session, undefined, 'text', requireFile(result).text);
  return DONE;
}

/**
 * Says to a person whose pipe or file waits for the plaintext, as that of sops and age would, that it was not printed.
 * Scripts decrypt files on purpose.
 */
function sayNothingPrinted(session: Session, files: readonly RuledFile[]): void {
  if (session.streams.out.isTerminal || session.settings.format === 'json') return;
  const paths = files.map(({ path }) => path).join(', ');
  session.remark(`Decrypted ${paths} in place and printed nothing; use --${STDOUT} to print a file instead.`);
}

/** Says on a terminal that a file is readable now, and how to encrypt it again. */
function remarkPlaintext(session: Session, { path, file, rule }: RuledFile): void {
  const key = file.places.find(({ sealed }) => sealed !== undefined)?.sealed?.key;
  const named = rule?.key === undefined && key !== undefined ? ` --key ${key}` : '';
  session.remark(
    `${path} now contains plaintext; to encrypt it again, run "coffer secrets encrypt ${shellWord(path)}${named}".`,
  );
}

export const rewrap: Command = {
  arguments: [manyFiles],
  options: [formatOption],
  details: 'Values that already use the latest key version are left unchanged.',
  examples: [['coffer secrets rewrap .env config/*.yaml', 'Re-encrypt values after rotating their key']],
  async run(session, { arguments: paths, options }) {
    const files = new Files(session, options);
    const outcomes = new Outcomes(session);
    const opened = await outcomes.each(paths, (path) => files.open(path));
    await outcomes.write(opened, await rewrapFiles(session, opened), 'Rewrapped');
    return outcomes.exitCode;
  },
};
