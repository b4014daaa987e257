import type { TokenIdentity } from '../../access/access.ts';
import { doorIdentity } from '../../access/door-identity.ts';
import type { Offer } from '../../access/doors.ts';
import { CofferError } from '../../ground/errors.ts';
import type { Operation } from '../../operations/declaration/operation.ts';
import { loadOperation } from '../../operations/runner.ts';
import type { Agent } from '../../service/agent/agent.ts';
import type { ServedCore } from '../../service/served-core.ts';
import type { AgentDoorKind } from './agent-door.ts';
import { consentBy } from './consent.ts';
import type { Ask, Desk } from './desk.ts';
import { rulesOf } from './offered-rules.ts';
import { type Known, performAs } from './perform-as.ts';
import type { UnlockQuestion } from './unlock-question.ts';

/** Offers of one protocol, and the identity of its clients. */
interface Opening {
  readonly offers: readonly Offer[];
  readonly identity: TokenIdentity;
}

/**
 * The desk of a door to the store that an agent holds open: what is offered is kept in the store, and looked up for each request.
 * @param ask undefined where nobody can be asked.
 * @param question undefined where nobody can be asked to unlock the store.
 */
export function agentDesk(
  agent: Agent,
  kind: AgentDoorKind,
  ask: Ask | undefined,
  question: UnlockQuestion | undefined,
): Desk {
  const openings = new WeakMap<readonly Offer[], Opening>();
  const open = async (served: ServedCore): Promise<Opening & Known> => {
    const revision = await served.revision();
    const offers = await served.access.doors.offers(kind.name);
    const known = openings.get(offers);
    if (known !== undefined) return { ...known, revision };
    const opening = { offers, identity: doorIdentity(kind.name, await rulesOf(kind, offers)) };
    openings.set(offers, opening);
    return { ...opening, revision };
  };
  const served = (): ServedCore => {
    const core = agent.service.served;
    if (core !== undefined) return core;
    throw new CofferError('sealed', 'the store is locked', { hint: 'run "coffer unlock"' });
  };
  const unlocked = async (): Promise<void> => {
    if (agent.isWaiting) await question?.put(kind.name);
  };
  return {
    async offers(how) {
      if (how !== 'quietly') await unlocked();
      return agent.with(undefined, async () => (await open(served())).offers);
    },
    async run(words, raw, mount) {
      await unlocked();
      const operation = await loadOperation(words);
      return agent.with(isUse(operation) ? () => true : undefined, async () => {
        const core = served();
        return performAs(core, await open(core), { operation, raw, mount }, agent.service.failed);
      });
    },
    consent: consentBy(kind, ask),
    revision: async () => served().revision(),
    defect: (error) => void agent.service.failed(error),
  };
}

/** Who only looks does not keep the store open. */
const isUse = ({ capability }: Operation): boolean => capability !== 'read' && capability !== 'list';
