import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { Store, Transaction, View } from '../store/store.ts';
import { putAccessKeys, readAccessKeys } from './access-keys.ts';
import { RESPONSE_WRAPPING } from './policies.ts';
import { accessorOf, couldBeToken, freshTokenText, type Token, type TokenRecord } from './token.ts';
import { answerRefOf, erase, liveToken, putToken, WRAPPED_ANSWERS } from './token-documents.ts';

/** Response to wrap. */
interface AnswerToWrap {
  /** Text returned when it is unwrapped. */
  readonly answer: string;
  /** Time to live of the wrapped response, in seconds. */
  readonly ttl: number;
  /** API path of the request. */
  readonly path: string;
  /** Accessor of the token or other secret in the response. */
  readonly heldAccessor?: string | undefined;
}

/** Wrapped response, as returned to the requester. */
export interface WrappedAnswer extends TokenRecord {
  /** Wrapping token. Returned only once. */
  readonly text: string;
  readonly heldAccessor?: string;
}

/** Wrapping information: `wrap_info` of the response envelope, in Vault's order. */
export interface WrapInfo {
  /** Wrapping token. */
  readonly token: string;
  readonly accessor: string;
  /** Time to live, in seconds. */
  readonly ttl: number;
  readonly creation_time: string;
  readonly creation_path: string;
  /** Accessor of the token or other secret in the wrapped response. */
  readonly wrapped_accessor?: string | undefined;
}

interface AnswerDocument {
  readonly answer: string;
  readonly heldAccessor?: string;
}

/**
 * Wrapped responses. Each is stored with a token that can only be used to unwrap it: the transaction that returns the
 * response deletes both, so among all processes and servers only one gets it.
 * @see docs/decisions/0170
 */
export class Wrapping {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor({ store, clock, random }: { store: Store; clock: Clock; random: Random }) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    // Only one response is cached, because each is read once and may be large.
    store.limitCache(WRAPPED_ANSWERS, 1);
  }

  wrap(wanted: AnswerToWrap): Promise<WrappedAnswer> {
    return this.#store.transact((tx) => this.#put(tx, wanted));
  }

  async #put(tx: Transaction, { answer, ttl, path, heldAccessor }: AnswerToWrap): Promise<WrappedAnswer> {
    const now = this.#clock.now();
    const text = freshTokenText(this.#random);
    const accessor = accessorOf((await putAccessKeys(tx, this.#random)).tokens, text);
    const token: Token = {
      displayName: '',
      policies: [RESPONSE_WRAPPING],
      path,
      meta: null,
      createdMs: Math.floor(now / 1000) * 1000,
      creationTtl: ttl,
      expiresMs: now + ttl * 1000,
      renewable: false,
      explicitMaxTtl: ttl,
      period: 0,
      usesLeft: 1,
      wraps: true,
    };
    const held = heldAccessor === undefined ? {} : { heldAccessor };
    await putToken(tx, accessor, token);
    tx.put(answerRefOf(accessor), { answer, ...held } satisfies AnswerDocument);
    return { text, accessor, token, ...held };
  }

  /** Finds the token of a wrapped response that can be unwrapped; undefined for any other. Does not count as a use. */
  find(text: string): Promise<TokenRecord | undefined> {
    return this.#store.read((view) => this.#findIn(view, text));
  }

  /** Unwraps the response, once. Undefined if there is none (any more). */
  take(which: { readonly text: string } | { readonly accessor: string }): Promise<string | undefined> {
    return this.#store.transact(async (tx) => {
      const found =
        'text' in which
          ? await this.#findIn(tx, which.text)
          : await liveWrapping(tx, which.accessor, this.#clock.now());
      return found === undefined ? undefined : (await takeAnswer(tx, found.accessor))?.answer;
    });
  }

  /** Moves the response to a new token with the original time to live; undefined as for `take`. */
  rewrap(text: string): Promise<WrappedAnswer | undefined> {
    return this.#store.transact(async (tx) => {
      const found = await this.#findIn(tx, text);
      const kept = found && (await takeAnswer(tx, found.accessor));
      if (found === undefined || kept === undefined) return undefined;
      const { creationTtl: ttl, path } = found.token;
      return this.#put(tx, { ...kept, ttl, path });
    });
  }

  async #findIn(view: View, text: string): Promise<TokenRecord | undefined> {
    if (!couldBeToken(text)) return undefined;
    const keys = await readAccessKeys(view);
    return keys && liveWrapping(view, accessorOf(keys.tokens, text), this.#clock.now());
  }
}

async function liveWrapping(view: View, accessor: string, nowMs: number): Promise<TokenRecord | undefined> {
  const found = await liveToken(view, accessor, nowMs);
  return found?.token.wraps ? found : undefined;
}

async function takeAnswer(tx: Transaction, accessor: string): Promise<AnswerDocument | undefined> {
  const kept = await tx.get<AnswerDocument>(answerRefOf(accessor));
  await erase(tx, accessor);
  return kept;
}
