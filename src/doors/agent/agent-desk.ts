import type { TokenIdentity } from '../../access/access.ts';
import { doorIdentity } from '../../access/door-identity.ts';
import type { Offer } from '../../access/doors.ts';
import type { StoreLook } from '../../operations/pipeline/store-look.ts';
import type { Agent } from '../../service/agent/agent.ts';
import type { ServedCore } from '../../service/served-core.ts';
import type { AgentDoorKind } from './agent-door.ts';
import { consentBy } from './consent.ts';
import type { Ask, Desk } from './desk.ts';
import { DoorOperations } from './door-operations.ts';
import { rulesOf } from './offered-rules.ts';
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
