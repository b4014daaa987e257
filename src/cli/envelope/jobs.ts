import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { alternatives } from '../../ground/alternatives.ts';
import { decodeBase64 } from '../../ground/base64.ts';
import { asCofferError, CofferError, denied, invalid, throwing } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { isMountPath } from '../../mounts/paths.ts';
import type { DataKeys, KeyReference } from '../../transit/envelope/ports.ts';
import { DONE, exitCodeOf } from '../exit-codes.ts';
import { openInFile } from '../files/in-file.ts';
import { STANDARD } from '../files/input.ts';
import { mayReplace, type OutPlace, outPlaceOf, refuseSameFile } from '../files/out-file.ts';
import { type Given, textOption, textsOption } from '../given.ts';
import { FORCE, IN, OUT } from '../parse/operation-spec.ts';
import { inPlainWords } from '../plain-texts.ts';
import type { Session } from '../session.ts';
import { errorLine } from '../terminal/report.ts';
import { aboutFile } from './not-an-envelope.ts';
import { contextOf, namedKey, OUT_DIR, once, refuseMissingFile, withFileAsInput } from './options.ts';

/** Extensions of encrypted files: Coffer's envelopes, and age files. */
const OWN_ENDING = '.coffer';
const AGE_ENDING = '.age';
const ENDINGS = [OWN_ENDING, AGE_ENDING];
const isEncrypted = (name: string): boolean => ENDINGS.some((ending) => name.endsWith(ending));

/** Input of a command. */
export interface InputFile {
  /** Undefined for standard input. */
  readonly path: string | undefined;
  /** Path relative to the named directory, or its own name. */
  readonly name: string;
}

/** Input and output of one file. */
export interface FileJob {
  /** Undefined for standard input. */
  readonly from: string | undefined;
  /** Output file; undefined for standard output. */
  readonly to: OutPlace | undefined;
}

/** Rules of a command for file names. */
interface OutputNaming {
  /** Whether a file found in a directory is processed. */
  isMeant(name: string): boolean;
  /**
   * Returns the name of the result.
   * @throws `invalid` if it cannot be derived
   */
  resultOf(name: string): string;
  /** Whether the result of a single file may be shown on a terminal; if not, it is written next to that file. */
  readonly isShown: boolean;
}

const encryptedNames = (ending: string): OutputNaming => ({
  isMeant: (name) => !isEncrypted(name),
  resultOf: (name) => `${name}${ending}`,
  isShown: false,
});

export const envelopeNames = encryptedNames(OWN_ENDING);
export const ageNames = encryptedNames(AGE_ENDING);

export const decryptedNames: OutputNaming = {
  isMeant: isEncrypted,
  resultOf(name) {
    const ending = ENDINGS.find((known) => name.endsWith(known));
    if (ending !== undefined && basename(name) !== ending) return name.slice(0, -ending.length);
    throw invalid(`cannot name the output: ${name} does not end in ${OWN_ENDING}`, {
      field: IN,
      hint: 'decrypt it alone, with --out FILE',
    });
  },
  isShown: true,
};

/**
 * Returns the files of `--in`, with those in directories; standard input by default.
 * @throws `invalid` if one is missing, or a directory has none
 */
export function inputsOf(options: Given['options'], isMeant: OutputNaming['isMeant']): readonly InputFile[] {
  const named = textsOption(options, IN);
  if (named.length === 0) return [{ path: undefined, name: STANDARD }];
  return named.flatMap((path) => {
    if (path === STANDARD) return [{ path: undefined, name: STANDARD }];
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return filesBelow(path, isMeant);
    // A pipe can be opened only once. For files, read errors are reported before the user is asked for a secret.
    if (stat === undefined || stat.isFile()) openInFile(path, IN).close();
    return [{ path, name: basename(path) }];
  });
}

/**
 * Returns the files of a directory named by `--in`.
 * @throws `invalid` if it has none
 */
function filesBelow(directory: string, isMeant: OutputNaming['isMeant']): readonly InputFile[] {
  const all = regularFilesBelow(directory);
  if (all.length === 0) throw invalid(`no files in ${directory}`, { field: IN });
  const files = all.filter((path) => isMeant(basename(path))).sort();
  if (files.length === 0) {
    throw invalid(`no matching files in ${directory}`, {
      field: IN,
      hint: isMeant(OWN_ENDING)
        ? `no files end in ${alternatives(ENDINGS)}`
        : `all files already end in ${alternatives(ENDINGS)}`,
    });
  }
  return files.map((path) => ({ path, name: relative(directory, path) }));
}

/**
 * Returns the regular files below a directory. Links are not followed, since they could leave the directory or form a
 * loop; the recursive option of Node follows links to directories.
 */
function regularFilesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return regularFilesBelow(path);
    // A pipe could block forever.
    return entry.isFile() ? [path] : [];
  });
}

/**
 * Determines, before anything is done, where each result is written: `--out` for one, otherwise `--out-dir`, otherwise
 * next to each of several inputs, otherwise standard output.
 * @throws `invalid` if two results would have the same name; `exists` if a file exists and may not be replaced
 */
export async function jobsOf(
  session: Session,
  options: Given['options'],
  naming: OutputNaming,
): Promise<readonly FileJob[]> {
  const inputs = inputsOf(options, naming.isMeant);
  const named = textsOption(options, IN);
  const directory = textOption(options, OUT_DIR);
  const several =
    inputs.length > 1 || named.some((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  const out = textOption(options, OUT);
  const from = inputs[0]?.path;
  const isBeside = from !== undefined && out === undefined && !naming.isShown && isShownToPerson(session);
  if (!several && directory === undefined && !isBeside) {
    refuseSameFile(from, out === STANDARD ? undefined : out);
    return [{ from, to: await outPlaceOf(session, options) }];
  }
  if (out !== undefined)
    throw invalid('--out takes a single result; there are several inputs', {
      field: OUT,
      hint: 'use --out-dir',
    });
  const jobs = inputs.map((input) => jobOf(input, directory, naming));
  refuseClashes(jobs);
  const results = jobs.map(({ to }) => to);
  const field = directory === undefined ? undefined : OUT_DIR;
  const replace = await mayReplace(session, results, options.has(FORCE), field);
  return jobs.map((job) => ({ from: job.from, to: { path: job.to, replace, field } }));
}

const isShownToPerson = ({ streams, settings }: Session): boolean =>
  streams.out.isTerminal && settings.format !== 'raw';

function jobOf(
  { path, name }: InputFile,
  directory: string | undefined,
  naming: OutputNaming,
): { readonly from: string; readonly to: string } {
  if (path === undefined) {
    throw invalid('--out-dir cannot be used with standard input: the result would have no name', {
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

function refuseClashes(jobs: readonly { readonly from: string; readonly to: string }[]): void {
  const taken = new Map<string, string>();
  for (const { from, to } of jobs) {
    const place = resolve(to);
    if (taken.has(place))
      throw invalid(`${taken.get(place)} and ${from} would both be written to ${to}`, { field: IN });
    taken.set(place, from);
    refuseSameFile(from, to);
  }
}

/**
 * Number of files processed at the same time, so that one is processed while others wait for the disk or the server.
 */
const AT_ONCE = 4;

/**
 * Processes every file, several at once. If one of several fails, the error is printed and the others are still
 * processed; the error of a single file is thrown.
 * @param beforeMessage called before a message is printed
 * @returns results of the successful files, in order, and the exit code of the first that failed
 */
export async function forEachFile<F extends { readonly from: string | undefined }, R>(
  session: Session,
  files: readonly F[],
  work: (file: F) => Promise<R>,
  beforeMessage: () => void = () => {},
): Promise<{ readonly results: readonly R[]; readonly exitCode: number }> {
  const [only, ...others] = files;
  if (only !== undefined && others.length === 0) {
    const result = await work(only).catch(throwing((error) => aboutFile(error, only.from)));
    return { results: [result], exitCode: DONE };
  }
  const outcomes = new Array<{ readonly result: R } | { readonly exitCode: number }>(files.length);
  const waiting = files.entries();
  const worker = async (): Promise<void> => {
    for (const [index, file] of waiting) {
      try {
        outcomes[index] = { result: await work(file) };
      } catch (error) {
        const known = asCofferError(aboutFile(error, file.from, true));
        if (known === undefined) throw error;
        beforeMessage();
        const { message, hint } = inPlainWords(known);
        session.write(errorLine(`${file.from}: ${message}`, undefined, hint), 'error');
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

const DATA_KEY_BITS = 256;

/**
 * Returns what a command that opens files was given, and what it opens them with. Nothing is opened before a file needs
 * it: an age file may not need a store at all.
 * @param verb last word of the command
 * @throws `invalid` if the name cannot be that of a key
 */
export async function openingOf(session: Session, typed: Given, verb: string) {
  const given = withFileAsInput(session, typed);
  const { options } = given;
  const name = namedKey(given);
  await refuseMissingFile(session, name, given, verb);
  return {
    options,
    name,
    keys: once(() => dataKeysOf(session, contextOf(options), name)),
    identities: once(async () => (await import('./age-identities.ts')).identitiesOf(session, options, name)),
  };
}

/**
 * Returns the named keys for envelopes, of the local store or of a server; only data keys are transferred.
 * @param context derivation context, in base64
 * @param expected name of the only key that the user accepts; then the header does not choose the mount either
 */
export async function dataKeysOf(
  session: Session,
  context: string | undefined,
  expected?: string,
): Promise<DataKeys> {
  const runner = await session.runner();
  const { mount, mountNamed } = session.settings;
  const run = async (path: string, key: KeyReference, values: object): Promise<JsonObject> => {
    const raw = { name: key.name, ...values, context };
    // The mount may have been moved since: a mount that the user names is the present location of the key.
    const place = mountNamed ? mount : possibleMount(key);
    if (expected !== undefined && place !== mount) throw otherMount(key, mount);
    const { data } = await runner.run(path, raw, place);
    return (data ?? {}) as JsonObject;
  };
  return {
    async create(key) {
      const answer = await run('transit datakey', key, { type: 'plaintext', bits: DATA_KEY_BITS });
      return {
        plaintext: decodeBase64(memberOf(answer, 'plaintext')),
        wrapped: memberOf(answer, 'ciphertext'),
      };
    },
    async unwrap(key, ciphertext) {
      return decodeBase64(memberOf(await run('transit decrypt', key, { ciphertext }), 'plaintext'));
    },
    async rewrap(key, ciphertext) {
      return memberOf(await run('transit rewrap', key, { ciphertext }), 'ciphertext');
    },
  };
}

/**
 * Checks the mount of a header. A header is not authenticated before its key is used, and its mount becomes part of a
 * path on a server, which is written to with all permissions of the user.
 * @throws `denied` if it cannot be a transit mount
 */
function possibleMount({ mount }: KeyReference): string {
  if (isMountPath(mount)) return mount;
  throw denied('the envelope names an invalid transit mount', {
    hint: 'name the mount with --mount if you trust the file',
  });
}

const otherMount = (key: KeyReference, mount: string): CofferError =>
  denied(`the envelope is encrypted under key "${key.name}" of mount "${key.mount}", not of "${mount}"`, {
    hint: `use --mount ${key.mount} if you trust the file`,
  });

function memberOf(answer: JsonObject, member: string): string {
  const value = answer[member];
  if (typeof value === 'string') return value;
  throw new CofferError('unavailable', `unexpected response of the server: it has no ${member}`);
}
