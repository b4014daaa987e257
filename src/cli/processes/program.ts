import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../given.ts';

/** Where programs are looked for when there is no PATH, as execvp has it. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** What a command word led to; the exit codes are those of shells. */
export type Found =
  | { readonly kind: 'program'; readonly path: string }
  | { readonly kind: 'not-found' }
  /** There is something of the name, but this user may not run it. */
  | { readonly kind: 'not-executable'; readonly path: string };

/** Looks for a program as the system does: a name with a slash is a path, any other is looked for in the directories of PATH. */
export function findProgram(
  name: string,
  environment: Environment,
  platform: string = process.platform,
): Found {
  const candidates =
    platform === 'win32' ? candidatesOnWindows(name, environment) : candidatesFor(name, environment);
  if (candidates === undefined) return judged(name);
  let refused: Found | undefined;
  for (const candidate of candidates) {
    const found = judged(candidate);
    if (found.kind === 'program') return found;
    if (found.kind === 'not-executable' && !isDirectory(found.path)) refused ??= found;
  }
  return refused ?? { kind: 'not-found' };
}

/** Undefined for a path. */
const candidatesFor = (name: string, environment: Environment): readonly string[] | undefined =>
  name.includes('/')
    ? undefined
    : (environment['PATH'] ?? DEFAULT_PATH)
        .split(':')
        // An empty one is the working directory.
        .map((directory) => (directory === '' ? `./${name}` : join(directory, name)));

/** There a program is what has one of the endings of PATHEXT, which may be left out; variables are called `Path` as well as `PATH`. */
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

function judged(path: string): Found {
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

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** So much of a program says what it is: the head of an ELF file with the table that names its loader, the first line of a script. */
const HEAD_BYTES = 4096;
const SCRIPT = Buffer.from('#!');
const ELF = Buffer.from('\x7fELF', 'latin1');
/** Mach-O of one architecture, 64 bits, and of several. */
const MACH_O = [Buffer.from([0xcf, 0xfa, 0xed, 0xfe]), Buffer.from([0xca, 0xfe, 0xba, 0xbe])];

/**
 * Whether the system will surely start a program when it is to replace this process: a failure then could not be told, because
 * this process would be gone. A script without a first line that names its interpreter, a program for another processor,
 * and one whose loader is missing are not sure.
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

/** The loader (PT_INTERP) that a 64-bit, little-endian ELF file names; of any other format none is known. */
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

/** What is readable of a program's beginning: a program may be executable and not readable. */
function headOf(path: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const descriptor = openSync(path, 'r');
    try {
      readSync(descriptor, head, 0, HEAD_BYTES, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // It stays empty, and nothing is known of it.
  }
  return head;
}
