/** Leases of tokens: the IDs by which Vault clients look up and revoke tokens by the path that issued them. */

import { hash } from 'node:crypto';
import type { Clock } from '../ground/clock.ts';
import { turn } from '../ground/pause.ts';
import { trimSlashes } from '../ground/trim.ts';
import type { Store, View } from '../store/store.ts';
import { endBatchTokens } from './batch-tokens.ts';
import type { Token, TokenRecord } from './token.ts';
import { erase, type LiveToken, liveToken, livingTokens, tokenAt } from './token-documents.ts';

const ACCESSOR_LENGTH = 40;
/** Last segment of a lease ID: `h` and 256 bits in hex, which begin with the accessor. */
const LAST_SEGMENT = /^h(?<accessor>[0-9a-f]{40})[0-9a-f]{24}$/;
const REST_LENGTH = 24;

/** Returns the lease ID of a token: its path, and a suffix that is unique for that path. */
function leaseOf({ accessor, token: { path } }: TokenRecord): string {
  const rest = hash('sha256', `${path} ${accessor}`).slice(0, REST_LENGTH);
  return `${path}/h${accessor}${rest}`;
}

/**
 * Lease registry. Every service token that expires has a lease; tokens that never expire, and batch tokens, have none.
 */
export class Leases {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Finds the token of a lease, if it is valid. */
  find(lease: string): Promise<LiveToken | undefined> {
    return this.#store.read((view) => this.#findIn(view, lease));
  }

  async #findIn(view: View, lease: string): Promise<LiveToken | undefined> {
    const { accessor } = LAST_SEGMENT.exec(lease.slice(lease.lastIndexOf('/') + 1))?.groups ?? {};
    if (accessor?.length !== ACCESSOR_LENGTH) return undefined;
    const found = await liveToken(view, accessor, this.#clock.now());
    return found !== undefined && hasLease(found.token) && leaseOf(found) === lease ? found : undefined;
  }

  /** Lists the entries directly below a path: leases, and (with a final slash) paths that have further entries. */
  async list(path: string): Promise<readonly string[]> {
    const prefix = prefixOf(path);
    const found = new Set<string>();
    for await (const tokens of livingTokens(this.#store, this.#clock.now())) {
      for (const record of tokens) {
        if (!hasLease(record.token) || !isBelow(record.token, prefix)) continue;
        const rest = leaseOf(record).slice(prefix.length);
        const slash = rest.indexOf('/');
        found.add(slash === -1 ? rest : rest.slice(0, slash + 1));
      }
      await turn();
    }
    return [...found].sort();
  }

  /**
   * Revokes the token of a lease, or all expiring tokens created at a path or below it before this call, including
   * batch tokens. If the process is killed, another call revokes the remaining service tokens.
   * @param path empty for all
   */
  async revoke(path: string): Promise<void> {
    const single = await this.find(path);
    if (single !== undefined) {
      await this.#store.transact((tx) => erase(tx, single.accessor));
      return;
    }
    const now = this.#clock.now();
    const prefix = prefixOf(path);
    await this.#store.transact((tx) => endBatchTokens(tx, prefix.slice(0, -1), now));
    const isDoomed = (token: Token): boolean => hasLease(token) && isBelow(token, prefix);
    for await (const tokens of livingTokens(this.#store, now)) {
      const doomed = tokens.filter(({ token }) => isDoomed(token));
      if (doomed.length === 0) continue;
      await this.#store.transact(
        async (tx) => {
          for (const { accessor } of doomed) {
            const token = await tokenAt(tx, accessor);
            if (token !== undefined && isDoomed(token)) await erase(tx, accessor);
          }
        },
        { alone: true },
      );
    }
  }
}

const hasLease = ({ expiresMs }: Token): boolean => expiresMs !== undefined;

/** Returns the prefix of a path: with a final slash, or empty. */
function prefixOf(path: string): string {
  const plain = trimSlashes(path);
  return plain === '' ? '' : `${plain}/`;
}

const isBelow = ({ path }: Token, prefix: string): boolean => `${path}/`.startsWith(prefix);
