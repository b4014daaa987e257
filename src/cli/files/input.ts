import { existsSync } from 'node:fs';
import { CofferError, expected, invalid } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import type { Input } from '../terminal/streams.ts';
import { openInFile, readFileWhole } from './in-file.ts';

/** Maximum size of an input, in bytes. Larger values do not fit into the strings that carry them as base64. */
export const MAX_INPUT_BYTES = 256 * 2 ** 20;

/** Name of standard input or output in the place of a file. */
export const STANDARD = '-';

/** Source of a command's main value, as typed. */
interface InputSource {
  /** VALUE argument; `-` means standard input. */
  readonly value: string | undefined;
  /** Whether VALUE is a file name. */
  readonly valueIsFile: boolean;
  /** File of `--in`. */
  readonly file: string | undefined;
  /** Name of the value in messages. */
  readonly label: string;
  /** Whether there is no value if neither VALUE nor a file is given and standard input is a terminal. */
  readonly optional: boolean;
  /** Whether there is no value if neither VALUE nor a file is given. */
  readonly onRequest: boolean;
}

/** Opened file or standard input. */
export interface OpenedInput {
  readonly input: Input;
  close(): void;
}

/**
 * Opens a command's main value: the bytes of the text VALUE, or a file or standard input.
 * @returns the bytes of a VALUE; undefined if it is optional and not given
 * @throws `invalid` if both VALUE and a file are given, or a file cannot be opened
 */
export function openInput(session: Session, source: InputSource): OpenedInput | Buffer | undefined {
  const { value, file } = source;
  if (value !== undefined && file !== undefined) {
    throw invalid(`${source.label} cannot be used with --in`, { hint: 'use only one of them' });
  }
  const path = file ?? (source.valueIsFile ? value : undefined);
  if (path !== undefined && path !== STANDARD) {
    const input = openInFile(path, file === undefined ? source.label : 'in');
    return { input, close: () => input.close() };
  }
  if (path === undefined && value !== undefined && value !== STANDARD) return Buffer.from(value);
  const isAbsent = source.onRequest || (source.optional && session.streams.in.isTerminal);
  if (value === undefined && path === undefined && isAbsent) return undefined;
  announceStandardInput(session, value === undefined && path === undefined ? source.label : undefined);
  return { input: session.streams.in, close: () => undefined };
}

/**
 * Reads a file that contains a short text, such as a key.
 * @param maxBytes maximum size, a multiple of 1024
 * @throws `invalid` if it is not text; `too-large` if it is larger
 */
export function readShortText(path: string, field: string, maxBytes: number): string {
  try {
    return inputText(readFileWhole(path, field, maxBytes), field);
  } catch (error) {
    expected(error, 'too-large');
    throw new CofferError('too-large', `${path} is larger than ${maxBytes / 1024} KiB`, {
      field,
      hint: 'check that it is the right file',
    });
  }
}

/** Reads all of standard input. On a terminal, a message says what it waits for. */
export function readStandardInput(session: Session, maxBytes = MAX_INPUT_BYTES): Buffer {
  announceStandardInput(session);
  return session.streams.in.readAll(maxBytes);
}

/** Reads a file, or all of standard input for `-`. */
export const readFileOrInput = (session: Session, path: string, field: string, maxBytes: number): Buffer =>
  path === STANDARD ? readStandardInput(session, maxBytes) : readFileWhole(path, field, maxBytes);

/**
 * Says what the command waits for on a terminal.
 * @param omitted argument that standard input stands in for because it was not given
 */
export function announceStandardInput(session: Session, omitted?: string): void {
  if (!session.streams.in.isTerminal) return;
  const end = process.platform === 'win32' ? 'Ctrl-Z and Enter' : 'Ctrl-D';
  const why = omitted === undefined ? '' : `No ${omitted} given. `;
  session.say(`${why}Reading from standard input, end with ${end} on an empty line…`);
}

/**
 * Decodes a text without the newline that editors and `echo` append.
 * @throws `invalid` if it is not UTF-8
 */
export function inputText(bytes: Buffer, label: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw invalid('the input is not text', { field: label, hint: 'binary data is not accepted here' });
  }
}

/* Values that are either a text, such as a public key, or the name of a file that contains it. */

/** Suffix of the metavar of such an option or argument: `KEY|FILE`. */
export const OR_FILE = '|FILE';

/**
 * Reads a value that is a text or a file name. A value that looks like the text is never taken for a file: in a
 * directory with files of others, such as downloads, a file may be named like the text.
 * @param given.isText whether the value can only be the text, even if it is invalid
 * @param given.ofText reads the text
 * @param given.ofFile reads the file of that name
 * @returns result of `ofText` or `ofFile`
 * @throws their errors; if the value is neither, the error of `ofText`
 */
export function textOrFile<T>(
  value: string,
  given: {
    readonly isText: (value: string) => boolean;
    readonly ofText: (text: string) => T;
    readonly ofFile: (path: string) => T;
  },
): T {
  if (given.isText(value) || !existsSync(value)) return given.ofText(value);
  return given.ofFile(value);
}
