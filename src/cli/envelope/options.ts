import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { utf8 } from '../../ground/bytes.ts';
import { isRegularFile, isThere } from '../../ground/directories.ts';
import { asCofferError, attempt, CofferError, invalid, notFound, refusedAs } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import { isMissing } from '../../operations/declaration/deleting.ts';
import { context } from '../../operations/transit/parameters.ts';
import type { ByteRange } from '../../transit/envelope/decrypt.ts';
import { KEY_NAME } from '../../transit/key-document.ts';
import { argument, type OptionSpec, taking, takingFile } from '../command.ts';
import { STANDARD } from '../files/input.ts';
import { type Given, numberOption, textOption, textsOption } from '../given.ts';
import { CIPHERTEXT, forceOption, IN, optionsOf } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { withPermission } from '../with-permission.ts';

/** Options that several envelope commands have. */

type Options = Given['options'];

export const OUT_DIR = 'out-dir';

export const inOption = takingFile(IN, 'Files to read; directories are read recursively.', {
  takes: 'values',
  fallback: 'standard input',
});

export const severalOptions: readonly OptionSpec[] = [
  taking(OUT_DIR, 'DIR', 'Write a result file for each input file to the directory DIR.', {
    fallback: 'next to each input file, if there are several',
    offers: 'directory',
    excludes: ['out'],
  }),
  { ...forceOption, help: 'Overwrite existing output files.' },
];

/** Argument for the named key, which the header also contains. */
export const expectedKey = argument(
  'NAME',
  'Key that the file must be encrypted with. Default: any. If NAME is itself a file, it is read as with --in.',
  { required: false, offers: 'key' },
);

/**
 * Returns the named key, if one is given.
 * @throws `invalid` if the name can only be that of a file, since the command would otherwise wait for standard input
 */
export function namedKey({ arguments: [name], options }: Given): string | undefined {
  if (name === undefined) return undefined;
  if (CIPHERTEXT.test(name)) {
    throw invalid('expected a file, not a ciphertext', {
      field: 'NAME',
      hint: `"coffer transit decrypt KEY ${shellWord(name)}" decrypts a ciphertext, and "coffer transit rewrap KEY ${shellWord(name)}" re-encrypts one`,
    });
  }
  if (name.includes('/') && !options.has(IN) && !existsSync(name))
    throw invalid(`cannot read ${name}: no such file`);
  const isFile = name.includes('/') || (name.endsWith('.coffer') && !options.has(IN) && existsSync(name));
  if (!isFile) return name;
  throw invalid(`invalid key name ${name}`, { field: 'NAME', hint: 'name files with --in' });
}

/** Extensions of files that these commands write. */
const ENCRYPTED = /\.(?:coffer|age)$/;

/**
 * Takes a file that is given in the place of the key, which these commands rarely need, as the value of `--in`. A name
 * that could be a key's is a file only if nothing is piped in: the command would find nothing to read. A directory is
 * read if no key can have its name, as that of "." and of a path; "-" is standard input.
 */
export function withFileAsInput(session: Session, given: Given): Given {
  const [name] = given.arguments;
  if (name === undefined || given.options.has(IN)) return given;
  // No key can have this name.
  if (name === STANDARD) return { arguments: [], options: new Map([...given.options, [IN, [STANDARD]]]) };
  const isMeant = !KEY_NAME.test(name) || ENCRYPTED.test(name) || !session.streams.in.isPiped;
  if (!isMeant || !(KEY_NAME.test(name) ? isRegularFile(name) : isThere(name))) return given;
  return { arguments: [], options: new Map([...given.options, [IN, [name]]]) };
}

/**
 * Refuses a word that is neither a key nor a file, if nothing is piped in: the command would wait for the terminal, or
 * blame the content of nothing.
 * @param name word in the place of the key
 * @param verb last word of the command
 * @throws `invalid` with the file that is near
 */
export async function refuseMissingFile(
  session: Session,
  name: string | undefined,
  { options }: Given,
  verb: string,
): Promise<void> {
  if (name === undefined || options.has(IN) || session.streams.in.isPiped || isRegularFile(name)) return;
  const near = filesNear(name);
  const runner = await session.runnerUnasked();
  // Whether a key has the name cannot be seen without a question: only files have names with an ending.
  const isKey =
    runner === undefined
      ? near.length === 0 && !name.includes('.')
      : !(await isMissing(await withPermission(session, runner), 'transit keys read', { name }).catch(
          refusedAs(false),
        ));
  if (isKey) return;
  const [only = '', ...others] = near;
  throw invalid(`no file and no key "${name}"`, {
    hint:
      only === ''
        ? undefined
        : others.length > 0
          ? meantText(near)
          : `did you mean "${['coffer transit envelope', verb, '--in', shellWord(only)].join(' ')}"?`,
  });
}

/** Returns the files of the same directory whose names are near. */
function filesNear(path: string): readonly string[] {
  const directory = dirname(path);
  const files = attempt(() => readdirSync(directory, { withFileTypes: true })) ?? [];
  const names = files.filter((entry) => entry.isFile()).map((entry) => entry.name);
  return nearest(basename(path), names).map((name) => (directory === '.' ? name : join(directory, name)));
}

/**
 * Takes the files after the key as values of `--in`.
 * @param needsKey false if the command can do without a key: the first word is then a file if a file has this name
 */
export function withFilesAsInput({ arguments: words, options }: Given, needsKey: boolean): Given {
  const [first] = words;
  const keys = !needsKey && first !== undefined && existsSync(first) ? 0 : 1;
  const files = words.slice(keys);
  if (files.length === 0) return { arguments: words, options };
  const named = [...textsOption(options, IN), ...files];
  return { arguments: words.slice(0, keys), options: new Map([...options, [IN, named]]) };
}

/**
 * Refuses a file in the place of the key to encrypt with, where the key may be among the files.
 * @param words arguments as typed
 * @throws `invalid` with the right order
 */
export function refuseFileBeforeKey(words: readonly string[]): void {
  const [file = '', ...others] = words;
  const key = others.find((word) => !existsSync(word));
  const isFile = isRegularFile(file);
  // A key may have the name of a file.
  if (!file.includes('/') && (!isFile || key === undefined)) return;
  const files = [file, ...others.filter((word) => word !== key)].map(shellWord);
  const command = ['coffer transit envelope encrypt', shellWord(key ?? 'KEY'), ...files].join(' ');
  const said = file.includes('/') ? `${file} is a ${isFile ? 'file' : 'path'}, not a key` : `no file ${key}`;
  throw invalid(`${said}: the key comes first, then the file`, { hint: `run "${command}"` });
}

/** Extensions of encrypted files, of this program and of others. */
const ENCRYPTED_COPY = /^\.(?:enc|coffer|age|gpg)$/;

/**
 * Refuses two files of which the second is named as an encrypted copy of the first, in the order of `cp`: encrypted as
 * well, it would become another file, and an old copy would be taken for the new one.
 * @param words arguments as typed
 * @throws `invalid` with the option for the result, and the one for whoever means both
 */
export function refuseCopyAsInput([key = '', file = '', copy, ...others]: readonly string[]): void {
  if (copy === undefined || others.length > 0 || !copy.startsWith(file)) return;
  if (!ENCRYPTED_COPY.test(copy.slice(file.length)) || !isRegularFile(file)) return;
  const [name, from, to] = [key, file, copy].map(shellWord);
  const command = `coffer transit envelope encrypt ${name}`;
  const hint = `to write to ${copy} use --out: "${command} ${from} --out ${to}"`;
  // The result of the first file has that name.
  const isResult = copy === `${file}.coffer`;
  throw invalid(`${copy} would be encrypted as well`, {
    hint: isResult ? hint : `${hint}; to encrypt both: "${command} --in ${from} ${to}"`,
  });
}

/**
 * Returns the error about a key that no key is, with the right order if a file has this name, and with the option for
 * recipients if it is one.
 * @param name key as typed
 */
export async function withKeyFirst(error: unknown, name: string, typed: Given): Promise<unknown> {
  const { arguments: words, options } = typed;
  const known = asCofferError(error);
  const { insteadOfRecipient } = await import('../parse/foreign.ts');
  const [file = 'FILE'] = textsOption(withFilesAsInput(typed, true).options, IN);
  const ofRecipient = known?.kind === 'not-found' ? insteadOfRecipient(name, file, false) : undefined;
  if (ofRecipient !== undefined) return notFound(`no key "${name}"`, { hint: ofRecipient, cause: error });
  if (known?.kind !== 'not-found' || words.length > 1 || options.has(IN) || !isRegularFile(name))
    return error;
  const out = textOption(options, 'out');
  const to = out === undefined ? '' : ` --out ${shellWord(out)}`;
  return new CofferError(known.kind, `${name} is a file, and no key has this name: the key comes first`, {
    hint: `run "coffer transit envelope encrypt KEY ${shellWord(name)}${to}"`,
    cause: error,
  });
}

/**
 * Runs work on files. Its errors name --in only if the user typed it.
 * @param typed as the user gave them
 */
export async function namingTyped<T>(typed: Given, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = asCofferError(error);
    if (known?.field !== IN || typed.options.has(IN)) throw error;
    throw new CofferError(known.kind, known.texts.message, { hint: known.texts.hint, cause: error });
  }
}

/**
 * Refuses the name of a file in the place of the key to encrypt with, if the command would wait for the terminal.
 * @throws `invalid`
 */
export async function refuseFileAsKey(session: Session, name: string, { options }: Given): Promise<void> {
  if (options.has(IN) || !session.streams.in.isTerminal) return;
  if (!isRegularFile(name)) return;
  const { hintWithKeys } = await import('../candidates.ts');
  const command = `run "coffer transit envelope encrypt KEY ${shellWord(name)}"`;
  throw invalid(`no key given to encrypt ${name} with`, {
    field: 'NAME',
    hint: `${await hintWithKeys(session, command)}; if ${name} is a key, use --in - for standard input`,
  });
}

export const contextOptions: readonly OptionSpec[] = optionsOf('context', context);

/** Returns the derivation context, in base64. */
export function contextOf(options: Options): string | undefined {
  const text = textOption(options, 'context-text');
  return text === undefined ? textOption(options, 'context') : utf8(text).toString('base64');
}

export const rangeOptions: readonly OptionSpec[] = [
  taking('offset', 'BYTES', 'Skip this many bytes of plaintext.'),
  taking('length', 'BYTES', 'Write at most this many bytes.'),
];

/**
 * Returns the requested range, or undefined for all.
 * @throws `invalid` if a value is not a number of bytes
 */
export function rangeOf(options: Options): ByteRange | undefined {
  const offset = byteCount(options, 'offset');
  const length = byteCount(options, 'length');
  if (offset === undefined && length === undefined) return undefined;
  return { offset: offset ?? 0, length };
}

const byteCount = (options: Options, flag: string): number | undefined =>
  numberOption(options, flag, /^\d{1,15}$/, 'use a number of bytes');

/** Returns a function that creates the value on its first call. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
