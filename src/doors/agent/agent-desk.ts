import type { TokenIdentity } from '../../access/access.ts';
import { Acl } from '../../access/acl.ts';
import { BIT_OF } from '../../access/capability.ts';
import type { Offer } from '../../access/doors.ts';
import type { PathRule } from '../../access/path-rule.ts';
import { printPath, routesOf } from '../../operations/declaration/route.ts';
import type { StoreLook } from '../../operations/pipeline/store-look.ts';
import { loadOperation } from '../../operations/runner.ts';
import type { Agent } from '../../service/agent/agent.ts';
import type { ServedCore } from '../../service/served-core.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask, Desk } from './desk.ts';
import { DoorOperation } from './door-operation.ts';
import { consentBy, type UnlockQuestion } from './questions.ts';

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
