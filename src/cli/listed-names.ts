import { isObject } from '../ground/objects.ts';
import { trimSlashes } from '../ground/trim.ts';
import type { Operation, Runner } from '../operations/declaration/operation.ts';
import { type KindFacts, kindNamed, RESOURCE_KINDS } from '../operations/declaration/resource-kinds.ts';
import { loadOperation } from '../operations/runner.ts';
import type { Credential } from '../store/slots/unlock.ts';
import { agentInPlaceOfSecret } from './agent/find.ts';
import type { ArgumentSpec, Invocation, OptionSpec } from './command.ts';
import { rawLines } from './files/output.ts';
import { methodOf, mountOfMethod } from './parse/operation-spec.ts';
import { openUnlocked } from './runner-local.ts';
import type { Session } from './session.ts';
import { visible } from './terminal/visible.ts';
import { withPermission } from './with-permission.ts';

/*
 * Names that exist, for completions and suggestions: listed by the operation that lists them, as the same caller, so
 * that nothing is shown that the caller could not list.
 */

/**
 * Opens the store or connects to the server of a session without ever asking the user.
 * @param credentials secrets to try if no agent has the store open
 */
export async function openWithoutAsking(
  session: Session,
  credentials: readonly Credential[],
): Promise<Runner> {
  const { address } = session.settings;
  if (address === undefined) {
    const agent = await agentInPlaceOfSecret(session);
    return agent?.runner(session.settings) ?? openUnlocked(session, credentials);
  }
  const { openRemote } = await import('./runner-remote.ts');
  return openRemote(session, address);
}

/**
 * Returns the runner for listing names that the user did not ask for; undefined for scripts with a server, to avoid
 * additional requests.
 * @param mount default: that of the runner
 */
export async function listingRunner(
  session: Session,
  runner: Runner,
  mount?: string,
): Promise<Runner | undefined> {
  return mayList(session) ? withPermission(session, runner, mount) : undefined;
}

/** Whether names may be listed that the user did not ask for: scripts send a server no additional requests. */
export const mayList = ({ settings, streams }: Session): boolean =>
  settings.address === undefined || streams.err.isTerminal;

/** Operation that lists names, and how. */
export interface ListedKind {
  readonly operation: Operation;
  /** Parameter that filters the list. */
  readonly search: string | undefined;
  /** Mount whose names are listed; default: that of the runner. */
  readonly mount?: string | undefined;
}

/** Returns the list of a kind of names. */
export async function listedKind({ list, search }: KindFacts): Promise<ListedKind> {
  return { operation: await loadOperation(list), search };
}

/**
 * Returns the list that the value of an argument or an option is in.
 * @returns undefined if it is no name of something that exists
 */
export async function listedFor(
  invocation: Invocation,
  spec: ArgumentSpec | OptionSpec,
): Promise<ListedKind | undefined> {
  // A key that is near may not sign, but the user knows the name.
  const offered = spec.offers === 'signing-key' ? 'key' : spec.offers;
  const facts = offered === undefined ? siblingList(invocation, spec) : kindNamed(offered);
  if (facts === undefined) return undefined;
  const kind = await listedKind(facts);
  const method = methodOf(facts.list.split(' '), kind.operation);
  return method === undefined ? kind : { ...kind, mount: mountOfMethod(method, invocation.given.options) };
}

/** Lists what a command of the same group lists, for kinds of names that parameters do not refer to, such as roles. */
const siblingList = (
  { path, command }: Invocation,
  spec: ArgumentSpec | OptionSpec,
): KindFacts | undefined =>
  spec === command.arguments[0] && path.length > 2
    ? { list: [...path.slice(0, -1), 'list'].join(' '), example: '' }
    : undefined;

/** Number of entries on a page; the API allows no more. */
const PAGE_SIZE = 100;

/** Number of parts of a word; with two slips in it, one of them is intact. */
const PARTS = 3;

/** First names of a list, and how many it has. */
interface FirstNames {
  readonly names: readonly string[];
  readonly total: number;
}

/** Returns the names of a kind of resource. */
export const namesOf = async (
  runner: Runner,
  kind: keyof typeof RESOURCE_KINDS,
  most?: number,
): Promise<NameList> => new NameList(runner, await listedKind(RESOURCE_KINDS[kind]), most);

/** Names that an operation lists. */
export class NameList {
  readonly #runner: Runner;
  readonly #kind: ListedKind;
  readonly #most: number | undefined;
  readonly #raw: Readonly<Record<string, unknown>>;

  /** @param most maximum number of names to compare a word with, where a list is not divided into pages */
  constructor(runner: Runner, kind: ListedKind, most?: number) {
    this.#runner = runner;
    this.#kind = kind;
    this.#most = most;
    const organization = Object.entries(kind.operation.params).find(([, { cli }]) => cli.flag === 'org');
    this.#raw = organization === undefined ? {} : { [organization[0]]: runner.organization };
  }

  /** Lists the first page. */
  async first(): Promise<FirstNames> {
    const { names, total } = await this.#page({});
    return { names: names.map(trimSlashes), total: Math.max(total, names.length) };
  }

  /** Lists the names for a completion: of a long list only those that contain what was typed. */
  async containing(typed: string): Promise<readonly string[]> {
    const { search } = this.#kind;
    const query = search === undefined || typed === '' ? {} : { [search]: typed };
    return (await this.#page(query)).names;
  }

  /** Lists the names; of a long list only those that share a part with the word, and of one that is too long none. */
  async near(word: string): Promise<readonly string[]> {
    const { search, operation } = this.#kind;
    const isBounded = this.#most !== undefined && operation.params['limit'] !== undefined;
    if (isBounded) return this.#within(this.#most);
    const { names, total } = await this.first();
    if (total <= PAGE_SIZE || search === undefined) return names;
    const found = await Promise.all(partsOf(word).map((part) => this.#page({ [search]: part })));
    return [...new Set([...names, ...found.flatMap((page) => page.names.map(trimSlashes))])];
  }

  /** Whether there is this name; false as well where the list is too long to look at. */
  async has(name: string): Promise<boolean> {
    return (await this.near(name)).includes(name);
  }

  /** Lists the names if they are no more than a number. */
  async #within(most: number): Promise<readonly string[]> {
    const { names } = await this.#page({ limit: most + 1 });
    return names.length > most ? [] : names.map(trimSlashes);
  }

  async #page(query: Readonly<Record<string, unknown>>): Promise<FirstNames> {
    const { operation, mount } = this.#kind;
    const { cli = {} } = operation;
    const size = cli.paged ? { 'page[size]': PAGE_SIZE } : {};
    const raw = { ...this.#raw, ...size, ...query };
    const { data } = await this.#runner.run(operation, raw, mount);
    // Other users chose the names, and control characters could change the terminal.
    const names = rawLines(data, cli).filter((name) => visible(name) === name);
    return { names, total: totalIn(data) };
  }
}

function partsOf(word: string): readonly string[] {
  const length = Math.ceil(word.length / PARTS);
  return Array.from({ length: PARTS }, (_, index) => word.slice(index * length, (index + 1) * length)).filter(
    (part) => part !== '',
  );
}

/** Returns the number of all entries of a paged list; 0 for any other. */
function totalIn(data: unknown): number {
  const meta = isObject(data) ? data['meta'] : undefined;
  const pagination = isObject(meta) ? meta['pagination'] : undefined;
  return isObject(pagination) ? Number(pagination['total-count'] ?? 0) : 0;
}
