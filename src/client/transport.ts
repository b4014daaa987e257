import { type CofferError, unconfirmed } from '../ground/errors.ts';

/** Transport of requests and responses. */
export interface Transport {
  /**
   * Sends a request.
   * @throws `unavailable` if there is no response; `unconfirmed` if the request may have been carried out
   */
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

export interface WireRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whether it changes something, so that it must not be repeated if there is no response. */
  readonly changes?: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Response timeout in milliseconds, the same as in Vault servers. */
export const ANSWER_WITHIN_MS = 90_000;

export const STRANGER_HINT = { hint: 'check what is listening at that address' } as const;

/** Converts the error of a modifying request that was sent, because it may have been carried out. */
export const perhapsDone = (error: CofferError): CofferError =>
  unconfirmed(error.message, {
    hint: 'the request may have been carried out: check before retrying',
    cause: error,
  });
