import { asCofferError, type ErrorKind } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';

const SECOND_MS = 1000;
/** Fraction of its lifetime after which a token is renewed; the rest bridges an outage of the server. */
const RENEWED_AFTER = 2 / 3;
/**
 * Minimum remaining lifetime of a token, in milliseconds: servers report whole seconds. Close to its maximum lifetime,
 * each renewal leaves a token less than the one before, until it has less than this.
 */
const LEAST_MS = SECOND_MS;
/**
 * Time after which a server that did not respond is asked again: this part of the time since it was first asked, within
 * limits in milliseconds. So even a token with a lifetime of a minute outlasts a restart of the server.
 */
const AGAIN = { part: 1 / 10, leastMs: SECOND_MS, mostMs: 60 * SECOND_MS } as const;
/** Responses that are no outage of the server: it would refuse the same request again. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set(['denied', 'invalid', 'not-found', 'unsupported']);
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
  /** When the server did not respond first; undefined if it responded last. */
  let awaySince: number | undefined;
  const next = (ms: number, asked: RenewalRequest): void => {
    if (isOver) return;
    timer = setTimeout(() => void ask(asked), Math.min(ms, MOST_MS)).unref();
  };
  const ask = async (asked: RenewalRequest): Promise<void> => {
    try {
      const { data, auth } = await runner.at(asked);
      awaySince = undefined;
      const leftMs = leftMsIn(asked === LOOK ? data : auth);
      if (leftMs >= LEAST_MS) next(leftMs * RENEWED_AFTER, RENEW);
    } catch (error) {
      const kind = asCofferError(error)?.kind;
      if (kind === undefined || REFUSALS.has(kind)) return;
      const now = performance.now();
      awaySince ??= now;
      next(Math.min(Math.max((now - awaySince) * AGAIN.part, AGAIN.leastMs), AGAIN.mostMs), asked);
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
