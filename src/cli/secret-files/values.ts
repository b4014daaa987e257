import { isUtf8 } from 'node:buffer';
import { decodeBase64 } from '../../ground/base64.ts';
import { utf8, wipe } from '../../ground/bytes.ts';
import {
  asCofferError,
  CofferError,
  expected,
  notFound,
  throwing,
  unavailable,
  unsupported,
} from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { isCut, type SealedValue } from '../../secret-files/value.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import { inBoundedCalls, MOST_ITEMS, MOST_SIZE, warnOnce } from '../files/bounded-calls.ts';
import type { Session } from '../session.ts';
import {
  type FoundValue,
  type OpenValue,
  SHARING,
  TRUNCATED,
  type ValueResult,
} from '../team/found-values.ts';
import { mayBeOfKeyring, teamKeysFor } from '../team/nearest.ts';
import type { Adoption, CountedVersions, TeamKeys } from '../team/team-keys.ts';
import { type RefusalReason, unusableKey } from './unusable-key.ts';

/** Maximum number of failed values whose cause is examined. */
const MOST_EXPLAINED = 5;

/**
 * Runs the work with the keys of the values: those of the keyring above their file, or those of the user's own store.
 */
async function withTheirKeys<T>(
  session: Session,
  values: readonly FoundValue[],
  ofTeam: (keys: TeamKeys, some: readonly FoundValue[]) => Promise<readonly ValueResult<T>[]>,
  ofStore: (some: readonly FoundValue[]) => Promise<readonly ValueResult<T>[]>,
): Promise<readonly ValueResult<T>[]> {
  const teams: (TeamKeys | undefined)[] = [];
  for (const { path, value } of values) teams.push(await teamKeysFor(session, path, value.mount));
  if (teams.every((keys) => keys === undefined)) return ofStore(values);
  const results = new Array<ValueResult<T>>(values.length);
  for (const [keys, indexes] of Map.groupBy(values.keys(), (index) => teams[index])) {
    const some = indexes.map((index) => values[index] as FoundValue);
    const found = keys === undefined ? await ofStore(some) : await ofTeam(keys, some);
    for (const [at, index] of indexes.entries()) results[index] = found[at] as ValueResult<T>;
  }
  return results;
}

/**
 * Encrypts values, each bound to its place: its name is the associated data, and the context for derived keys.
 * @param path file that will contain them all, or one in the same directory
 * @throws `not-found` if the key does not exist; `unsupported` if it cannot bind a value to a place. Then nothing was
 * encrypted
 * @see docs/decisions/0145
 */
export async function sealValues(
  session: Session,
  key: ChosenKey,
  values: readonly OpenValue[],
  path?: string,
): Promise<readonly SealedValue[]> {
  if (values.some(({ name }) => name === '')) throw unsupported('a value without a name cannot be encrypted');
  const team = await teamKeysFor(session, path, key.mount);
  if (team !== undefined)
    return team.seal(key.name, values).catch(async (error: unknown) => {
      const { recipientAsKey } = await import('./unknown-key.ts');
      throw recipientAsKey(error, { name: key.name, path }) ?? error;
    });
  const runner = await session.runner();
  const items = values.map(({ name, source }) => ({
    plaintext: utf8(source).toString('base64'),
    ...bindingTo(name),
  }));
  const answers = await runBatches(session, runner, {
    operation: 'encrypt',
    key,
    items,
    more: { no_create: true },
  }).catch(async (error: unknown) => {
    const { unknownKey } = await import('./unknown-key.ts');
    throw (await unknownKey(session, runner, error, { ...key, path })) ?? error;
  });
  return answers.map((answer) => {
    if (typeof answer['error'] !== 'string') return sealedIn(answer, key);
    throw unsupported(`key "${key.name}" cannot encrypt values in files: ${answer['error']}`, {
      hint: 'use a symmetric key that is not convergent, e.g. from "coffer transit keys create NAME"',
    });
  });
}

/**
 * Decrypts values, with one call for each key.
 * @param which accepted versions of a keyring's keys
 */
export async function openValues(
  session: Session,
  values: readonly FoundValue[],
  which?: CountedVersions,
): Promise<readonly ValueResult<string>[]> {
  const read = await readByAgent(session, values, which);
  if (read !== undefined) return read;
  return withTheirKeys(
    session,
    values,
    (keys, some) => keys.open(some, which),
    async (some) => {
      const results = await withEachKey(session, 'decrypt', some, (answer) => textIn(answer));
      return explained(session, some, results);
    },
  );
}

/** Decrypts values by the agent of a keyring. The code for it is loaded only if the values may be those of a keyring. */
async function readByAgent(
  session: Session,
  values: readonly FoundValue[],
  which: CountedVersions = 'believed',
): Promise<readonly string[] | undefined> {
  const [first] = values;
  if (first === undefined || which !== 'believed' || !mayBeOfKeyring(session, first.path)) return undefined;
  const { openedByAgent } = await import('../team/agent-reading.ts');
  return openedByAgent(session, values);
}

/**
 * Re-encrypts values with the latest version of their keys. Values already encrypted with it are returned unchanged.
 * @param adoption decision about values of a keyring that departed members may have written
 */
export async function rewrapValues(
  session: Session,
  values: readonly FoundValue[],
  adoption?: Adoption,
): Promise<readonly ValueResult<SealedValue>[]> {
  return withTheirKeys(
    session,
    values,
    (keys, some) => keys.rewrap(some, adoption),
    async (some) => {
      const results = await withEachKey(session, 'rewrap', some, (answer, key) => sealedIn(answer, key));
      const moved = results.map((result, index) => {
        const before = (some[index] as FoundValue).value;
        return !(result instanceof CofferError) && result.version === before.version ? before : result;
      });
      return explained(session, some, moved);
    },
  );
}

const bindingTo = (name: string) => {
  const bytes = utf8(name).toString('base64');
  return { associated_data: bytes, context: bytes };
};

const keyOf = ({ mount, key }: SealedValue): KeyReference => ({ mount, name: key });
const idOf = ({ mount, name }: KeyReference): string => `${mount}/${name}`;

async function withEachKey<T>(
  session: Session,
  operation: 'decrypt' | 'rewrap',
  values: readonly FoundValue[],
  resultOf: (answer: JsonObject, key: KeyReference) => T,
): Promise<ValueResult<T>[]> {
  const byKey = Map.groupBy(values.keys(), (index) => idOf(keyOf((values[index] as FoundValue).value)));
  const results = new Array<ValueResult<T>>(values.length);
  const runner = await session.runner().catch(throwing((error) => withoutStore(error, values) ?? error));
  for (const indexes of byKey.values()) {
    const found = indexes.map((index) => values[index] as FoundValue);
    const key = keyOf((found[0] as FoundValue).value);
    const items = found.map(({ name, value }) => ({ ciphertext: ciphertextOf(value), ...bindingTo(name) }));
    const batches = runBatches(session, runner, { operation, key, items });
    const outcomes = await batches.catch(async (error: unknown) => {
      const { missingKey } = await import('./unknown-key.ts');
      const missing = missingKey(error, key, OTHER_STORE);
      if (missing === undefined) throw error;
      return missing;
    });
    for (const [at, index] of indexes.entries()) {
      const item = found[at] as FoundValue;
      const answer = outcomes instanceof CofferError ? outcomes : (outcomes[at] ?? {});
      results[index] = resultFor(item, answer, (given) => resultOf(given, key));
    }
  }
  return results;
}

function resultFor<T>(
  item: FoundValue,
  answer: JsonObject | CofferError,
  resultOf: (answer: JsonObject) => T,
): ValueResult<T> {
  try {
    if (answer instanceof CofferError) throw answer;
    const { error } = answer;
    return typeof error === 'string' ? placedError(item, 'inauthentic', error) : resultOf(answer);
  } catch (error) {
    const known = expected(error);
    return placedError(item, known.kind, known.message, known.hint);
  }
}

/** Returns the ciphertext with the prefix that all compatible servers read, whichever they write. */
const ciphertextOf = ({ version, payload }: SealedValue): string => `vault:v${version}:${payload}`;

function sealedIn(answer: JsonObject, { mount, name }: KeyReference): SealedValue {
  const [, version, payload] = /^[a-z]+:v(\d+):([A-Za-z0-9+/=]+)$/.exec(String(answer['ciphertext'])) ?? [];
  if (version === undefined || payload === undefined) {
    throw unsupported(`the ciphertexts of key "${name}" have a custom format and cannot be stored in files`);
  }
  return { mount, key: name, version: Number(version), payload };
}

function textIn(answer: JsonObject): string {
  const bytes = decodeBase64(String(answer['plaintext']));
  try {
    // A decoder for each value would cost more than decrypting it.
    if (!isUtf8(bytes)) throw unsupported('the decrypted value is not text (UTF-8)');
    return bytes.toString();
  } finally {
    wipe(bytes);
  }
}

interface BatchesRequest {
  readonly operation: 'encrypt' | 'decrypt' | 'rewrap';
  readonly key: KeyReference;
  readonly items: readonly Readonly<Record<string, string>>[];
  readonly more?: object | undefined;
}

async function runBatches(
  session: Session,
  runner: Runner,
  { operation, key: { mount, name }, items, more = {} }: BatchesRequest,
): Promise<readonly JsonObject[]> {
  const answers: JsonObject[] = [];
  const warn = warnOnce(session);
  for (const batch of inBoundedCalls(items, {
    items: MOST_ITEMS,
    size: { most: MOST_SIZE, of: charactersOf },
  })) {
    const outcome = await runner.run(`transit ${operation}`, { name, ...more, batch_input: batch }, mount);
    const { data, warnings } = outcome;
    warn(warnings);
    const results = isObject(data) ? data['batch_results'] : undefined;
    if (!Array.isArray(results) || results.length !== batch.length || !results.every(isObject)) {
      throw unavailable('unexpected response: wrong number of results');
    }
    for (const result of results) answers.push(result);
  }
  return answers;
}

const charactersOf = (item: Readonly<Record<string, string>>): number =>
  Object.values(item).reduce((sum, text) => sum + text.length, 0);

/** Hint about values of which none can be decrypted. */
const OTHER_STORE = `a new store or key cannot decrypt the value; ${SHARING}`;

/** Reference to a key to encrypt with. */
export interface ChosenKey extends KeyReference {
  /** Whether the name is that of a rule, and not of an option or of an encrypted value. */
  readonly isOfRule?: boolean;
}

/** Returns the error for a missing store if there are values encrypted with one. */
export function withoutStore(error: unknown, [first]: readonly FoundValue[]): CofferError | undefined {
  const known = asCofferError(error);
  if (known?.kind !== 'not-found' || first === undefined) return undefined;
  return notFound(`${first.where}: encrypted with key "${first.value.key}", but there is ${known.message}`, {
    hint: OTHER_STORE,
    cause: error,
  });
}

const placedError = (
  { where, name }: FoundValue,
  kind: CofferError['kind'],
  message: string,
  hint?: string,
): CofferError => new CofferError(kind, `${where}: ${name}: ${message}`, { hint });

/**
 * Examines the first values that could not be opened: whether they were moved, or are of a version that the key does
 * not open. If none of several can be opened, and there is no other cause, they are truncated, modified, or of another
 * store, which is reported once.
 */
async function explained<T>(
  session: Session,
  values: readonly FoundValue[],
  results: readonly ValueResult<T>[],
): Promise<readonly ValueResult<T>[]> {
  let left = MOST_EXPLAINED;
  let hasReason = false;
  const outcomes = await Promise.all(
    results.map(async (result, index) => {
      const found = values[index];
      if (found === undefined || !isPuzzling(result) || left-- <= 0) return result;
      const reason = (await otherPlace(session, found, values)) ?? (await unusableKey(session, found.value));
      hasReason ||= reason !== undefined;
      return reason === undefined
        ? placedError(found, 'inauthentic', 'cannot decrypt', lookOf(found.value))
        : placedError(found, 'inauthentic', reason.message, reason.hint);
    }),
  );
  const [first] = values;
  if (first === undefined || values.length < 2 || hasReason || !results.every(isPuzzling)) return outcomes;
  const error = noneOf(values, first);
  return results.map(() => error);
}

const isPuzzling = (result: unknown): boolean =>
  result instanceof CofferError && result.kind === 'inauthentic';

async function otherPlace(
  session: Session,
  { name, value }: FoundValue,
  values: readonly FoundValue[],
): Promise<RefusalReason | undefined> {
  const names = [...new Set([...values.map((other) => other.name), ...neighbours(name)])]
    .filter((other) => other !== name)
    .slice(0, MOST_ITEMS);
  const runner = await session.runner();
  const items = names.map((other) => ({ ciphertext: ciphertextOf(value), ...bindingTo(other) }));
  const answers = await runBatches(session, runner, { operation: 'decrypt', key: keyOf(value), items }).catch(
    () => [],
  );
  const index = answers.findIndex((answer) => answer['error'] === undefined);
  if (index < 0) return undefined;
  return {
    message: `this value was encrypted under another name, ${names[index]}`,
    hint: `move the value back to that name, or set ${name} again`,
  };
}

/** Returns names that a list entry may have had before other entries were added or removed. */
const neighbours = (name: string): readonly string[] =>
  [...name.matchAll(/(^|[.#])(\d+)(?=\.|$)/g)].flatMap(({ index, 0: found, 1: before = '', 2: number }) =>
    [-2, -1, 1, 2]
      .map((step) => Number(number) + step)
      .filter((other) => other >= 0)
      .map((other) => `${name.slice(0, index)}${before}${other}${name.slice(index + found.length)}`),
  );

const lookOf = (value: SealedValue): string =>
  isCut(value)
    ? TRUNCATED
    : `the value was modified, moved from another name, or encrypted with a key "${value.key}" of another store; ${SHARING}`;

/** Returns the error for a file of which no value can be decrypted, once for all of them. */
function noneOf(values: readonly FoundValue[], { where }: FoundValue): CofferError {
  const cut = values.filter(({ value }) => isCut(value)).length;
  const none = `${where}: none of the ${values.length} values can be decrypted`;
  if (cut === 0)
    return new CofferError('inauthentic', `${none}: they were encrypted with another store, or are damaged`, {
      hint: OTHER_STORE,
    });
  const which = cut === values.length ? 'they appear' : `${cut} of them ${cut === 1 ? 'appears' : 'appear'}`;
  return new CofferError('inauthentic', `${none}: ${which} to be truncated`, {
    hint: 'restore the file from git or a backup',
  });
}
