import { utf8 } from '../../ground/bytes.ts';
import { type CofferError, closing, invalid, refusedAs } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { pathOf, placeOf, type ScalarPlace, type ScalarType } from '../../secret-files/format.ts';
import { ownName } from '../../secret-files/names-elsewhere.ts';
import { isSecret } from '../../secret-files/rules.ts';
import { changedAlone, spliced } from '../../secret-files/splice.ts';
import type { SealedValue } from '../../secret-files/value.ts';
import { argument, type Command, type OwnCommand, takingFile, typedOptions } from '../command.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { inputText, MAX_INPUT_BYTES, openInput } from '../files/input.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { printDocument, printResult } from '../files/output.ts';
import { type Given, textOption } from '../given.ts';
import { COPY, copyOption, IN, outOptions } from '../parse/operation-spec.ts';
import { clipboardFor } from '../processes/clipboard-for.ts';
import { remindOfGitSetup } from '../secret-files/clone-reminder.ts';
import {
  Files,
  formatOption,
  KEY,
  keyOption,
  oneFile,
  printExactly,
  type RuledFile,
} from '../secret-files/files.ts';
import { keyOrAdvice } from '../secret-files/first-key.ts';
import { warnOfAliases } from '../secret-files/left-aliases.ts';
import { consentToLess, requireRules } from '../secret-files/left-readable.ts';
import { Rulebook } from '../secret-files/rulebook.ts';
import { type ReadFile, replaceSecretFile } from '../secret-files/secret-file.ts';
import {
  committedFile,
  missingValue,
  openFiles,
  sealFiles,
  warnOfDamaged,
} from '../secret-files/transform.ts';
import type { ChosenKey } from '../secret-files/values.ts';
import type { Session } from '../session.ts';
import type { CountedVersions } from '../team/team-keys.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { visible } from '../terminal/visible.ts';

const nameArgument = argument(
  'NAME',
  'Name of the value: a variable in .env, otherwise a dotted path, e.g. db.password or servers.0.key.',
  { offers: 'value' },
);

const VALUE = 'VALUE';

/** Opens a file; if it cannot, the error says if the name was given before the file. */
async function inOrder<T>(
  verb: 'get' | 'set' | 'unset',
  words: readonly string[],
  opened: Promise<T>,
): Promise<T> {
  try {
    return await opened;
  } catch (error) {
    throw (await import('../secret-files/file-first.ts')).withFileFirst(error, verb, words);
  }
}

export const get: OwnCommand = {
  arguments: [oneFile, nameArgument],
  options: [formatOption, copyOption, ...outOptions],
  details: 'Prints only the value, without the quotes it has in the file.',
  examples: [
    ['coffer secrets get .env DATABASE_URL', 'Print a value'],
    ['coffer secrets get prod.yaml tls.key --out tls.key', 'Write a decrypted value to a file'],
    ['coffer secrets get .env API_TOKEN --copy', 'Copy a value to the clipboard, for 45s'],
  ],
  async run(session, { arguments: words, options }) {
    const [path = '', typed = ''] = words;
    const out = await outPlaceOf(session, options);
    const clipboard = options.has(COPY) ? await clipboardFor(session) : undefined;
    const read = await inOrder('get', words, new Files(session, options).open(path));
    const place = found(read, ownName(read.file, typed));
    warnOfDamaged(session, read, [place]);
    const text = place.sealed === undefined ? place.text : (await opened(session, read, place)).text;
    if (clipboard === undefined) await printExactly(session, out, 'value', text);
    else await clipboard.copy(utf8(text));
  },
};

export const set: Command = {
  arguments: [
    oneFile,
    nameArgument,
    argument(
      VALUE,
      'New value. If omitted, prompts on a terminal, else reads standard input; "-" always reads standard input.',
      { required: false },
    ),
  ],
  options: [takingFile(IN, 'Read the new value from FILE.'), keyOption, formatOption],
  details:
    'Replaces an existing value, and encrypts it with the same key as before, or adds a new value. Creates the ' +
    'file and the parents of NAME as needed. Command-line arguments are visible to other users in the process ' +
    'list: enter secrets at the prompt or pipe them in. One trailing newline is ignored. Empty standard input is ' +
    'an error: for an empty value, pass "".',
  examples: [
    ['coffer secrets set .env API_TOKEN', 'Prompt for the value'],
    ['coffer secrets set prod.yaml tls.key --in tls.key', 'Read the value from a file'],
    [
      'coffer transit random 32 | coffer secrets set prod.yaml session.secret',
      'Pipe the value from another command',
    ],
  ],
  async run(session, given) {
    const { arguments: words, options } = given;
    const [path = '', typed = ''] = words;
    const rulebook = new Rulebook(session);
    const files = new Files(session, options, rulebook);
    const read = await inOrder('set', words, files.openOrNew(path));
    refuseValueInName(read, given);
    const name = ownName(read.file, typed);
    const isKeyNamed = options.has(KEY);
    await requireRules(session, rulebook, read);
    const before = placeOf(read.file, name);
    const isPlain = !isKeyNamed && before?.sealed === undefined && staysPlain(read, name);
    const keyOf = () => files.keyFor(session, read, before?.sealed ?? keyOfOthers(read));
    const key = isPlain ? undefined : await keyOrAdvice(session, path, keyOf);
    // A name that the format cannot have is refused before the user is asked for the value.
    if (before === undefined) changed(read, name, 'value');
    if (key !== undefined && isPrompted(session, given)) await requireSealable(session, read, name, key);
    const value = await valueFor(session, given, name);
    if (name !== typed) warnOfQuotes(session, value);
    const type = before?.sealed === undefined ? before?.type : await typeOf(session, read, before);
    const file = changed(read, name, value, type);
    const place = placeOf(file, name);
    if (place === undefined) throw new RangeError('the value was not written');
    if (before?.sealed === undefined && read.stats !== undefined) {
      const places = key === undefined ? [] : [place];
      const plan = { path, file: { places: [place] }, key, places, committed: await committedFile(read) };
      if (!(await consentToLess(session, rulebook, [plan], isKeyNamed))) return FAILED;
    }
    if (key === undefined) session.say(`${name} is not encrypted: .coffer.yaml leaves it readable.`);
    const [result] =
      key === undefined
        ? []
        : await sealFiles(session, [{ ...read, file, key, places: [place], before: read.file }]);
    await replaceSecretFile(read, result === undefined ? file.text : textOf(result));
    session.remark(
      read.stats === undefined
        ? `Created ${path} with ${name}.`
        : before === undefined
          ? `Added ${name} to ${path}.`
          : `Set ${name} in ${path}.`,
    );
    await printDocument(session, { file: path, name, added: before === undefined });
    await remindOfGitSetup(session, rulebook, [path]);
    return DONE;
  },
};

/** Tells the user who typed a name as sops writes it that the value is not JSON, as it is there. */
function warnOfQuotes(session: Session, value: string): void {
  if (value.length > 1 && value.startsWith('"') && value.endsWith('"'))
    session.say(
      'The quotation marks become part of the value. If that is not intended, set the value again without them.',
    );
}

/** Name and value in one word, as in the file. */
const ASSIGNMENT = /^([\w.-]+)=/;

/**
 * Refuses a name with the value behind it, without repeating the value. In YAML and JSON, a name may have an equals sign:
 * it is meant if it is there, or if the value is given as well.
 * @throws `invalid` with the command that asks for the value
 */
function refuseValueInName({ path, format, file }: ReadFile, { arguments: words, options }: Given): void {
  const [, typed = '', value] = words;
  const [, name] = ASSIGNMENT.exec(typed) ?? [];
  const isName = format.name !== 'dotenv' && (value !== undefined || placeOf(file, typed) !== undefined);
  if (name === undefined || isName) return;
  const line = [
    'coffer',
    'secrets',
    'set',
    path,
    name,
    ...typedOptions({ options: [keyOption, formatOption] }, options),
  ];
  throw invalid(`${name}=… is a name with a value, not a name`, {
    field: 'NAME',
    hint: `give the value separately: run "${line.map(shellWord).join(' ')}", which asks for it or reads it from a pipe`,
  });
}

export const unset: OwnCommand = {
  arguments: [oneFile, nameArgument],
  options: [formatOption],
  details: 'Removes the value and its name from the file. No key is needed.',
  examples: [['coffer secrets unset .env OLD_TOKEN', 'Remove the value OLD_TOKEN from the file .env']],
  async run(session, { arguments: words, options }) {
    const [path = '', typed = ''] = words;
    const read = await inOrder('unset', words, new Files(session, options).open(path));
    const name = ownName(read.file, typed);
    const place = found(read, name);
    const { text } = changedAlone(read.format, path, {
      before: read.file,
      text: read.file.removed(place),
      name,
    });
    await replaceSecretFile(read, text);
    session.remark(`Removed ${name} from ${path}.`);
    await printDocument(session, { file: path, name });
  },
};

/**
 * Returns the place of a value.
 * @throws `not-found` if the file does not have it
 */
function found(read: ReadFile, name: string): ScalarPlace {
  const place = placeOf(read.file, name);
  if (place !== undefined) return place;
  throw missingValue(read, name);
}

/** Returns the place of one encrypted value in the decrypted file. */
async function opened(
  session: Session,
  read: ReadFile,
  place: ScalarPlace,
  which?: CountedVersions,
): Promise<ScalarPlace> {
  const [result] = await openFiles(session, [read], (candidate) => candidate === place, which);
  if (result === undefined) throw new RangeError('unexpected response: no result');
  if ('errors' in result) throw await amongOthers(session, read, result.errors[0], which);
  const index = read.file.places.indexOf(place);
  return result.file.places[index] as ScalarPlace;
}

/**
 * Returns the error of a value that cannot be opened as it is when all values of its file are: one that was moved says
 * from which name, and one of another store that none opens.
 */
async function amongOthers(
  session: Session,
  read: ReadFile,
  error: CofferError | undefined,
  which: CountedVersions | undefined,
): Promise<CofferError | undefined> {
  if (error?.kind !== 'inauthentic') return error;
  const [all] = await openFiles(session, [read], () => true, which);
  const errors = all !== undefined && 'errors' in all ? all.errors : [];
  const start = error.message.slice(0, error.message.lastIndexOf(': ') + 2);
  return errors.find(({ message }) => message.startsWith(start)) ?? (errors.length === 1 ? errors[0] : error);
}

const textOf = (result: Awaited<ReturnType<typeof sealFiles>>[number]): string => {
  if ('errors' in result) throw result.errors[0];
  return result.file.text;
};

/** Whether a value of that name, present or not, is one that the rules leave unencrypted. */
const staysPlain = ({ rule }: RuledFile, name: string): boolean =>
  rule !== undefined && !isSecret({ path: pathOf(name), type: 'string', text: name }, rule);

/** Returns another encrypted value of the file, whose key is used if no rule names one. */
const keyOfOthers = ({ rule, file }: RuledFile): SealedValue | undefined =>
  rule === undefined ? file.places.find(({ sealed }) => sealed !== undefined)?.sealed : undefined;

/** Returns the type of a value; undefined if it can no longer be opened, so that it can still be replaced. */
async function typeOf(session: Session, read: ReadFile, place: ScalarPlace): Promise<ScalarType | undefined> {
  const whole = await opened(session, read, place, 'any').catch(
    refusedAs(undefined, 'inauthentic', 'not-found'),
  );
  return whole?.type;
}

/**
 * Returns the file with the new value in it, not encrypted. A value of a type other than string keeps its type if the
 * new text can be parsed as such.
 */
function changed({ format, path, file }: ReadFile, name: string, value: string, type?: ScalarType) {
  const before = placeOf(file, name);
  if (before === undefined)
    return changedAlone(format, path, { before: file, text: file.added(name, value), name });
  const withSource = (source: string) =>
    changedAlone(format, path, { before: file, text: spliced(file, new Map([[before, source]])), name });
  if (type === 'number' || type === 'boolean') {
    try {
      const same = withSource(value);
      const place = placeOf(same, name);
      if (place?.type === type && place.source === value) return same;
    } catch {
      // The value is a string then.
    }
  }
  return withSource(file.written(before, value));
}

/** Whether the user is asked for the value. */
const isPrompted = (session: Session, { arguments: [, , value], options }: Given): boolean =>
  value === undefined && !options.has(IN) && session.streams.in.isTerminal && session.prompts.available();

/**
 * Encrypts a value for nothing, so that nobody is asked for a secret that the file cannot have: there may be no store,
 * or it may be another one's. On a server, the audit log would record it.
 */
async function requireSealable(
  session: Session,
  read: RuledFile,
  name: string,
  key: ChosenKey,
): Promise<void> {
  if (session.settings.address !== undefined) return;
  const file = changed(read, name, 'value');
  const place = placeOf(file, name);
  const places = place === undefined ? [] : [place];
  const [result] = await sealFiles(session, [{ ...read, file, key, places, before: read.file }]);
  if (result !== undefined) textOf(result);
}

async function valueFor(session: Session, given: Given, name: string): Promise<string> {
  const noValue = (where: string): CofferError =>
    invalid(`${where}no value for ${name}`, {
      field: VALUE,
      hint: 'pass "" as VALUE to set an empty value',
    });
  if (isPrompted(session, given)) {
    const value = await session.prompts.secret(`Value of ${name}`);
    // Enter alone would replace a secret by nothing.
    if (value === '') throw noValue('');
    return value;
  }
  const [, , value] = given.arguments;
  const file = textOption(given.options, IN);
  const source = { value, valueIsFile: false, file, label: VALUE, optional: false, onRequest: false };
  const opened = openInput(session, source);
  if (opened === undefined || Buffer.isBuffer(opened)) return inputText(opened ?? Buffer.alloc(0), VALUE);
  return closing(opened, ({ input }) => {
    const bytes = input.readAll(MAX_INPUT_BYTES);
    // Usually a command before the pipe failed.
    if (bytes.length === 0 && file === undefined) throw noValue('standard input is empty: ');
    return inputText(bytes, VALUE);
  });
}

/** Command that lists the values of a file. */
export const list: OwnCommand = {
  arguments: [oneFile],
  options: [formatOption],
  details:
    'Prints the name of each value and, on a terminal, the key version that it is encrypted with. ' +
    'Values are not decrypted, so neither a key nor a store is needed.',
  examples: [['coffer secrets list .env', 'List the names of the values in .env']],
  async run(session, { arguments: [path = ''], options }) {
    const { file } = await new Files(session, options).open(path);
    warnOfAliases(session, { path, file });
    const values = file.places.map(({ name, sealed }) => ({
      name,
      encrypted: sealed !== undefined,
      mount: sealed?.mount ?? null,
      key: sealed?.key ?? null,
      version: sealed?.version ?? null,
    }));
    await printResult(
      session,
      { file: path, values },
      {
        lines: () => values.map(({ name }) => visible(name)),
        table: () => ({
          head: ['Name', 'Encrypted with'],
          rows: values.map(({ name, encrypted, mount, key, version }) => [
            name,
            encrypted ? `${mount === DEFAULT_MOUNT ? '' : `${mount}/`}${key} v${version}` : 'not encrypted',
          ]),
        }),
      },
    );
  },
};
