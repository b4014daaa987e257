import type { Offer } from '../../access/doors.ts';
import { asCofferError, type CofferError, denied } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { Log } from '../../service/log.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask, Desk } from './desk.ts';
import { consentBy } from './questions.ts';

interface RemoteDeskOptions {
  readonly ask: Ask | undefined;
  /** Receives internal errors. */
  defect(error: unknown): void;
  /**
   * Called when the server denies an offered operation; not again until the server allows it.
   * @param what operation and key
   */
  refused(error: CofferError, what: string): void;
}

/**
 * Creates the context of a protocol with the keys of a server: the token's policies determine what the server allows,
 * the options of the agent what is offered.
 */
export function remoteDesk(
  kind: AgentDoorKind,
  offers: readonly Offer[],
  runner: Runner,
  { ask, defect, refused }: RemoteDeskOptions,
): Desk {
  /** Operations that the server refused last. */
  const told = new Set<string>();
  return {
    offers: async () => offers,
    async run(operation, raw, mount) {
      const offer = offers.find(
        (one) => one.mount === mount && one.key === raw['name'] && takes(kind, one, operation),
      );
      if (offer === undefined) throw denied('this use of the key is not offered');
      const what = `${operation} ${mount}/${offer.key}`;
      try {
        const outcome = await runner.run(operation, raw, mount);
        told.delete(what);
        return outcome;
      } catch (error) {
        const known = asCofferError(error);
        if (known?.kind !== 'denied') throw error;
        // Programs only learn that the key does not exist, so report the reason to the user.
        if (!told.has(what)) refused(known, what);
        told.add(what);
        throw error;
      }
    },
    consent: consentBy(kind, ask),
    defect,
  };
}

/** Writes errors to a log. */
export const loggedBy = (log: Log): Pick<RemoteDeskOptions, 'defect' | 'refused'> => ({
  defect: (error) => log.defect('internal error', error),
  refused: ({ message, hint }, what) => log.warn('refused', { what, reason: message, hint }),
});

const takes = ({ needs, uses }: AgentDoorKind, offer: Offer, operation: string): boolean =>
  needs.includes(operation) || offer.uses.some((use) => uses[use]?.operations.includes(operation));
