import { asCofferError } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';

const SECOND_MS = 1000;
/** After so much of its time a token is renewed: what is left is enough for a server that is away for a while. */
const RENEWED_AFTER = 2 / 3;
/** A token whose time is this short is at its end, and can't be renewed beyond it. */
const LEAST_MS = 10 * SECOND_MS;
/** So long after a server that did not answer it is asked again. */
const AGAIN_MS = 60 * SECOND_MS;
/** As far ahead as timers reach. */
const MOST_MS = 2 ** 31 - 1;

type Asked = Parameters<Runner['at']>[0];
const LOOK: Asked = { method: 'GET', path: 'auth/token/lookup-self', parameters: {} };
const RENEW: Asked = { method: 'POST', path: 'auth/token/renew-self', parameters: {} };

/**
 * Renews the token of a runner before it ends, as long as the server does that: for a process that stays. A server that does not tell
 * of the token, or refuses to renew it, is not asked again.
 * @returns what ends that.
 * @see docs/decisions/0244
 */
export function keepRenewed(runner: Pick<Runner, 'at'>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const next = (ms: number, asked: Asked): void => {
    if (isOver) return;
    timer = setTimeout(() => void ask(asked), Math.min(ms, MOST_MS)).unref();
  };
  const ask = async (asked: Asked): Promise<void> => {
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

/** Of what a server tells of a token; 0 for one that has no end, or is not renewed. */
function leftMsIn(told: unknown): number {
  if (!isObject(told) || told['renewable'] !== true) return 0;
  const seconds = told['lease_duration'] ?? told['ttl'];
  return typeof seconds === 'number' ? seconds * SECOND_MS : 0;
}
