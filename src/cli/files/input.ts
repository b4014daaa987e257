import { asCofferError, CofferError, invalid } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import type { Input } from '../terminal/streams.ts';
import { openInFile, readFileWhole } from './in-file.ts';

/** Larger values would not fit into the texts that carry them as base64. */
export const MAX_INPUT_BYTES = 256 * 2 ** 20;

const STANDARD_INPUT = '-';

/** Where a command's main value comes from, as it was typed. */
export interface InputSource {
  /** The VALUE; `-` means standard input. */
  readonly value: string | undefined;
  /** VALUE is the name of a file. */
  readonly valueIsFile: boolean;
  /** `--in FILE`. */
  readonly file: string | undefined;
  /** How messages call the value. */
  readonly label: string;
  /** Without a VALUE or a file, a terminal is not read from: there is no value then. */
  readonly optional: boolean;
  /** Without a VALUE or a file there is no value. */
  readonly onRequest: boolean;
}

/** A file or standard input, opened. */
export interface OpenedInput {
  readonly input: Input;
  close(): void;
}

/**
 * A command's main value: the bytes of the text VALUE, or a file or standard input to read it from.
 * @returns the bytes of a VALUE; undefined when it is optional and nothing was given.
 * @throws `invalid` for VALUE and file at once, or a file that can't be opened.
 */
export function openInput(session: Session, source: InputSource): OpenedInput | Buffer | undefined {
  const { value, file } = source;
  if (value !== undefined && file !== undefined) {
    throw invalid(`${source.label} and --in exclude each other`, { hint: 'give one of them' });
  }
  const path = file ?? (source.valueIsFile ? value : undefined);
  if (path !== undefined && path !== STANDARD_INPUT) {
    const input = openInFile(path, file === undefined ? source.label : 'in');
    return { input, close: () => input.close() };
  }
  if (path === undefined && value !== undefined && value !== STANDARD_INPUT) return Buffer.from(value);
  const isAbsent = source.onRequest || (source.optional && session.streams.in.isTerminal);
  if (value === undefined && path === undefined && isAbsent) return undefined;
  announceStandardInput(session);
  return { input: session.streams.in, close: () => undefined };
}

/**
 * A file that is a short text, such as a key.
 * @param maxBytes whole kibibytes.
 * @throws `invalid` when it is no text, `too-large` when it can't be what is wanted.
 */
export function readShortText(path: string, field: string, maxBytes: number): string {
  try {
    return inputText(readFileWhole(path, field, maxBytes), field);
  } catch (error) {
    const known = asCofferError(error);
    if (known?.kind !== 'too-large') throw error;
    throw new CofferError('too-large', `${path} is larger than ${maxBytes / 1024} KiB`, {
      field,
      hint: 'is it the right file?',
    });
  }
}

/** Everything on standard input. Nothing waits silently: on a terminal it is said what is waited for. */
export function readStandardInput(session: Session): Buffer {
  announceStandardInput(session);
  return session.streams.in.readAll(MAX_INPUT_BYTES);
}

export function announceStandardInput(session: Session): void {
  if (!session.streams.in.isTerminal) return;
  const end = process.platform === 'win32' ? 'Ctrl-Z and Enter' : 'Ctrl-D';
  session.say(`reading from standard input… (end with ${end} on a line of its own)`);
}

/**
 * Bytes as text, without the newline that editors and `echo` put at the end.
 * @throws `invalid` when they are not UTF-8.
 */
export function inputText(bytes: Buffer, label: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch {
    throw invalid('this is not text', { field: label, hint: 'binary data can not be right here' });
  }
}
