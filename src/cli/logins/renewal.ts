import { asCofferError } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';

const SECOND_MS = 1000;
/** Fraction of its lifetime after which a token is renewed; the rest bridges an outage of the server. */
const RENEWED_AFTER = 2 / 3;
/**
 * Minimum remaining lifetime of a token, in milliseconds. A shorter one is at its maximum lifetime, and cannot be
 * renewed beyond it.
 */
const LEAST_MS = 10 * SECOND_MS;
/** Time in milliseconds after which a server that did not respond is asked again. */
const AGAIN_MS = 60 * SECOND_MS;
/** Maximum delay of timers, in milliseconds. */
const MOST_MS = 2 ** 31 - 1;

type RenewalRequest = Parameters<Runner['at']>[0];
const LOOK: RenewalRequest = { method: 'GET', path: 'auth/token/lookup-self', parameters: {} };
const RENEW: RenewalRequest = { method: 'POST', path: 'auth/token/renew-self', parameters: {} };

/**
 * Renews the token of a runner before it expires, as long as the server allows it, for a long-running process. A server
 * that does not describe the token, or refuses to renew it, is not asked again.
 * @returns function that stops the renewal
 * @see docs/decisions/0244
 */
export function keepRenewed(runner: Pick<Runner, 'at'>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const next = (ms: number, asked: RenewalRequest): void => {
    if (isOver) return;
    timer = setTimeout(() => void ask(asked), Math.min(ms, MOST_MS)).unref();
  };
  const ask = async (asked: RenewalRequest): Promise<void> => {
    try {
      const { data, auth } = await runner.at(asked);
      const leftMs = leftMsIn(asked === LOOK ? data : auth);
      if (leftMs >= LEAST_MS) next(leftMs * RENEWED_AFTER, RENEW);
    } catch (error) {
      if (asCofferError(error)?.kind === 'unavailable') next(AGAIN_MS, asked);
    }
  };
  void ask(LOOK);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Returns the remaining lifetime in a response about a token; 0 if it does not expire or is not renewable. */
function leftMsIn(told: unknown): number {
  if (!isObject(told) || told['renewable'] !== true) return 0;
  const seconds = told['lease_duration'] ?? told['ttl'];
  return typeof seconds === 'number' ? seconds * SECOND_MS : 0;
}
