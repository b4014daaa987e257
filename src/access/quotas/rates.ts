import { elapsedMs } from '../../ground/clock.ts';
import { sourceOf } from '../login/sources.ts';
import type { RateLimit } from './rate-limit.ts';

/** What a limit says of one request. */
export interface Rated {
  readonly isAllowed: boolean;
  /** Requests in an interval, and how many are left of them. */
  readonly limit: number;
  readonly left: number;
  /** Seconds until there are as many again. */
  readonly resetsIn: number;
}

interface Bucket {
  readonly endsMs: number;
  left: number;
  blockedUntilMs: number;
}

/** Addresses that are remembered; past it the one that was seen first goes. */
const REMEMBERED = 20_000;

/** How often addresses asked of late, by limit. In memory and per process: a stranger must not be able to make a server write. */
export class Rates {
  readonly #elapsedMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param now milliseconds since any moment, never going back; tests hand in their own. */
  constructor(now: () => number = elapsedMs) {
    this.#elapsedMs = now;
  }

  /** Counts a request, by its address unless the limit counts all of them together. */
  take(limit: RateLimit, address: string): Rated {
    const now = this.#elapsedMs();
    const { tokens, intervalMs } = sizesOf(limit);
    const source = limit.group_by === 'none' ? '*' : sourceOf(address);
    const key = `${limit.name} ${limit.rate} ${limit.interval} ${limit.path} ${source}`;
    const bucket = this.#bucket(key, now, tokens, intervalMs);
    const isBlocked = bucket.blockedUntilMs > now;
    const isAllowed = !isBlocked && bucket.left > 0;
    if (isAllowed) bucket.left -= 1;
    else if (!isBlocked) bucket.blockedUntilMs = now + limit.block_interval * 1000;
    const freeMs = isAllowed ? bucket.endsMs : Math.max(bucket.endsMs, bucket.blockedUntilMs);
    return { isAllowed, limit: tokens, left: bucket.left, resetsIn: Math.ceil((freeMs - now) / 1000) };
  }

  #bucket(key: string, now: number, tokens: number, intervalMs: number): Bucket {
    const known = this.#buckets.get(key);
    if (known !== undefined && (known.endsMs > now || known.blockedUntilMs > now)) return known;
    this.#buckets.delete(key);
    if (this.#buckets.size >= REMEMBERED) {
      for (const first of this.#buckets.keys()) {
        this.#buckets.delete(first);
        break;
      }
    }
    const fresh: Bucket = { endsMs: now + intervalMs, left: tokens, blockedUntilMs: 0 };
    this.#buckets.set(key, fresh);
    return fresh;
  }
}

/** Less than one request in an interval is one in a longer one. */
function sizesOf({ rate, interval }: RateLimit): { readonly tokens: number; readonly intervalMs: number } {
  if (rate < 1) return { tokens: 1, intervalMs: (interval / rate) * 1000 };
  return { tokens: Math.floor(rate), intervalMs: interval * 1000 };
}
