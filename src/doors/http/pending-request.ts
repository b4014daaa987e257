import type { TokenIdentity } from '../../access/access.ts';
import type { Answer } from './exchange.ts';

/** Request of which only the path was read. */
export interface PendingRequest {
  /**
   * `large` and `unfolds` (it may require far more work than its length suggests) requests run in the large-request
   * worker pool.
   */
  readonly weight: 'light' | 'large' | 'unfolds';
  /**
   * Returns the caller if the token is valid and its policies may allow the request, as far as the path tells. Does not
   * count as a use.
   */
  caller(): Promise<TokenIdentity | undefined>;
  /** Answers the request. Never throws. */
  answer(): Promise<Answer>;
  /** Formats the response if the request could not be started. */
  failed(error: unknown): Answer;
}

/** Request with a constant response. */
export const settled = (answer: Answer): PendingRequest => ({
  weight: 'light',
  caller: async () => undefined,
  answer: async () => answer,
  failed: () => answer,
});
