import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { asCofferError, conflict, invalid } from '../../ground/errors.ts';
import { DONE, exitCodeOf } from '../exit-codes.ts';
import { refuseSameFile } from '../files/out-file.ts';
import { type Given, textOption, textsOption } from '../given.ts';
import { IN, OUT } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { errorLine } from '../terminal/report.ts';
import { FORCE, OUT_DIR } from './options.ts';

/** The ending of encrypted files. */
export const ENDING = '.coffer';
const STANDARD = '-';

/** Something to read. */
export interface InputFile {
  /** Undefined for standard input. */
  readonly path: string | undefined;
  /** What it is called below the directory that was named, or its own name. */
  readonly name: string;
}

/** What is read from where, and where the result goes. */
export interface Job {
  /** Undefined for standard input. */
  readonly from: string | undefined;
  /** Undefined for standard output. */
  readonly to: string | undefined;
}

/** How a command treats names of files. */
export interface Naming {
  /** Whether a file found in a directory is meant at all. */
  isMeant(name: string): boolean;
  /** What the result is called. @throws `invalid` when that can't be told. */
  resultOf(name: string): string;
}

export const encryptedNames: Naming = {
  isMeant: (name) => !name.endsWith(ENDING),
  resultOf: (name) => `${name}${ENDING}`,
};

export const decryptedNames: Naming = {
  isMeant: (name) => name.endsWith(ENDING),
  resultOf(name) {
    if (name.endsWith(ENDING) && basename(name) !== ENDING) return name.slice(0, -ENDING.length);
    throw invalid(`the name ${name} does not end in ${ENDING}, so what is the result to be called?`, {
      field: IN,
      hint: 'decrypt it alone, with --out FILE',
    });
  },
};

/**
 * The files that `--in` names, directories searched; standard input when it names none.
 * @throws `invalid` when one is missing, or a directory has none.
 */
export function inputsOf(options: Given['options'], isMeant: Naming['isMeant']): readonly InputFile[] {
  const named = textsOption(options, IN);
  if (named.length === 0) return [{ path: undefined, name: STANDARD }];
  return named.flatMap((path) => {
    if (path === STANDARD) return [{ path: undefined, name: STANDARD }];
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return filesBelow(path, isMeant);
    return [{ path, name: basename(path) }];
  });
}

/** What `--in` means by a directory. @throws `invalid` when it has nothing. */
function filesBelow(directory: string, isMeant: Naming['isMeant']): readonly InputFile[] {
  const files = regularFilesBelow(directory)
    .filter((path) => isMeant(basename(path)))
    .sort();
  if (files.length === 0) {
    throw invalid(`there is nothing to do in ${directory}`, {
      field: IN,
      hint: isMeant(ENDING)
        ? `no file there ends in ${ENDING}`
        : `no file is there, but for those that end in ${ENDING}`,
    });
  }
  return files.map((path) => ({ path, name: relative(directory, path) }));
}

/** A link could lead out of the directory, or round in circles: Node's own recursion follows those to directories. */
function regularFilesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return regularFilesBelow(path);
    // A pipe could wait for ever.
    return entry.isFile() ? [path] : [];
  });
}

/**
 * Decides before anything is done where each result goes: `--out` for one, else `--out-dir`, else beside each of
 * several inputs, else standard output.
 * @param replace Results may replace files that exist.
 * @throws `invalid` when two results would have one name, `conflict` when one exists already.
 */
export function jobsOf(options: Given['options'], naming: Naming, replace: boolean): readonly Job[] {
  const inputs = inputsOf(options, naming.isMeant);
  const named = textsOption(options, IN);
  const directory = textOption(options, OUT_DIR);
  const several =
    inputs.length > 1 || named.some((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  const out = textOption(options, OUT);
  if (!several && directory === undefined) {
    const from = inputs[0]?.path;
    const to = out === STANDARD ? undefined : out;
    refuseSameFile(from, to);
    return [{ from, to }];
  }
  if (out !== undefined)
    throw invalid('several results do not go into one file', { field: OUT, hint: 'use --out-dir' });
  const jobs = inputs.map((input) => jobOf(input, directory, naming));
  requireFree(jobs, replace || options.has(FORCE));
  return jobs;
}

function jobOf(
  { path, name }: InputFile,
  directory: string | undefined,
  naming: Naming,
): Job & { to: string } {
  if (path === undefined) {
    throw invalid('standard input has no name that its result could have', {
      field: IN,
      hint: 'use --out FILE',
    });
  }
  const result = naming.resultOf(name);
  return {
    from: path,
    to: directory === undefined ? join(dirname(path), basename(result)) : join(directory, result),
  };
}

function requireFree(
  jobs: readonly { readonly from: string | undefined; readonly to: string }[],
  replace: boolean,
): void {
  const taken = new Map<string, string | undefined>();
  for (const { from, to } of jobs) {
    const place = resolve(to);
    if (taken.has(place))
      throw invalid(`${taken.get(place)} and ${from} would both become ${to}`, { field: IN });
    taken.set(place, from);
    if (!replace && existsSync(to)) {
      throw conflict(`${to} exists already`, { hint: 'say --force to replace it' });
    }
    refuseSameFile(from, to);
  }
}

/** While one file waits for the disk or the server, another one is worked on. */
const AT_ONCE = 4;

/**
 * Does the same to every file, several at once. Of several, one that fails is told on standard error and does not keep the
 * others from being done; the error of a single one is thrown.
 * @param beforeMessage Called before anything is told.
 * @returns what succeeded, in the order of the files, and the exit code of the first file that failed.
 */
export async function forEachFile<F extends { readonly from: string | undefined }, R>(
  session: Session,
  files: readonly F[],
  work: (file: F) => Promise<R>,
  beforeMessage: () => void = () => {},
): Promise<{ readonly results: readonly R[]; readonly exitCode: number }> {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) return { results: [await work(only)], exitCode: DONE };
  const outcomes = new Array<{ readonly result: R } | { readonly exitCode: number }>(files.length);
  const waiting = files.entries();
  const worker = async (): Promise<void> => {
    for (const [index, file] of waiting) {
      try {
        outcomes[index] = { result: await work(file) };
      } catch (error) {
        const known = asCofferError(error);
        if (known === undefined) throw error;
        beforeMessage();
        session.streams.err.write(`${errorLine(`${file.from}: ${known.message}`, undefined, known.hint)}\n`);
        outcomes[index] = { exitCode: exitCodeOf[known.kind] };
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return {
    results: outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result] : [])),
    exitCode: outcomes.flatMap((outcome) => ('exitCode' in outcome ? [outcome.exitCode] : []))[0] ?? DONE,
  };
}
