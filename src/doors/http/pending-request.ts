import type { TokenIdentity } from '../../access/access.ts';
import type { Answer } from './exchange.ts';

/** A request whose path was read, and nothing more of it. */
export interface PendingRequest {
  /** `large` and `unfolds` (it may ask for far more work than its length tells) are not worked on among the others. */
  readonly weight: 'light' | 'large' | 'unfolds';
  /** Who asks, when the token is good and its policies may allow it, as far as the path tells. The token is not used up. */
  caller(): Promise<TokenIdentity | undefined>;
  /** Never throws. */
  answer(): Promise<Answer>;
  /** The answer when it could not even be begun. */
  failed(error: unknown): Answer;
}

/** One whose answer depends on nothing else. */
export const settled = (answer: Answer): PendingRequest => ({
  weight: 'light',
  caller: async () => undefined,
  answer: async () => answer,
  failed: () => answer,
});
