import type { Offer } from '../../access/doors.ts';
import { asCofferError, type CofferError, denied } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { Log } from '../../service/log.ts';
import type { AgentDoorKind } from './agent-door.ts';
import { consentBy } from './consent.ts';
import type { Ask, Desk } from './desk.ts';

export interface RemoteDeskOptions {
  readonly ask: Ask | undefined;
  /** Takes what nobody foresaw. */
  defect(error: unknown): void;
  /** Takes what the server refuses of what is offered, once until it allows it again. @param what the operation and the key. */
  refused(error: CofferError, what: string): void;
}

/**
 * The desk of a door to the keys of a server: what the server allows is what the policies of the token say; what is offered is what
 * whoever started the agent has said.
 */
export function remoteDesk(
  kind: AgentDoorKind,
  offers: readonly Offer[],
  runner: Runner,
  { ask, defect, refused }: RemoteDeskOptions,
): Desk {
  /** What the server refused when it was asked last. */
  const told = new Set<string>();
  return {
    offers: async () => offers,
    async run(operation, raw, mount) {
      const offer = offers.find(
        (one) => one.mount === mount && one.key === raw['name'] && takes(kind, one, operation),
      );
      if (offer === undefined) throw denied('this is not offered here');
      const what = `${operation} ${mount}/${offer.key}`;
      try {
        const outcome = await runner.run(operation, raw, mount);
        told.delete(what);
        return outcome;
      } catch (error) {
        const known = asCofferError(error);
        if (known?.kind !== 'denied') throw error;
        // The programs of a door are only told that there is no such key: who started it has to hear why.
        if (!told.has(what)) refused(known, what);
        told.add(what);
        throw error;
      }
    },
    consent: consentBy(kind, ask),
    defect,
  };
}

/** What goes wrong at a desk, in a log. */
export const loggedBy = (log: Log): Pick<RemoteDeskOptions, 'defect' | 'refused'> => ({
  defect: (error) => log.defect('a door failed', error),
  refused: ({ message, hint }, what) => log.warn('refused', { what, reason: message, hint }),
});

const takes = ({ needs, uses }: AgentDoorKind, offer: Offer, operation: string): boolean =>
  needs.includes(operation) || offer.uses.some((use) => uses[use]?.operations.includes(operation));
