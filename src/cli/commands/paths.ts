import { asCofferError, type CofferError, notFound, withOtherHint } from '../../ground/errors.ts';
import { meantText } from '../../ground/nearness.ts';
import { isObject } from '../../ground/objects.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { type PathRequest, type Runner, resultOf } from '../../operations/declaration/operation.ts';
import { loadOperation } from '../../operations/runner.ts';
import { type ArgumentSpec, argument, type Command } from '../command.ts';
import { unlessUnseen } from '../doubts.ts';
import { DONE, FAILED } from '../exit-codes.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { printResult } from '../files/output.ts';
import { PAIR, parametersOf } from '../files/pairs.ts';
import { alone, asVault, fieldOf, memberShape } from '../files/vault-form.ts';
import { type Given, namesOtherServer, textOption } from '../given.ts';
import { outOptions } from '../parse/operation-spec.ts';
import {
  FIELD,
  FORMAT,
  fieldOption,
  formatOption,
  JSON_FORMAT,
  listFormatOption,
} from '../parse/vault-options.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';

/*
 * Commands for API paths of Vault, such as `vault read`: on the local store, on a Coffer server, or on any other
 * compatible server, including its secrets engines that Coffer does not have.
 */

const pathLike = (example: string): ArgumentSpec =>
  argument('PATH', `Path of the HTTP API without /v1/, e.g. ${example}.`);

const path = pathLike('transit/keys/orders');

const pairs = argument(
  PAIR,
  'Parameters of the request. KEY=@FILE reads the value from a file, KEY=- from standard input; @FILE or - alone reads all parameters from a JSON object.',
  { required: false, many: true },
);

const command = (
  method: PathRequest['method'],
  takes: readonly ArgumentSpec[],
  details: string,
  examples: Command['examples'],
): Command => ({
  arguments: takes,
  options: [fieldOption, method === 'LIST' ? listFormatOption : formatOption, ...outOptions],
  details,
  examples,
  run: (session, given) => run(session, method, given),
});

export const read = command(
  'GET',
  [path, pairs],
  'Sends a GET request, with the parameters in the query string.',
  [
    ['coffer read transit/keys/orders', 'Show the key "orders"'],
    ['coffer read transit/keys/orders --field latest_version', 'Print one field'],
  ],
);
export const write = command(
  'POST',
  [path, pairs],
  'Sends a POST request, with the parameters in the body.',
  [
    ['coffer write transit/encrypt/orders plaintext=aGVsbG8=', 'Encrypt a value, given in base64'],
    ['coffer write transit/keys/orders/config @config.json', 'Read all parameters from a JSON file'],
  ],
);
export const list = command(
  'LIST',
  [pathLike('transit/keys')],
  'Prints the names directly below the path, one per line.',
  [['coffer list transit/keys', 'List the names of the keys']],
);
export const remove = command(
  'DELETE',
  [path, pairs],
  'Sends a DELETE request. A deletion cannot be undone, except the soft-delete of a key.',
  [['coffer delete transit/keys/orders', 'Delete the key "orders", after confirmation']],
);

/** Path that soft-deletes a key, which only disables it and can be undone. */
const SOFT_DELETE = /(?:^|\/)keys\/[^/]+\/soft-delete$/;

/** What a terminal shows of a request without a result, by its method. */
const DONE_AT = new Map<PathRequest['method'], (path: string) => string>([
  ['POST', (path) => `Wrote ${path}.`],
  // A server does not tell whether there was anything.
  ['DELETE', (path) => `Deleted ${path}, if it existed.`],
]);

async function run(session: Session, method: PathRequest['method'], given: Given): Promise<number> {
  const [place = '', ...texts] = given.arguments;
  const path = trimSlashes(place).replace(/^v1\//, '');
  const isForGood = method === 'DELETE' && !SOFT_DELETE.test(path);
  const format = textOption(given.options, FORMAT);
  const printing = format === undefined ? session : session.inFormat(format);
  const file = await outPlaceOf(session, given.options);
  const parameters = await parametersIn(session, method, place, texts);
  if (isForGood) await refuseFirst(session, path);
  const runner = await session.runner();
  if (isForGood && !(await session.confirmed(async () => `Permanently delete ${path}?`))) return FAILED;
  const request = { method, path, parameters };
  // To look for them loads every operation, which only a store that is opened here has done anyway.
  const isHere = runner.snapshot !== undefined;
  if (isHere) await warnOfMisspelt(session, request);
  const outcome = await runner.at(request).catch(async (error: unknown) => {
    if (!isHere) await warnOfMisspelt(session, request);
    return explained(error, request);
  });
  if (namesOtherServer(session.environment)) await warnOfPlace(session, request, outcome.created === true);
  const { warnings = [] } = outcome;
  if (warnings.length > 0) (await import('../plain-texts.ts')).sayWarnings(session, warnings);
  const existing = outcome.existing ? existingText(path, outcome.data) : undefined;
  if (existing !== undefined) session.warn(existing);
  const field = fieldOf(outcome, textOption(given.options, FIELD));
  const destination = { file, keepBase64: true };
  if (format === JSON_FORMAT && outcome.text === undefined) {
    await printResult(printing, asVault(outcome, method === 'LIST', field), {}, destination);
    if (outcome.created) await sayNewKey(session, path);
    return DONE;
  }
  const [result, member] =
    outcome.text === undefined
      ? [inOrder(resultOf(outcome)), field ?? (method === 'LIST' ? 'keys' : undefined)]
      : [{ text: outcome.text.body }, 'text'];
  const nothing = printing.settings.format === 'json' ? {} : undefined;
  const shape = member === undefined ? {} : memberShape(result, member);
  const shown =
    field !== undefined && member === field
      ? alone(printing, result, shape)
      : { session: printing, result: result ?? nothing, shape };
  await printResult(shown.session, shown.result, shown.shape ?? shape, destination);
  if (outcome.created) await sayNewKey(session, path);
  else if (result === undefined) remarkDone(session, method, path);
  return DONE;
}

function remarkDone(session: Session, method: PathRequest['method'], path: string): void {
  const text = DONE_AT.get(method)?.(path);
  if (text !== undefined) session.remark(text);
}

/** Parses the parameters; for a name in their place, the error has the command that deletes it. */
async function parametersIn(
  session: Session,
  method: PathRequest['method'],
  place: string,
  texts: readonly string[],
): Promise<PathRequest['parameters']> {
  const [name = ''] = texts;
  try {
    return Object.fromEntries(texts.flatMap((text) => parametersOf(session, text)));
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined || method !== 'DELETE' || texts.length > 1) throw error;
    const { groupOf } = await import('../parse/whole-command.ts');
    const group = groupOf(place)?.join(' ');
    if (group === undefined) throw error;
    throw withOtherHint(known, `did you mean "coffer ${group} delete ${shellWord(name)}"?`);
  }
}

/** Warns that a change was made in the local store, although a server is named for other programs. */
async function warnOfPlace(session: Session, request: PathRequest, isCreated: boolean): Promise<void> {
  const { isChangeByPath } = await import('../../operations/by-path.ts');
  if (!isCreated && !(await isChangeByPath(request))) return;
  (await import('../other-server.ts')).warnOfChangeHere(session);
}

/** Warns of parameters that will be ignored and are nearly those of the operation. */
async function warnOfMisspelt(session: Session, request: PathRequest): Promise<void> {
  if (session.settings.quiet || Object.keys(request.parameters).length === 0) return;
  const { misspeltParameters } = await import('../../operations/by-path.ts');
  for (const { name, meant } of await misspeltParameters(request))
    session.warn(`${PAIR}: unknown parameter "${name}" is ignored; ${meantText(meant)}`);
}

/** Returns a result with its members in the order of a server's response, which is that of their names. */
const inOrder = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(inOrder)
    : isObject(value)
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((name) => [name, inOrder(value[name])]),
        )
      : value;

/**
 * Adds how base64 is made to the error about a text that is none, and the next step to that of an agent or server about a
 * wrong path or method.
 * @throws it, and every other error unchanged
 */
async function explained(error: unknown, request: PathRequest): Promise<never> {
  const known = asCofferError(error);
  if (known?.message.startsWith('illegal base64 data') === true) {
    const field = known.field ?? 'plaintext';
    throw withOtherHint(known, `base64 is expected, for example ${field}="$(printf %s hello | base64)"`);
  }
  const listed = known?.kind === 'invalid' ? listedIn(known, request) : undefined;
  if (known !== undefined && listed !== undefined)
    throw withOtherHint(
      known,
      `the value of ${listed} is taken as text: give objects and lists in a JSON object with all parameters, as "@FILE" or "-"`,
    );
  if (known?.message === 'unsupported path' && known.hint === undefined) {
    const { nearPathsOfServer, placeHintOfServer } = await import('../../operations/by-path.ts');
    const near = await nearPathsOfServer(request);
    throw withOtherHint(known, near.length > 0 ? meantText(near) : await placeHintOfServer(request, true));
  }
  if (known?.message.startsWith('no handler for route ') === true && known.hint === undefined) {
    const { placeHintOfServer } = await import('../../operations/by-path.ts');
    const hint = await placeHintOfServer(request, false);
    // The server's text says that nothing is mounted there, which is not so for the path of a mount.
    if (!request.path.includes('/'))
      throw notFound(`nothing found at ${request.path}`, { hint, cause: known });
    throw withOtherHint(known, hint);
  }
  if (known?.message === 'unsupported operation' && known.hint === undefined)
    throw withOtherHint(known, 'try another of read, write, list and delete');
  throw error;
}

/** Returns the parameter that an error names, if its text looks like a list or an object. */
function listedIn({ field, message }: CofferError, { parameters }: PathRequest): string | undefined {
  const names = Object.keys(parameters).filter((name) => isListLike(parameters[name]));
  return names.find((name) => field?.split('[')[0] === name || message.includes(`"${name}`));
}

/** Whether a parameter was given as a text, unlike one in a JSON object, and looks like a list or an object. */
const isListLike = (value: unknown): boolean => typeof value === 'string' && /^\s*[[{]/.test(value);

/** Path that encrypts, by the mount and name of its key. */
const ENCRYPT = /^(?<mount>.+)\/encrypt\/(?<name>[^/]+)$/;

/** Says that a key was created because nothing had its name, and which name was probably meant. */
async function sayNewKey(session: Session, path: string): Promise<void> {
  const { mount, name } = ENCRYPT.exec(path)?.groups ?? {};
  if (name === undefined) return;
  const { sayCreated } = await import('../near-names.ts');
  await sayCreated(session, [{ kind: 'key', name }], {}, mount);
}

/** Path of a key, by its mount and name. */
const KEY = /^(?<mount>.+)\/keys\/(?<name>[^/]+)$/;

/** Returns the warning about a key that was to be created: parameters such as `type` have had no effect. */
function existingText(path: string, data: unknown): string | undefined {
  const { name } = KEY.exec(path)?.groups ?? {};
  const type = isObject(data) && typeof data['type'] === 'string' ? ` with type ${data['type']}` : '';
  return name === undefined ? undefined : `key ${name} already existed${type} and was not changed`;
}

/**
 * Checks that confirmation is possible, after what would be refused anyway: also by a store that stays locked, if the
 * user could be asked.
 */
async function refuseFirst(session: Session, path: string): Promise<void> {
  if (session.settings.yes) return;
  if (session.mayChange) await foreseeDeletion(session, await session.runner(), path);
  else await unlessUnseen(async () => foreseeDeletion(session, await session.runner(), path));
  session.requireConsent();
}

/**
 * Fails for a key of a local store that must not be deleted, so that the user is not asked for confirmation of
 * something that will fail.
 * @throws as `transit keys delete`
 */
async function foreseeDeletion(session: Session, runner: Runner, path: string): Promise<void> {
  const { mount, name } = KEY.exec(path)?.groups ?? {};
  if (name === undefined || session.settings.address !== undefined) return;
  const { cli } = await loadOperation('transit keys delete');
  const atMount: Runner = { ...runner, run: (operation, raw) => runner.run(operation, raw, mount) };
  await cli?.foresee?.({ name }, atMount);
}
