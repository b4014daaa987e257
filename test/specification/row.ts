import { fail, ok as isTrue } from 'node:assert/strict';
import type { OperationName } from './operations.ts';
import type { Outcome, Side } from './sides.ts';

/** Rows of the specifications, each with a check that holds over HTTP and by the command. */

/** A value, or what makes it on the side where the check runs. */
type Given = unknown | ((side: Side) => Promise<unknown>);
export type Params = Readonly<Record<string, unknown>>;
export type GivenParams = Readonly<Record<string, Given>>;

export interface Row {
  /** What the specification says, in our words. */
  readonly text: string;
  readonly check: (side: Side) => Promise<void>;
  /** Where the other way can't be asked, e.g. for the shape of a request. */
  readonly only?: Side['way'];
}

export interface Chapter {
  readonly title: string;
  readonly rows: readonly Row[];
}

async function made(side: Side, params: GivenParams): Promise<Params> {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(params)) entries.push([name, await resolved(side, value)]);
  return Object.fromEntries(entries);
}

async function resolved(side: Side, value: unknown): Promise<unknown> {
  if (typeof value === 'function') return (value as (side: Side) => Promise<unknown>)(side);
  if (Array.isArray(value)) return Promise.all(value.map((item) => resolved(side, item)));
  if (typeof value === 'object' && value !== null) return made(side, value as GivenParams);
  return value;
}

export const outcomeOf = async (
  side: Side,
  operation: OperationName,
  params: GivenParams,
): Promise<Outcome> => side.run(operation, await made(side, params));

/** What an operation that must succeed answers. */
export async function ask(side: Side, operation: OperationName, params: GivenParams = {}): Promise<unknown> {
  const outcome = await outcomeOf(side, operation, params);
  if ('data' in outcome) return outcome.data;
  return fail(`${operation} ${JSON.stringify(params)} was refused: ${outcome.refusal}`);
}

/** A member of what an operation answers: `text('encrypt', …, 'ciphertext')`. */
export const member =
  (operation: OperationName, params: GivenParams, ...path: readonly (string | number)[]) =>
  async (side: Side): Promise<unknown> =>
    path.reduce<unknown>(
      (value, name) => (value as Record<string | number, unknown> | undefined)?.[name],
      await ask(side, operation, params),
    );

/** An expected value: itself, a pattern of its text, a test of it, or members and items that must be so. */
type Expected = unknown;

function mismatch(actual: unknown, expected: Expected, at: string): string | undefined {
  if (expected instanceof RegExp)
    return expected.test(String(actual)) ? undefined : `${at} is ${shown(actual)}, not like ${expected}`;
  if (typeof expected === 'function')
    return (expected as (value: unknown) => boolean)(actual) ? undefined : `${at} is ${shown(actual)}`;
  if (typeof expected !== 'object' || expected === null) {
    return actual === expected ? undefined : `${at} is ${shown(actual)}, not ${shown(expected)}`;
  }
  if (typeof actual !== 'object' || actual === null)
    return `${at} is ${shown(actual)}, not ${shown(expected)}`;
  if (Array.isArray(expected) && (actual as unknown[]).length !== expected.length) {
    return `${at} has ${(actual as unknown[]).length} items, not ${expected.length}`;
  }
  for (const [name, value] of Object.entries(expected)) {
    const wrong = mismatch((actual as Record<string, unknown>)[name], value, `${at}.${name}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? String(value);

export function expectLike(actual: unknown, expected: Expected): void {
  const wrong = mismatch(actual, expected, 'data');
  isTrue(wrong === undefined, wrong);
}

/** A row whose operation must succeed and answer like this. */
export const gives = (
  text: string,
  operation: OperationName,
  params: GivenParams,
  expected: Expected,
): Row => ({
  text,
  check: async (side) => expectLike(await ask(side, operation, params), expected),
});

/** A row whose operation must be refused, in words like these. */
export const refuses = (text: string, operation: OperationName, params: GivenParams, words = /./): Row => ({
  text,
  async check(side) {
    const outcome = await outcomeOf(side, operation, params);
    isTrue('refusal' in outcome, `${operation} was not refused: ${shown(outcome)}`);
    isTrue(words.test(outcome.refusal), `refused in other words: ${outcome.refusal}`);
  },
});

/** A row that takes several steps. */
export const holds = (text: string, check: Row['check']): Row => ({ text, check });

/** A row about requests and answers of HTTP as such. */
export const overHttp = (text: string, check: Row['check']): Row => ({ text, check, only: 'HTTP' });

const KEYS = new WeakMap<Side, Map<string, Promise<unknown>>>();
let count = 0;

/** A key with these settings, made on each side when it is first needed. It is shared: rows that change one take `freshKey`. */
export const key =
  (type: string, settings: Params = {}) =>
  async (side: Side): Promise<string> => {
    const name = `${type}${Object.entries(settings)
      .map(([word, value]) => `-${word}-${String(value)}`)
      .join('')}`;
    const keys = KEYS.get(side) ?? new Map<string, Promise<unknown>>();
    KEYS.set(side, keys);
    if (!keys.has(name)) keys.set(name, ask(side, 'create', { name, type, ...settings }));
    await keys.get(name);
    return name;
  };

/** A key of its own for one row. */
export const freshKey =
  (settings: Params = {}, versions = 1) =>
  async (side: Side): Promise<string> => {
    const name = `own-${++count}`;
    await ask(side, 'create', { name, ...settings });
    for (let version = 1; version < versions; version++) await ask(side, 'rotate', { name, force: true });
    return name;
  };

/** The name of no key yet. */
export const freeName = async (): Promise<string> => `new-${++count}`;

export const b64 = (text: string): string => Buffer.from(text).toString('base64');
