import type { Offer } from '../../access/doors.ts';
import { denied } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { consentBy } from './agent-desk.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask, Desk } from './desk.ts';

/**
 * The desk of a door to the keys of a server: what the server allows is what the policies of the token say; what is offered is what
 * whoever started the agent has said.
 * @param defect takes what nobody foresaw.
 */
export const remoteDesk = (
  kind: AgentDoorKind,
  offers: readonly Offer[],
  runner: Runner,
  { ask, defect }: { readonly ask: Ask | undefined; defect(error: unknown): void },
): Desk => ({
  offers: async () => offers,
  async run(operation, raw, mount) {
    const isGranted = offers.some(
      (offer) => offer.mount === mount && offer.key === raw['name'] && takes(kind, offer, operation),
    );
    if (!isGranted) throw denied('this is not offered here');
    return runner.run(operation, raw, mount);
  },
  consent: consentBy(kind, ask),
  defect,
});

const takes = ({ needs, uses }: AgentDoorKind, offer: Offer, operation: string): boolean =>
  needs.includes(operation) || offer.uses.some((use) => uses[use]?.operations.includes(operation));
