import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { invalid } from '../../ground/errors.ts';
import { lineAt, placeOf, type ScalarPlace, type SecretFile } from '../../secret-files/format.ts';
import { formatOf, MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { valuesIn } from '../../secret-files/value.ts';
import { type OwnCommand, taking, takingFile } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { readFileWhole } from '../files/in-file.ts';
import { readStandardInput } from '../files/input.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { textOption, textsOption } from '../given.ts';
import { IN, outOptions } from '../parse/operation-spec.ts';
import { liesBelow, refuseWayOut, topOf } from '../repository/git.ts';
import { Files, formatIn, formatOption, Outcomes, printExactly } from '../secret-files/files.ts';
import { refuseReadable, requireRules } from '../secret-files/left-readable.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import { parsedFile, type ReadFile, textOf } from '../secret-files/secret-file.ts';
import { missingValue, openFiles } from '../secret-files/transform.ts';
import type { Session } from '../session.ts';

/**
 * Reference to a value of a file.
 * @see docs/decisions/0147
 */
const REFERENCE = /\{\{\s*coffer:([^#{}\r\n]+)#([^{}\r\n]*[^{}\s]|[^\S\r\n])\s*\}\}/g;

const ALLOW = 'allow';

export const command: OwnCommand = {
  options: [
    takingFile(IN, 'Read the template from FILE. Default: standard input.'),
    taking(ALLOW, 'DIR', 'Also let the template use files below DIR. Can be repeated.', {
      takes: 'each',
      fallback:
        'only files in the repository of the input, or in its directory if that is not in a repository',
      offers: 'directory',
    }),
    formatOption,
    ...outOptions,
  ],
  details:
    'Prints the input with each {{ coffer:FILE#NAME }} replaced by that value, without quotes. FILE ' +
    'is relative to the input file and must be in the same repository. If the input is itself a ' +
    '.env, YAML or JSON file, its own encrypted values are decrypted as well. Any other input must not contain ' +
    'ciphertexts: a ciphertext can only be decrypted if the name of its value is known.',
  examples: [
    ['coffer secrets inject --in nginx.conf.tpl --out nginx.conf', 'Fill in a template'],
    [
      'coffer secrets inject --in prod.yaml | kubectl apply -f -',
      'Apply a manifest without writing plaintext to disk',
    ],
  ],
  async run(session, { options }) {
    const out = await outPlaceOf(session, options);
    if (out !== undefined) refuseWayOut(out.path, out.path);
    const path = textOption(options, IN);
    const named = path === undefined || path === '-' ? undefined : path;
    const shown = named ?? 'standard input';
    const bytes = named === undefined ? readStandardInput(session) : readFileWhole(named, IN, MAX_FILE_BYTES);
    const format = formatIn(options) ?? (named === undefined ? undefined : formatOf(named));
    const text = textOf(shown, bytes);
    const own = format === undefined ? undefined : await parsedFile(shown, bytes, format);
    if (own === undefined) refuseBareValues(shown, text);
    const directory = dirname(named ?? '.');
    const references = referencesIn(text, shown, directory);
    const outcomes = new Outcomes(session);
    const top = topOf(resolve(directory)) ?? directory;
    const allowed = allowedReferences(outcomes, references, [top, ...textsOption(options, ALLOW)]);
    const rulebook = new Rulebook(session);
    const opener = new Files(session, new Map(), rulebook);
    const paths = new Set(allowed.map(({ file }) => file));
    const read = await outcomes.each([...paths], async (file) => [file, await opener.open(file)] as const);
    const work = { session, outcomes, rulebook };
    if (own !== undefined && named !== undefined) await requireEncrypted(work, own, own.file.places);
    const replacements = [
      ...(await valuesOf(work, allowed, new Map(read))),
      ...(own === undefined ? [] : await ownValues(work, own)),
    ];
    if (outcomes.exitCode !== DONE) return outcomes.exitCode;
    await printExactly(session, out, 'text', replaced(text, replacements));
    return DONE;
  },
};

/** Replacement of a part of the text. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface ValueReference extends Omit<Replacement, 'text'> {
  readonly file: string;
  readonly name: string;
  /** Place of the reference in error messages. */
  readonly where: string;
}

const referencesIn = (text: string, shown: string, directory: string): readonly ValueReference[] =>
  [...text.matchAll(REFERENCE)].map(({ index, 0: whole, 1: file = '', 2: name = '' }) => ({
    start: index,
    end: index + whole.length,
    // Checked and opened as the same path: to the operating system, ".." behind a link is another directory.
    file: isAbsolute(file) ? normalize(file) : join(directory, file),
    name,
    where: `${shown}:${lineAt(text, index)}`,
  }));

/**
 * Refuses ciphertexts in a text without names.
 * @throws `invalid` if there is one
 */
function refuseBareValues(shown: string, text: string): void {
  for (const { start } of valuesIn(text)) {
    throw invalid(
      `${shown}:${lineAt(text, start)}: a ciphertext without the name of a value cannot be decrypted here`,
      {
        hint: 'use {{ coffer:FILE#NAME }}, or --format if the input is .env, YAML or JSON',
      },
    );
  }
}

/**
 * Filters the references. The author of the text chose the files, so files outside the text's repository are only read
 * in directories that the user allows.
 */
const allowedReferences = (
  outcomes: Outcomes,
  references: readonly ValueReference[],
  directories: readonly string[],
): readonly ValueReference[] =>
  references.filter(({ file, where }) => {
    if (directories.some((directory) => liesBelow(resolve(directory), resolve(file)))) return true;
    outcomes.failed(
      invalid(`${where}: ${file} is outside the repository or directory of the input`, {
        hint: 'use --allow DIR to allow it',
      }),
    );
    return false;
  });

/** Objects that the parts of one command share. */
interface Work {
  readonly session: Session;
  readonly outcomes: Outcomes;
  readonly rulebook: Rulebook;
}

/** Reports unencrypted values where the rules require encrypted ones. */
async function requireEncrypted(
  { session, outcomes, rulebook }: Work,
  read: ReadFile,
  places: readonly ScalarPlace[],
): Promise<void> {
  await outcomes.each([read], async () => {
    await requireRules(session, rulebook, read);
    const used = places.map((place) => ({ place }));
    await refuseReadable(session, rulebook, read, used);
  });
}

async function valuesOf(
  work: Work,
  references: readonly ValueReference[],
  files: ReadonlyMap<string, ReadFile>,
): Promise<readonly Replacement[]> {
  const wanted = new Map<ValueReference, ScalarPlace>();
  for (const reference of references) {
    const read = files.get(reference.file);
    const place = read && placeOf(read.file, reference.name);
    if (place !== undefined) wanted.set(reference, place);
    else if (read !== undefined) work.outcomes.failed(missingValue(read, reference.name, reference.where));
  }
  const places = new Set(wanted.values());
  for (const read of files.values()) {
    const used = read.file.places.filter((place) => places.has(place));
    await requireEncrypted(work, read, used);
  }
  const opened = await openAll(work, [...files.values()], (place) => places.has(place));
  return [...wanted].flatMap(([{ start, end, file }, place]) => {
    const before = files.get(file)?.file.places ?? [];
    const value = opened.get(file)?.places[before.indexOf(place)];
    return value === undefined ? [] : [{ start, end, text: value.text }];
  });
}

async function ownValues(work: Work, own: ReadFile): Promise<readonly Replacement[]> {
  const opened = (await openAll(work, [own])).get(own.path);
  return own.file.places.flatMap(({ sealed, start, end }, index) => {
    const source = opened?.places[index]?.source;
    return sealed === undefined || source === undefined ? [] : [{ start, end, text: source }];
  });
}

/**
 * Opens the files.
 * @returns those that could be opened, by path
 */
async function openAll(
  { session, outcomes }: Work,
  files: readonly ReadFile[],
  isMeant?: (place: ScalarPlace) => boolean,
): Promise<ReadonlyMap<string, SecretFile>> {
  const opened = new Map<string, SecretFile>();
  for (const [index, result] of (await openFiles(session, files, isMeant)).entries()) {
    if ('errors' in result) for (const error of result.errors) outcomes.failed(error);
    else opened.set(files[index]?.path ?? '', result.file);
  }
  return opened;
}

function replaced(text: string, replacements: readonly Replacement[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text: value } of replacements.toSorted((one, other) => one.start - other.start)) {
    result += text.slice(at, start) + value;
    at = end;
  }
  return result + text.slice(at);
}
