import { type CofferError, unconfirmed } from '../ground/errors.ts';

/** How requests come to where they are answered, and answers back. */
export interface Transport {
  /** @throws `unavailable` when no answer comes; `unconfirmed` when what was asked for may be done all the same. */
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

export interface WireRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What it asks for must not be done twice by whoever gets no answer. */
  readonly changes?: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** As long as servers of the family take. */
export const ANSWER_WITHIN_MS = 90_000;

export const STRANGER_HINT = { hint: 'see what listens at that address' } as const;

/** Why there is no answer to a request that was on its way, and that changes something: who knows how far it came. */
export const perhapsDone = (error: CofferError): CofferError =>
  unconfirmed(error.message, {
    hint: 'what was asked for may be done: look before you do it again',
    cause: error,
  });
