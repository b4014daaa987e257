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
const ELF = Buffer.from('\x7fELF', 'latin1');
/** Magic numbers of 64-bit Mach-O files and of universal ones. */
const MACH_O = [Buffer.from([0xcf, 0xfa, 0xed, 0xfe]), Buffer.from([0xca, 0xfe, 0xba, 0xbe])];

/**
 * Whether the system can certainly start a program that replaces this process, since a failure could no longer be
 * reported. A script without an interpreter line, a program for another processor, and one whose loader is missing are
 * uncertain.
 */
export function startsSurely(path: string): boolean {
  const head = headOf(path);
  if (starts(head, SCRIPT)) {
    const [interpreter = ''] = head.toString('latin1', 2).split('\n', 1)[0]?.trim().split(/[ \t]/) ?? [];
    return (
      interpreter.startsWith('/') &&
      judged(interpreter).kind === 'program' &&
      isOwnFormat(headOf(interpreter))
    );
  }
  return isOwnFormat(head);
}

const starts = (head: Buffer, magic: Buffer): boolean => head.subarray(0, magic.length).equals(magic);

function isOwnFormat(head: Buffer): boolean {
  if (process.platform === 'darwin') return MACH_O.some((magic) => starts(head, magic));
  if (!starts(head, ELF)) return false;
  const own = headOf(process.execPath);
  const sameMachine =
    head.subarray(4, 6).equals(own.subarray(4, 6)) && head.subarray(18, 20).equals(own.subarray(18, 20));
  const loader = sameMachine ? loaderOf(head) : undefined;
  return sameMachine && (loader === undefined || judged(loader).kind === 'program');
}

/** Returns the loader (PT_INTERP) of a 64-bit little-endian ELF file; undefined for any other format. */
function loaderOf(head: Buffer): string | undefined {
  const IS_64_BIT_LITTLE_ENDIAN = Buffer.from([2, 1]);
  const PT_INTERP = 3;
  if (!head.subarray(4, 6).equals(IS_64_BIT_LITTLE_ENDIAN)) return undefined;
  const table = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  for (let at = table; at < table + size * count && at + 56 <= head.length; at += size) {
    if (head.readUInt32LE(at) !== PT_INTERP) continue;
    const from = Number(head.readBigUInt64LE(at + 8));
    return head.toString('latin1', from, head.indexOf(0, from));
  }
  return undefined;
}

/** Reads the beginning of a program; empty for one that can be executed but not read. */
const headOf = (path: string): Buffer => beginningOf(path, HEAD_BYTES) ?? Buffer.alloc(0);
