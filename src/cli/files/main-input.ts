import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { decodeBase64 } from '../../ground/base64.ts';
import { asCofferError, CofferError, closing, invalid } from '../../ground/errors.ts';
import type { InputHash, Operation } from '../../operations/declaration/operation.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { beginningOf } from './beginning.ts';
import { headOf } from './in-file.ts';
import { inputText, MAX_INPUT_BYTES, type OpenedInput, openInput } from './input.ts';
import { checkText, type RawValues } from './operation-values.ts';

/** Typed source of the input that fills a parameter of an operation. */
export interface TypedInput {
  readonly value: string | undefined;
  /** File of `--in`. */
  readonly file: string | undefined;
  /** Whether `--base64` is given. */
  readonly isBase64: boolean;
  /** Mount of the operation, if it is not that of all commands. */
  readonly mount: string | undefined;
}

/** Maximum size, in bytes, of an input that is sent unchanged without a request for the key's type. */
const ORDINARY_BYTES = 1 << 20;

/** Loads the code for large inputs, so that ordinary commands start without it. */
const largeInputs = () => import('./hashing.ts');

/**
 * Returns the parameters given by the main input of a command: the input itself, or a hash of it.
 * @param checked other parameters, parsed
 * @throws what any store would refuse, if the user could be asked to unlock one
 */
export async function mainInput(
  session: Session,
  operation: Operation,
  typed: TypedInput,
  checked: RawValues,
): Promise<RawValues> {
  const { input, largeInput } = operation.cli ?? {};
  if (input === undefined) return {};
  if (input.secret !== undefined) {
    const { askedSecret, refuseSecretArgument } = await import('./secret-input.ts');
    refuseSecretArgument(input.param, typed.value, checked);
    const secret = await askedSecret(session, { ...input, checked }, typed);
    if (secret !== undefined) return { [input.param]: secret };
  }
  const isText = input.as === 'text' || typed.isBase64;
  const filled = (bytes: Buffer): RawValues => {
    if (!isText) return { [input.param]: bytes.toString('base64') };
    const text = inputText(bytes, labelOf(operation));
    const param = operation.params[input.param];
    if (param !== undefined) checkText(param, text, labelOf(operation));
    return { [input.param]: text };
  };
  const parameters = await taken(session, operation, typed, {
    ofValue: filled,
    ofFile: async ({ input: from }) => {
      if (largeInput === undefined || isText) return filled(from.readAll(MAX_INPUT_BYTES));
      const start = headOf(from, ORDINARY_BYTES + 1);
      if (start.length <= ORDINARY_BYTES) return filled(start);
      const { hashInput, readRest } = await largeInputs();
      const hash = await largeInput.hash?.(checked, await session.runner());
      if (hash === undefined) return filled(readRest(from, start));
      return hash.of(await hashInput(session, from, start, hash.algorithm));
    },
  });
  if (session.settings.address === undefined && session.prompts.available())
    operation.cli?.requireValid?.({ ...checked, ...parameters });
  return parameters ?? {};
}

/** Returns the hash of the main input, computed locally. */
export async function hashedMainInput<T>(
  session: Session,
  operation: Operation,
  typed: TypedInput,
  hash: InputHash<T>,
): Promise<T> {
  const label = labelOf(operation);
  const ofBytes = (bytes: Buffer): T => {
    const input = typed.isBase64 ? decodeBase64(inputText(bytes, label), label) : bytes;
    return hash.of(createHash(hash.algorithm).update(input).digest());
  };
  const made = await taken(session, operation, typed, {
    ofValue: ofBytes,
    ofFile: async ({ input }) => {
      if (typed.isBase64) return ofBytes(input.readAll(MAX_INPUT_BYTES));
      const { hashInput } = await largeInputs();
      return hash.of(await hashInput(session, input, Buffer.alloc(0), hash.algorithm));
    },
  });
  return made ?? ofBytes(Buffer.alloc(0));
}

/**
 * Opens the input, processes it according to its type, and closes it.
 * @returns undefined if none was given
 */
async function taken<T>(
  session: Session,
  operation: Operation,
  { value, file }: TypedInput,
  { ofValue, ofFile }: { ofValue(bytes: Buffer): T; ofFile(opened: OpenedInput): Promise<T> },
): Promise<T | undefined> {
  const { fromFile, optional, onRequest } = operation.cli?.input ?? {};
  const { as, param } = operation.cli?.input ?? {};
  if (param === CIPHERTEXT) await refuseEnvelope(file ?? value);
  if (fromFile !== true && (as === 'bytes' || param === CIPHERTEXT)) warnOfText(session, operation, value);
  const opened = openInput(session, {
    value,
    file,
    valueIsFile: fromFile === true,
    label: labelOf(operation),
    optional: optional === true,
    onRequest: onRequest !== undefined,
  });
  if (opened === undefined) return undefined;
  if (Buffer.isBuffer(opened)) return ofValue(opened);
  if (opened.input.isTerminal) return ofValue(withoutLineEnd(opened.input.readAll(MAX_INPUT_BYTES)));
  return closing(opened, ofFile);
}

/** Returns what was typed without the last line end, which only ends the line: end of file is typed on an empty one. */
function withoutLineEnd(typed: Buffer): Buffer {
  const ending = ['\r\n', '\n'].find((end) => typed.subarray(-end.length).equals(Buffer.from(end))) ?? '';
  return typed.subarray(0, typed.length - ending.length);
}

/** Parameter of a ciphertext as text, for which some take the file that an envelope command has written. */
const CIPHERTEXT = 'ciphertext';

/**
 * Refuses the file of an envelope in the place of a ciphertext.
 * @param path file, or text that may be the name of one; a ciphertext has a colon
 * @throws `invalid` with the command for such a file
 */
async function refuseEnvelope(path: string | undefined): Promise<void> {
  if (path === undefined || path === '-' || path.includes(':') || !existsSync(path)) return;
  const { MAGIC } = await import('../../transit/envelope/header.ts');
  if (beginningOf(path, MAGIC.length)?.equals(MAGIC) !== true) return;
  throw invalid(`${path} is an encrypted file`, {
    hint: `run "coffer transit envelope decrypt --in ${shellWord(path)}"`,
  });
}

/** Warns that a text which is the name of a file does not stand for its contents, and one as Vault takes it for itself. */
function warnOfText(session: Session, { cli }: Operation, value: string | undefined): void {
  if (value === undefined || value === '-') return;
  const { param = '', what = '' } = cli?.input ?? {};
  if (value.startsWith(`${param}=`))
    session.warn(
      `"${param}=" at the beginning of the value was taken as part of the text (leave it out; for a base64 value, use --base64)`,
    );
  else if (!existsSync(value)) return;
  else if (!session.streams.err.isTerminal) {
    // Logs of scripts are kept, and the text may be a secret; hashes are computed of texts of any kind.
    if (param === 'plaintext' || param === CIPHERTEXT || cli?.input?.isOftenFile)
      session.warn(
        `${param === CIPHERTEXT ? what : `the ${param}`} is also the name of a file, and was taken as text (for the content of the file, use --in FILE)`,
      );
  } else
    session.warn(
      `"${value}" was taken as text, not as the name of a file (for the content of the file, use --in ${shellWord(value)})`,
    );
}

/** Returns the name of the input in messages. */
function labelOf({ cli, params }: Operation): string {
  const param = cli?.input?.param ?? '';
  return params[param]?.cli.metavar ?? param;
}

/** Text about an input of another format, which clients of Vault compare. */
const NOT_BASE64 = /^illegal base64 data at input byte /;

/**
 * Explains errors about the main input of a command: that it is too large, locally or for a server, or something else
 * than the command takes.
 * @param file name of the file that was read; undefined for another input
 */
export async function aboutInput(
  { cli = {} }: Operation,
  file: string | undefined,
  work: Promise<number>,
): Promise<number> {
  try {
    return await work;
  } catch (error) {
    const known = asCofferError(error);
    const { input, largeInput } = cli;
    if (known?.kind === 'too-large' && largeInput?.hint !== undefined)
      throw new CofferError(known.kind, known.texts.message, { hint: largeInput.hint });
    const { expected, param } = input ?? {};
    if (expected === undefined || known?.field !== param || !NOT_BASE64.test(known?.message ?? ''))
      throw error;
    const name = file === undefined || file === '-' ? 'the input' : file;
    throw new CofferError('invalid', `${name} is not ${expected.what}`, {
      hint: expected.hint,
      cause: error,
    });
  }
}
