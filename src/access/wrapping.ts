import type { Clock } from '../ground/clock.ts';
import type { Random } from '../ground/random.ts';
import type { Store, Transaction, View } from '../store/store.ts';
import { putAccessKeys, readAccessKeys } from './access-keys.ts';
import { RESPONSE_WRAPPING } from './policies.ts';
import { accessorOf, couldBeToken, freshTokenText, type Token, type TokenRecord } from './token.ts';
import { answerRefOf, erase, liveToken, putToken, WRAPPED_ANSWERS } from './token-documents.ts';

/** An answer that somebody else is to fetch. */
export interface AnswerToWrap {
  /** What the one gets who opens it. */
  readonly answer: string;
  /** Seconds for which it can be opened. */
  readonly ttl: number;
  /** The API path of the request. */
  readonly path: string;
  /** Of the token, or another secret with an accessor, that the answer holds. */
  readonly heldAccessor?: string;
}

/** A wrapped answer, as the one is told who asked for it. */
export interface WrappedAnswer extends TokenRecord {
  /** The wrapping token: this is the only time that it is seen. */
  readonly text: string;
  readonly heldAccessor?: string;
}

/** Where a wrapped answer can be had: `wrap_info` of the envelope, in the order of peers. */
export interface WrapInfo {
  /** The wrapping token. */
  readonly token: string;
  readonly accessor: string;
  /** Seconds. */
  readonly ttl: number;
  readonly creation_time: string;
  readonly creation_path: string;
  /** Of the token, or another secret with an accessor, in the wrapped answer. */
  readonly wrapped_accessor?: string;
}

interface AnswerDocument {
  readonly answer: string;
  readonly heldAccessor?: string;
}

/**
 * Wrapped answers. Each lies in the sealed store beside a token that is good for one thing, to take it: the
 * transaction that gives the answer out removes both, so among all processes and servers only one gets it.
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
    // Each is read once, and may be large.
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

  /** The token of a wrapped answer that can be opened; undefined for any other. Spends nothing. */
  find(text: string): Promise<TokenRecord | undefined> {
    return this.#store.read((view) => this.#findIn(view, text));
  }

  /** Gives the answer out, once. Undefined when there is none to be had (any more). */
  take(which: { readonly text: string } | { readonly accessor: string }): Promise<string | undefined> {
    return this.#store.transact(async (tx) => {
      const found =
        'text' in which
          ? await this.#findIn(tx, which.text)
          : await liveWrapping(tx, which.accessor, this.#clock.now());
      return found === undefined ? undefined : (await takeAnswer(tx, found.accessor))?.answer;
    });
  }

  /** Puts the answer below a new token, which lives as long as the old one was to; undefined as for `take`. */
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
