import { elapsedMs } from '../../ground/clock.ts';
import { sourceOf } from '../login/sources.ts';
import type { RateLimit } from './rate-limit.ts';

/** Result of a limit for one request. */
export interface Rated {
  readonly isAllowed: boolean;
  /** Maximum number of requests per interval, and how many remain. */
  readonly limit: number;
  readonly left: number;
  /** Seconds until the full number is available again. */
  readonly resetsIn: number;
}

interface Bucket {
  readonly endsMs: number;
  left: number;
  blockedUntilMs: number;
}

/** Maximum number of addresses tracked; beyond it the oldest is evicted. */
const REMEMBERED = 20_000;

/**
 * Tracks recent requests of addresses, by limit. In memory and per process: an unauthenticated client must not be able
 * to make a server write.
 */
export class Rates {
  readonly #elapsedMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param now monotonic clock, in milliseconds; replaced in tests */
  constructor(now: () => number = elapsedMs) {
    this.#elapsedMs = now;
  }

  /** Counts a request, by its address unless the limit counts all together. */
  take(limit: RateLimit, address: string): Rated {
    // Whole numbers: the rounding of fractions can make a wait of exactly an hour a second longer.
    const now = Math.floor(this.#elapsedMs());
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

/** Returns burst and interval; less than one request per interval is one in a longer interval. */
function sizesOf({ rate, interval }: RateLimit): { readonly tokens: number; readonly intervalMs: number } {
  if (rate < 1) return { tokens: 1, intervalMs: Math.ceil((interval / rate) * 1000) };
  return { tokens: Math.floor(rate), intervalMs: interval * 1000 };
}
