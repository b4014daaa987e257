import { existsSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { asCofferError, type CofferError, invalid, refusedAs, withOtherHint } from '../../ground/errors.ts';
import { RULES_NAME } from '../../secret-files/rules.ts';
import { directoryOf } from '../../store/backends/registry.ts';
import type { NamesShown } from '../candidates.ts';
import type { Session } from '../session.ts';
import { teamKeysFor } from '../team/nearest.ts';
import { keyringAbove } from '../team/place.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { Rulebook } from './rulebook.ts';
import type { ChosenKey } from './values.ts';

/** Name of the first key in advice, as in the examples of help. */
const FIRST_KEY = 'app';

/**
 * Returns the key to encrypt the values of a file with.
 * @throws as `keyOf`; on a terminal, with the names of the keys that there are, or the commands that create the first
 * one and a rule
 */
export async function keyOrAdvice(
  session: Session,
  path: string,
  keyOf: () => ChosenKey,
): Promise<ChosenKey> {
  try {
    return keyOf();
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined) throw error;
    // A keyring has keys of its own.
    if (keyringAbove('.', () => false) !== undefined) {
      const ofKeyring = await keyringKeys(session, path);
      throw ofKeyring.text === '' ? error : withOtherHint(known, withRule(session, path, ofKeyring, known));
    }
    if (session.streams.err.isTerminal && isStoreMissing(session)) {
      const { sharingHint } = await import('./ruled-files.ts');
      throw withOtherHint(known, (await sharingHint(session)) ?? firstSteps(session, path, true));
    }
    const keys = await (await import('../candidates.ts')).keysShown(session);
    if (keys === undefined) throw error;
    throw withOtherHint(
      known,
      keys.text === '' ? firstSteps(session, path, false) : withRule(session, path, keys, known),
    );
  }
}

/** Adds the names of the keys to a hint and, if there is only one, the command that writes a rule for it. */
function withRule(session: Session, path: string, { text, only }: NamesShown, { hint }: CofferError): string {
  const command = only === undefined ? undefined : ruleCommand(session, path, only);
  return `${text}; ${hint}${command === undefined ? '' : `, e.g. "${command}"`}`;
}

/** Returns the names of the keys of a file's keyring; none if the keyring is not trusted. */
async function keyringKeys(session: Session, path: string): Promise<NamesShown> {
  const keys = await teamKeysFor(session, path);
  const names = (await keys?.names().catch(refusedAs(undefined))) ?? [];
  const { namesShown } = await import('../candidates.ts');
  return namesShown(names, { total: names.length, what: 'keys of the keyring' });
}

/** Whether the user has no store yet, and names no server. */
function isStoreMissing({ settings }: Session): boolean {
  const directory = settings.address === undefined ? directoryOf(settings.storeLocation) : undefined;
  return directory !== undefined && !existsSync(directory);
}

/**
 * Returns the advice for a user without a key, or without a store. A rule is suggested if rules in the working directory
 * can name the file, and take nothing from the rules of a parent directory.
 */
function firstSteps(session: Session, path: string, isFirstStore: boolean): string {
  const create = withPlace(session, `coffer transit keys create ${FIRST_KEY}`);
  const init = withPlace(session, 'coffer init');
  const start = isFirstStore
    ? `no store exists yet: run "${init}", then "${create}"`
    : `no key can encrypt values yet: run "${create}"`;
  const rule = ruleCommand(session, path, FIRST_KEY);
  if (rule !== undefined) return `${start} and, for a rule in ${RULES_NAME}, "${rule}", then retry`;
  const encrypt = withPlace(session, `coffer secrets encrypt ${shellWord(path)} --key ${FIRST_KEY}`);
  return `${start}, then "${encrypt}"`;
}

/**
 * Returns the shell command that adds a rule for a file to those of the working directory.
 * @returns undefined if they cannot name the file, or would take something from the rules of a parent directory
 */
function ruleCommand(session: Session, path: string, key: string): string | undefined {
  const name = relative('.', path).split(sep).join('/');
  if (!/^[\w./-]+$/.test(name) || name.startsWith('..')) return undefined;
  const rules = new Rulebook(session.quietly()).sourceOf(dirname(resolve(path)));
  if (rules !== undefined && (rules.directory !== resolve('.') || !isExtensible(rules.bytes)))
    return undefined;
  const rule = String.raw`  - files: ${name}\n    key: ${key}\n`;
  return rules === undefined
    ? String.raw`printf 'rules:\n${rule}' > ${RULES_NAME}`
    : `printf '${rule}' >> ${RULES_NAME}`;
}

/** Whether a rule can be added to rules by lines behind them that are indented by two spaces. */
function isExtensible(rules: Buffer): boolean {
  const lines = rules.toString().split('\n');
  const [first, ...others] = lines.filter((line) => !/^(?:#|\s*$)/.test(line));
  return (
    lines.at(-1) === '' && first?.trimEnd() === 'rules:' && others.every((line) => line.startsWith('  '))
  );
}

const withPlace = (session: Session, command: string): string =>
  [command, ...session.placeOptions()].join(' ');

/**
 * Opens a file whose values are to be encrypted.
 * @param key that the user names
 * @throws as `open`; for a file without values also with the command that encrypts it as a whole
 */
export async function openOrAdvice<T>(
  session: Session,
  path: string,
  key: string | undefined,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const known = asCofferError(error);
    const isWhole = known?.kind === 'unsupported' && existsSync(path);
    if (known === undefined || !isWhole) throw error;
    const { hintWithKeys } = await import('../candidates.ts');
    const name = key === undefined ? 'KEY' : shellWord(key);
    const whole = `to encrypt the whole file, run "coffer transit envelope encrypt ${name} ${shellWord(path)}"`;
    throw withOtherHint(known, `${await hintWithKeys(session, whole)}; ${known.hint}`);
  }
}

/**
 * Refuses a word among the files that can only be meant as their key: it is no file, and no rule names a key for them.
 * @throws `invalid` with the option that takes the key
 */
export async function refuseKeyAsFile(rulebook: Rulebook, paths: readonly string[]): Promise<void> {
  const [word, ...others] = paths.filter((path) => !existsSync(path));
  if (word === undefined || others.length > 0 || !/^[\w-]+$/.test(word)) return;
  const files = paths.filter((path) => path !== word);
  for (const file of files) if ((await rulebook.ruleFor(file))?.key !== undefined) return;
  throw invalid(`no file ${word}: a key is given with --key`, {
    hint: `run "coffer secrets encrypt ${files.map(shellWord).join(' ')} --key ${word}"`,
  });
}
