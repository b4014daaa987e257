import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import { type Environment, variable } from '../given.ts';
import { beginningOf } from './beginning.ts';

/** Search path without a PATH variable, as in execvp. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** Result of a search for a program; the exit codes are those of shells. */
type ProgramSearch =
  | { readonly kind: 'program'; readonly path: string }
  | { readonly kind: 'not-found' }
  /** A file of that name exists, but this user may not execute it. */
  | { readonly kind: 'not-executable'; readonly path: string };

/**
 * Finds a program as the system does: a name with a slash is a path, any other is searched for in the directories of
 * PATH.
 */
export function findProgram(
  name: string,
  environment: Environment,
  platform: string = process.platform,
): ProgramSearch {
  const candidates =
    platform === 'win32' ? candidatesOnWindows(name, environment) : candidatesFor(name, environment);
  return candidates === undefined ? judged(name) : firstProgram(candidates);
}

/**
 * Finds a program that is installed: only absolute directories of PATH count, so that nothing in the working directory
 * is run.
 * @param name file name, on Windows with its extension
 */
export function findInstalled(name: string, environment: Environment): string | undefined {
  const directories = (variable(environment, 'PATH') ?? '').split(delimiter).filter(isAbsolute);
  const found = firstProgram(directories.map((directory) => join(directory, name)));
  return found.kind === 'program' ? found.path : undefined;
}

/** Returns the first of these paths that is a program. */
function firstProgram(candidates: readonly string[]): ProgramSearch {
  let refused: ProgramSearch | undefined;
  for (const candidate of candidates) {
    const found = judged(candidate);
    if (found.kind === 'program') return found;
    if (found.kind === 'not-executable' && !isDirectory(found.path)) refused ??= found;
  }
  return refused ?? { kind: 'not-found' };
}

/** Returns the candidate paths of a name; undefined for a path. */
const candidatesFor = (name: string, environment: Environment): readonly string[] | undefined =>
  name.includes('/')
    ? undefined
    : (environment['PATH'] ?? DEFAULT_PATH)
        .split(':')
        // An empty one is the working directory.
        .map((directory) => (directory === '' ? `./${name}` : join(directory, name)));

/**
 * Returns the candidates on Windows, where programs have one of the extensions of PATHEXT, which may be omitted, and
 * variables may be named `Path` as well as `PATH`.
 */
function candidatesOnWindows(name: string, environment: Environment): readonly string[] {
  const valueNamed = (wanted: string): string | undefined =>
    Object.entries(environment).find(([variable]) => variable.toUpperCase() === wanted)?.[1];
  const endings = (valueNamed('PATHEXT') ?? '.COM;.EXE;.BAT;.CMD')
    .split(';')
    .filter((ending) => ending !== '');
  const hasEnding = endings.some((ending) => name.toUpperCase().endsWith(ending.toUpperCase()));
  const names = hasEnding ? [name] : endings.map((ending) => `${name}${ending.toLowerCase()}`);
  if (/[\\/]/.test(name)) return names;
  const directories = (valueNamed('PATH') ?? '').split(';').filter((directory) => directory !== '');
  return directories.flatMap((directory) => names.map((file) => join(directory, file)));
}

function judged(path: string): ProgramSearch {
  try {
    if (!statSync(path).isFile()) return { kind: 'not-executable', path };
    accessSync(path, constants.X_OK);
    return { kind: 'program', path };
  } catch (error) {
    const missing = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(
      String((error as NodeJS.ErrnoException).code),
    );
    return missing ? { kind: 'not-found' } : { kind: 'not-executable', path };
  }
}

const isDirectory = (path: string): boolean => attempt(() => statSync(path).isDirectory()) === true;

/**
 * Number of bytes that identify a program: the headers of an ELF file that name its loader, or the first line of a
 * script.
 */
const HEAD_BYTES = 4096;
const SCRIPT = Buffer.from('#!');
/** Length of an interpreter line, in bytes, that every system reads in full. */
const MOST_LINE_BYTES = 125;
const ELF = Buffer.from('\x7fELF', 'latin1');
/** Magic numbers of 64-bit Mach-O files and of universal ones. */
const MACH_O = [Buffer.from([0xcf, 0xfa, 0xed, 0xfe]), Buffer.from([0xca, 0xfe, 0xba, 0xbe])];

/**
 * Whether the system can certainly start a program that replaces this process, since a failure could no longer be
 * reported. A script without an interpreter line, a program for another processor, and one whose loader is missing are
 * uncertain; so is a file of which a part is missing.
 */
export function startsSurely(path: string): boolean {
  const head = headOf(path);
  if (starts(head, SCRIPT)) {
    const [line = ''] = head.toString('latin1', 2).split('\n', 1);
    const [interpreter = ''] = line.trim().split(/[ \t]/);
    return (
      line.length < MOST_LINE_BYTES &&
      interpreter.startsWith('/') &&
      judged(interpreter).kind === 'program' &&
      !isBeingWritten(interpreter) &&
      isOwnFormat(headOf(interpreter))
    );
  }
  return isOwnFormat(head);
}

const starts = (head: Buffer, magic: Buffer): boolean => head.subarray(0, magic.length).equals(magic);

function isOwnFormat(head: Buffer): boolean {
  if (process.platform === 'darwin') return MACH_O.some((magic) => starts(head, magic));
  if (!isOfThisMachine(head)) return false;
  // Others are not parsed.
  if (!isCommon(head)) return true;
  const segments = segmentsOf(head);
  const loader = segments?.find(({ type }) => type === PT_INTERP);
  return segments !== undefined && (loader === undefined || isLoader(head, loader));
}

/** Whether it is an ELF file for this processor. */
function isOfThisMachine(head: Buffer): boolean {
  if (!starts(head, ELF)) return false;
  const own = headOf(process.execPath);
  return head.subarray(4, 6).equals(own.subarray(4, 6)) && head.subarray(18, 20).equals(own.subarray(18, 20));
}

/**
 * Whether a file is an ELF file of which the system can start nothing, such as an object file or one that is not whole.
 * A C library would run it as a script of the shell.
 */
export function isBroken(path: string): boolean {
  const head = headOf(path);
  if (!starts(head, ELF)) return false;
  return (
    head.length < HEADER_BYTES || (isCommon(head) && isOfThisMachine(head) && segmentsOf(head) === undefined)
  );
}

const IS_64_BIT_LITTLE_ENDIAN = Buffer.from([2, 1]);
const isCommon = (head: Buffer): boolean => starts(head.subarray(4), IS_64_BIT_LITTLE_ENDIAN);
/** Types of ELF files that are programs (ET_EXEC, ET_DYN), not object files or core dumps. */
const PROGRAMS: ReadonlySet<number> = new Set([2, 3]);
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const PT_LOAD = 1;
const PT_INTERP = 3;

/** A segment of an ELF file: its type, and where it is in the file. */
interface Segment {
  readonly type: number;
  readonly from: number;
  readonly bytes: number;
}

/** Returns the segments of a 64-bit little-endian ELF file; undefined if they are not those of a program. */
function segmentsOf(head: Buffer): readonly Segment[] | undefined {
  if (head.length < HEADER_BYTES) return undefined;
  const table = Number(head.readBigUInt64LE(32));
  const count = head.readUInt16LE(56);
  const isWhole = head.readUInt16LE(54) === SEGMENT_BYTES && table + SEGMENT_BYTES * count <= head.length;
  if (!isWhole || !PROGRAMS.has(head.readUInt16LE(16))) return undefined;
  const segments = Array.from({ length: count }, (_, index) => {
    const segment = head.subarray(table + SEGMENT_BYTES * index);
    return {
      type: segment.readUInt32LE(0),
      from: Number(segment.readBigUInt64LE(8)),
      bytes: Number(segment.readBigUInt64LE(32)),
    };
  });
  return segments.some(({ type }) => type === PT_LOAD) ? segments : undefined;
}

function isLoader(head: Buffer, { from, bytes }: Segment): boolean {
  const end = from + bytes - 1;
  if (end >= head.length || head.indexOf(0, from) !== end) return false;
  return judged(head.toString('latin1', from, end)).kind === 'program';
}

/** Reads the beginning of a program; empty for one that can be executed but not read. */
const headOf = (path: string): Buffer =>
  attempt(() => beginningOf(path, HEAD_BYTES)?.subarray(0, statSync(path).size)) ?? Buffer.alloc(0);

/** Whether a file is no script: its first line has a NUL. */
export function isBinary(path: string): boolean {
  const head = headOf(path);
  const [line, nul] = [head.indexOf('\n'), head.indexOf(0)];
  return starts(head, ELF) || (nul !== -1 && (line === -1 || nul < line));
}

/** Time after the last change during which the writer of a program may still have it open, in milliseconds. */
const WRITTEN_MS = 60_000;

/** Whether a program was changed a moment ago: while another process has it open for writing, it does not start. */
export function isBeingWritten(path: string): boolean {
  const changed = attempt(() => statSync(path).mtimeMs);
  return changed === undefined || Math.abs(Date.now() - changed) < WRITTEN_MS;
}
