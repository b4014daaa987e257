import { isUtf8 } from 'node:buffer';
import { readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { isRegularFile, isThere } from '../../ground/directories.ts';
import {
  asCofferError,
  attempt,
  CofferError,
  conflict,
  exists,
  invalid,
  throwing,
  unsupported,
  withOtherHint,
} from '../../ground/errors.ts';
import {
  type FileFormat,
  type FileFormatName,
  FORMAT_NAMES,
  type SecretFile,
  UNRESOLVED,
} from '../../secret-files/format.ts';
import { formatOf, loadFormat, MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { MAGIC } from '../../transit/envelope/header.ts';
import { beginningOf } from '../files/beginning.ts';
import { readFileWhole } from '../files/in-file.ts';
import { readFileOrInput, STANDARD } from '../files/input.ts';
import { writeOutFile } from '../files/out-file.ts';
import { refuseWayOut, unmergedSides } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** File as read, or a text that will become one. */
export interface ReadFile {
  /** Path in error messages. */
  readonly path: string;
  readonly format: FileFormat;
  readonly file: SecretFile;
}

/** File whose values are encrypted one by one, as read. */
export interface OpenFile {
  readonly path: string;
  readonly format: FileFormat;
  readonly file: SecretFile;
  /** Bytes on disk; empty, without stats, if the file does not exist yet. */
  readonly bytes: Buffer;
  readonly stats: Stats | undefined;
}

export const FILE = 'FILE';

/**
 * Reads a file. A symbolic link is followed: its target is read, and later replaced.
 * @param format format if the name does not tell it
 * @throws `invalid` if it cannot be read, is not text, or is not in the format
 */
export async function openSecretFile(path: string, format?: FileFormatName): Promise<OpenFile> {
  const stats = statSync(path, { throwIfNoEntry: false });
  // Checked before it is opened: a pipe would block forever.
  if (stats !== undefined) refuseIrregular(path, stats);
  else refuseStandardInput(path);
  if (stats?.isDirectory() === true)
    throw invalid(`cannot read ${path}: is a directory`, {
      field: FILE,
      hint: 'name the files in the directory; "coffer secrets check" lists those that are not encrypted and have a rule',
    });
  const bytes = readFileWhole(path, FILE, MAX_FILE_BYTES);
  const parsed = await parsedFile(path, bytes, format).catch(
    throwing((error) => withConflictHint(error, path)),
  );
  return { ...parsed, stats: stats ?? statSync(path) };
}

/** Adds, to the error for a merge conflict whose sides git has, the command that shows them decrypted. */
function withConflictHint(error: unknown, path: string): unknown {
  const known = asCofferError(error);
  if (known?.message.endsWith(UNRESOLVED) !== true || unmergedSides(path) === undefined) return error;
  return withOtherHint(
    known,
    `run "coffer edit ${shellWord(path)}", which shows both sides decrypted, then "git add ${shellWord(path)}"`,
  );
}

/**
 * Refuses the word for standard input where a file is written.
 * @param path path of a file that does not exist
 */
export function refuseStandardInput(path: string): void {
  if (path !== STANDARD) return;
  throw invalid('standard input (-) is not accepted here', {
    field: FILE,
    hint: 'name a file; "coffer secrets decrypt - --format dotenv" reads standard input',
  });
}

/** Reads a file; if it does not exist, returns the initial content of a new one. */
export async function openOrNewFile(path: string, format?: FileFormatName): Promise<OpenFile> {
  if (isThere(path)) return openSecretFile(path, format);
  refuseStandardInput(path);
  const reader = await formatFor(path, format);
  const file = reader.parse(reader.name === 'json' ? '{}\n' : '', path);
  return { path, format: reader, file, bytes: Buffer.alloc(0), stats: undefined };
}

/** Parses bytes like a file of that name. */
export async function parsedFile(
  path: string,
  bytes: Buffer,
  format: FileFormatName | undefined,
): Promise<Omit<OpenFile, 'stats'>> {
  const reader = await formatFor(path, format);
  return { path, format: reader, file: reader.parse(textOf(path, bytes), path), bytes };
}

/**
 * Returns the parser for a file of that name.
 * @param hasOption whether the command has the option `--format`
 * @throws `unsupported` if its format is unknown
 */
export const formatFor = (
  path: string,
  format: FileFormatName | undefined,
  hasOption = true,
): Promise<FileFormat> => loadFormat(format ?? formatOf(path) ?? unknownFormat(path, hasOption));

function refuseIrregular(path: string, stats: Stats): void {
  if (!stats.isFile() && !stats.isDirectory())
    throw invalid(`${path} is not a regular file`, { field: FILE });
  requireReadable(path, stats);
}

/** @throws `too-large` */
export function requireReadable(path: string, { size }: Pick<Stats, 'size'>): void {
  if (size > MAX_FILE_BYTES) throw tooLarge(path);
}

const tooLarge = (path: string): CofferError =>
  new CofferError('too-large', `${path} is larger than ${MAX_FILE_BYTES / 2 ** 20} MiB`, {
    hint: 'encrypt the whole file with "coffer transit envelope encrypt"',
  });

/**
 * Refuses a text that no command could read again.
 * @throws `too-large`
 */
export function refuseUnreadable(path: string, text: string): void {
  if (Buffer.byteLength(text) <= MAX_FILE_BYTES) return;
  throw new CofferError(
    'too-large',
    `${path} would be larger than ${MAX_FILE_BYTES / 2 ** 20} MiB; nothing was written`,
    {
      hint: 'divide the file, encrypt fewer values ("only:" in .coffer.yaml), or encrypt the whole file with "coffer transit envelope encrypt"',
    },
  );
}

const isEnvelope = (bytes: Buffer | undefined): boolean =>
  bytes?.subarray(0, MAGIC.length).equals(MAGIC) === true;

const encryptedWhole = (path: string): CofferError =>
  unsupported(`${path} is an envelope: the file is encrypted as a whole`, {
    hint: `run "coffer transit envelope decrypt --in ${shellWord(path)}"`,
  });

/** Decodes a file. A byte order mark is kept as part of the text. */
export function textOf(path: string, bytes: Buffer): string {
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(path);
  if (isUtf8(bytes)) return bytes.toString();
  if (isEnvelope(bytes) && isRegularFile(path)) throw encryptedWhole(path);
  throw invalid(`${path} is not UTF-8`, {
    hint: 'encrypt the whole file with "coffer transit envelope encrypt"',
  });
}

const unknownFormat = (path: string, hasOption: boolean): never => {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw invalid(`cannot read ${path}: is a directory`);
  if (isEnvelope(beginningOf(path, MAGIC.length))) throw encryptedWhole(path);
  if (hasOption && isPipedFile(path))
    throw unsupported(`cannot tell the format of ${path === STANDARD ? 'standard input' : path}`, {
      hint: `use --format ${FORMAT_NAMES.join('|')}`,
    });
  throw unsupported(`cannot tell the format of ${path} from its name`, {
    hint: `${hasOption ? `use --format ${FORMAT_NAMES.join('|')}, or ` : ''}set format: in .coffer.yaml`,
  });
};

/**
 * Replaces a file atomically, keeping its mode and owner; a new file is accessible only to its owner.
 * @throws `conflict` if the file was changed since it was read; `exists` if it was created since; `invalid` if a link
 * leaves the repository; `too-large` if it could not be read again
 */
export async function replaceSecretFile(
  { path, bytes, stats }: Pick<OpenFile, 'path' | 'bytes' | 'stats'>,
  text: string,
): Promise<void> {
  const isNew = stats === undefined;
  if (!isNew && bytes.equals(Buffer.from(text))) return;
  refuseUnreadable(path, text);
  if (isNew) refuseDangling(path);
  refuseWayOut(path, path);
  const place = isNew ? { path, replace: false } : { path, replace: true, like: stats };
  const written = writeOutFile(place, text, () => {
    if (isNew || isSame(path, bytes)) return;
    throw conflict(`${path} was changed by another process; nothing was written`, {
      hint: 'review the file and run the command again',
    });
  });
  await written.catch(throwing((error) => createdMeanwhile(error, path)));
}

/** Returns, in place of the refusal to replace a file, which here was not there before, what to do. */
function createdMeanwhile(error: unknown, path: string): unknown {
  if (asCofferError(error)?.kind !== 'exists') return error;
  return exists(`${path} was created by another process; nothing was written`, {
    hint: 'run the command again',
  });
}

/** Refuses a link to nothing, which a new file would replace. */
function refuseDangling(path: string): void {
  const target = attempt(() => readlinkSync(path));
  if (target === undefined) return;
  throw invalid(`${path} is a symbolic link to ${target}, which does not exist`, {
    field: FILE,
    hint: 'create that file, or remove the link',
  });
}

const isSame = (path: string, bytes: Buffer): boolean =>
  attempt(() => readFileSync(path).equals(bytes)) === true;

/** Descriptors that this process has inherited, as shells name those of `<(…)`. Another pipe might block forever. */
const DESCRIPTOR = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;

/** Whether a path is standard input, or a pipe that the shell opened for this command. */
export const isPipedFile = (path: string): boolean =>
  path === STANDARD ||
  (DESCRIPTOR.test(path) && statSync(path, { throwIfNoEntry: false })?.isFIFO() === true);

/**
 * Reads standard input or a pipe to its end.
 * @param format format from the command line; the path does not tell any
 * @throws `unsupported` without a format; `invalid` if it is empty, as if it was read before
 */
export async function openPipedFile(
  session: Session,
  path: string,
  format: FileFormatName | undefined,
): Promise<ReadFile> {
  // Checked before the input is waited for.
  await formatFor(path, format);
  const bytes = readFileOrInput(session, path, FILE, MAX_FILE_BYTES);
  if (bytes.length === 0)
    throw invalid(path === STANDARD ? 'standard input (-) is empty' : `${path} is empty`, {
      field: FILE,
      hint: 'pipe the encrypted file in, and name this input only once',
    });
  return parsedFile(path, bytes, format);
}
