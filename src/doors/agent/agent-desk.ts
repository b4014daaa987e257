import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../access/access.ts';
import { Acl } from '../../access/acl.ts';
import { BIT_OF } from '../../access/capability.ts';
import type { Offer } from '../../access/doors.ts';
import type { PathRule } from '../../access/path-rule.ts';
import { asCofferError, CofferError, denied, notFound } from '../../ground/errors.ts';
import { type Operation, type Outcome, resultOf } from '../../operations/declaration/operation.ts';
import { type Method, pathParams, printPath, routesOf } from '../../operations/declaration/route.ts';
import type { AnswerPrinter, Result } from '../../operations/pipeline/asked-request.ts';
import { type Endpoint, VaultEndpoints } from '../../operations/pipeline/endpoints.ts';
import { perform } from '../../operations/pipeline/perform.ts';
import type { StoreLook } from '../../operations/pipeline/store-look.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import { loadOperation } from '../../operations/runner.ts';
import type { Agent } from '../../service/agent/agent.ts';
import type { NoteFailure, ServedCore } from '../../service/served-core.ts';
import { dataStatus } from '../http/status-codes.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask, Desk } from './desk.ts';
import { consentBy, type UnlockQuestion } from './questions.ts';

/** Result of the operation, or its error. */
type Answered = { readonly outcome: Outcome<unknown> } | { readonly error: unknown };

/** Parameters by their wire names. */
type RawParameters = Readonly<Record<string, unknown>>;

/** What the requests for an operation on one key have in common. */
interface KnownRequest {
  readonly endpoint: Endpoint;
  readonly printer: AnswerPrinter<Answered>;
}

/** Maximum number of cached endpoints, more than a protocol has offered keys. */
const MOST_ENDPOINTS = 512;

/**
 * Operation that a protocol requests, with everything that a request derives from its declaration. Its endpoints are
 * cached while the store does not change: programs use the same few keys again and again.
 */
class DoorOperation {
  /** Whether it uses a key. Reading does not count as a use, and does not keep the store open. */
  readonly isUse: boolean;
  readonly #failed: NoteFailure;
  readonly #route: ServedRoute;
  readonly #params: readonly string[];
  /** Endpoints of this route only. */
  readonly #endpoints: VaultEndpoints;
  /** Look that the cached endpoints were resolved at, and they by their mount and the parameters of the path. */
  #look: StoreLook | undefined;
  readonly #known = new Map<string, KnownRequest>();

  private constructor(words: string, operation: Operation, failed: NoteFailure) {
    const { capability } = operation;
    this.isUse = capability !== 'read' && capability !== 'list';
    this.#failed = failed;
    const [route, ...others] = routesOf(operation);
    if (route === undefined || others.length > 0) throw new Error('the operation has several routes');
    this.#route = { name: words, summary: '', operation, route };
    this.#params = pathParams(route);
    this.#endpoints = new VaultEndpoints([this.#route]);
  }

  /**
   * @param words words of the operation in the catalogue
   * @param failed logs errors
   */
  static async load(words: string, failed: NoteFailure): Promise<DoorOperation> {
    return new DoorOperation(words, await loadOperation(words), failed);
  }

  /**
   * Runs it for an identity without a token, in the same pipeline as every request.
   * @param raw wire name → JSON value
   * @throws errors of the operation; `denied`; `not-found` for an unknown mount; `unavailable` if it cannot be recorded
   */
  async perform(
    served: ServedCore,
    { identity, look }: { readonly identity: TokenIdentity; readonly look: StoreLook },
    mount: string,
    raw: RawParameters,
  ): Promise<Outcome<unknown>> {
    const { endpoint, printer } = this.#at(look, mount, raw);
    const sent = besidePath(endpoint, raw);
    const asked = {
      id: randomUUID(),
      endpoint,
      token: undefined,
      identity,
      remoteAddress: '',
      parameters: () => ({ sent, recorded: sent }),
    };
    const answered = await perform(served, asked, printer);
    if ('outcome' in answered) return answered.outcome;
    throw answered.error;
  }

  /** Returns what is known of the requests with the given parameters below a mount. */
  #at(look: StoreLook, mount: string, raw: RawParameters): KnownRequest {
    if (look !== this.#look) {
      this.#known.clear();
      this.#look = look;
    }
    let name = JSON.stringify(mount);
    for (const param of this.#params) name += `,${JSON.stringify(raw[param])}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const endpoint = this.#endpoints.of(look, this.#route, mount, raw);
    if (this.#known.size >= MOST_ENDPOINTS) this.#known.clear();
    const found = { endpoint, printer: printerOf(endpoint.method, this.#failed) };
    this.#known.set(name, found);
    return found;
  }
}

/** Returns the parameters that are not part of the path. */
function besidePath({ match }: Endpoint, raw: RawParameters): RawParameters {
  if (typeof match === 'string') return raw;
  const sent: Record<string, unknown> = {};
  for (const name in raw) {
    if (!Object.hasOwn(match.captures, name)) sent[name] = raw[name];
  }
  return sent;
}

function printerOf(method: Method, failed: NoteFailure): AnswerPrinter<Answered> {
  const refused = (status: number, error: CofferError): Result<Answered> => ({
    answer: { error },
    status,
    error: error.message,
  });
  const unwelcome = (): Result<Answered> => refused(403, denied('this use of the key is not offered'));
  return {
    unauthenticated: unwelcome,
    denied: unwelcome,
    missing: () => refused(404, notFound('nothing is mounted at this path')),
    printed: ({ outcome }) => ({ answer: { outcome }, status: 200, data: resultOf(outcome) }),
    failed(error) {
      failed(error);
      const known = asCofferError(error);
      if (known === undefined) return refused(500, new CofferError('unavailable', 'internal error'));
      return refused(dataStatus(known, method), known);
    },
    unrecorded(error, reported) {
      if (reported === undefined) failed(error);
      return { error };
    },
  };
}

/** Offers of the protocol and the identity of its clients, as of a look at the store. */
interface DeskOpening {
  readonly look: StoreLook;
  readonly offers: readonly Offer[];
  readonly identity: TokenIdentity;
}

/** Store at the time of a request. */
interface Visit extends DeskOpening {
  readonly served: ServedCore;
}

const wasUsed = (): boolean => true;

/**
 * Creates the context of a protocol on the store that an agent has open: offers are stored, and read for each request.
 * @param ask undefined if the user cannot be asked
 * @param question undefined if the user cannot be asked to unlock the store
 */
export function agentDesk(
  agent: Agent,
  kind: AgentDoorKind,
  ask: Ask | undefined,
  question: UnlockQuestion | undefined,
): Desk {
  const { service } = agent;
  const operations = new Map<string, DoorOperation>();
  /** Result of the last look at the store. If the next look returns the same object, the store has not changed. */
  let last: DeskOpening | undefined;
  let visit: Visit | undefined;

  /**
   * Looks at the store for a request. A request looks up the offers and uses an offered key at once, so both share one
   * look. It is forgotten before any new request can arrive, so whatever follows an operation that takes time has a new
   * look.
   * @see docs/decisions/0267
   */
  const enter = async (how?: 'quietly'): Promise<Visit> => {
    if (how !== 'quietly' && agent.isWaiting) await question?.put(kind.name);
    const { served, look } = await agent.look();
    const opening = last?.look === look ? last : await openingAt(served, look);
    last = opening;
    visit = { ...opening, served };
    process.nextTick(() => {
      visit = undefined;
    });
    return visit;
  };
  const openingAt = async (served: ServedCore, look: StoreLook): Promise<DeskOpening> => {
    const offers = await served.access.doors.offers(kind.name);
    const identity =
      offers === last?.offers ? last.identity : doorIdentity(kind.name, await rulesOf(kind, offers));
    return { look, offers, identity };
  };
  /** What this turn of the event loop has found already, or a new look. */
  const here = (how?: 'quietly'): Visit | Promise<Visit> =>
    visit !== undefined && visit.served === service.served ? visit : enter(how);
  const load = async (words: string): Promise<DoorOperation> => {
    const operation = await DoorOperation.load(words, service.failed);
    operations.set(words, operation);
    return operation;
  };
  return {
    offers: async (how) => (await here(how)).offers,
    async run(words, raw, mount) {
      const operation = operations.get(words) ?? (await load(words));
      const entered = here();
      const known = entered instanceof Promise ? await entered : entered;
      if (!operation.isUse) return operation.perform(known.served, known, mount, raw);
      return agent.busyWith(wasUsed, () => operation.perform(known.served, known, mount, raw));
    },
    consent: consentBy(kind, ask),
    revision: async () => (await here('quietly')).look.revision,
    defect: (error) => void service.failed(error),
  };
}

/** Converts offers to policy rules: the paths of the operations that the uses require, only for these keys. */
async function rulesOf(kind: AgentDoorKind, offers: readonly Offer[]): Promise<readonly PathRule[]> {
  const rules = await Promise.all(offers.map((offer) => rulesOfOne(kind, offer)));
  return rules.flat();
}

async function rulesOfOne({ uses, needs }: AgentDoorKind, offer: Offer): Promise<readonly PathRule[]> {
  const words = new Set([
    ...needs,
    ...offer.uses.flatMap((use) => (Object.hasOwn(uses, use) ? (uses[use]?.operations ?? []) : [])),
  ]);
  const operations = await Promise.all([...words].map(loadOperation));
  return operations.flatMap((operation) =>
    routesOf(operation).map((route) => {
      const path = printPath(route, (param) => (param === 'name' ? offer.key : undefined));
      return {
        pattern: `${offer.mount}/${path}`,
        permissions: { capabilities: BIT_OF[operation.capability] },
      };
    }),
  );
}

/**
 * Creates the identity of programs that use an agent protocol: a token without a secret, whose policy is the protocol's
 * offers.
 * @param rules offers in the form of policy rules
 */
function doorIdentity(door: string, rules: readonly PathRule[]): TokenIdentity {
  const name = `door/${door}`;
  // Names of policies and accessors of tokens contain no slash, so this name is unique.
  return { accessor: name, displayName: name, policies: [name], acl: new Acl(rules) };
}
