import type { TokenIdentity } from '../../access/access.ts';
import { Acl } from '../../access/acl.ts';
import { bitOf } from '../../access/capability.ts';
import type { Offer } from '../../access/doors.ts';
import type { PathRule } from '../../access/path-rule.ts';
import { printPath, routesOf } from '../../operations/declaration/route.ts';
import type { StoreLook } from '../../operations/pipeline/store-look.ts';
import { loadOperation } from '../../operations/runner.ts';
import type { Agent } from '../../service/agent/agent.ts';
import type { ServedCore } from '../../service/served-core.ts';
import type { AgentDoorKind } from './agent-door.ts';
import { consentBy } from './consent.ts';
import type { Ask, Desk } from './desk.ts';
import { DoorOperations } from './door-operations.ts';
import { performAs } from './perform-as.ts';
import type { UnlockQuestion } from './unlock-question.ts';

/** Offers of one protocol, and the identity of its clients. */
interface DeskOpening {
  readonly offers: readonly Offer[];
  readonly identity: TokenIdentity;
}

/** Store at the time of a request, with the offers of the protocol. */
interface Visit extends DeskOpening {
  readonly served: ServedCore;
  readonly look: StoreLook;
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
  const operations = new DoorOperations();
  const openings = new WeakMap<readonly Offer[], DeskOpening>();
  let visit: Visit | undefined;

  /**
   * Looks at the store for a request. A request looks up the offers and uses an offered key at once, so both share one
   * look. It is forgotten before any new request can arrive, so whatever follows an operation that takes time has a new
   * look.
   * @see docs/decisions/0267
   */
  const enter = async (): Promise<Visit> => {
    if (visit !== undefined && visit.served === agent.service.served) return visit;
    const found = await agent.look();
    const offers = await found.served.access.doors.offers(kind.name);
    visit = { ...found, ...(openings.get(offers) ?? (await openingOf(offers))) };
    process.nextTick(() => {
      visit = undefined;
    });
    return visit;
  };
  const openingOf = async (offers: readonly Offer[]): Promise<DeskOpening> => {
    const opening = { offers, identity: doorIdentity(kind.name, await rulesOf(kind, offers)) };
    openings.set(offers, opening);
    return opening;
  };
  return {
    async offers(how) {
      if (how !== 'quietly' && agent.isWaiting) await question?.put(kind.name);
      return (await enter()).offers;
    },
    async run(words, raw, mount) {
      if (agent.isWaiting) await question?.put(kind.name);
      const found = operations.known(words) ?? (await operations.load(words));
      const { served, look, identity } = await enter();
      const work = () => performAs(served, { identity, look }, { found, raw, mount }, agent.service.failed);
      return found.isUse ? agent.busyWith(wasUsed, work) : work();
    },
    consent: consentBy(kind, ask),
    revision: async () => (await enter()).look.revision,
    defect: (error) => void agent.service.failed(error),
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
        permissions: { capabilities: bitOf(operation.capability) },
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
