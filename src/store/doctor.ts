import { unsupported } from '../errors.ts';
import type { Credential } from './slots/credential.ts';
import type { Finding } from './status.ts';

export interface ExamineOptions {
  readonly directory: string;
  readonly credentials: readonly Credential[];
  readonly onProgress?: (done: number, total: number) => void;
}

export interface Examination {
  /** Files that were looked at. */
  readonly checked: number;
  /** False when damage kept the store locked, so that documents could not be checked. */
  readonly unlocked: boolean;
  /** Empty when all is well; sorted by file. */
  readonly findings: readonly Finding[];
}

/**
 * Checks a whole store: header, slots, every sealed file, the indexes, and files that don't belong there.
 * Damage is reported, not thrown. Changes nothing.
 * @throws `sealed`, `denied`, `not-found`, `unavailable` as `openStore` does.
 */
export async function examineStore(_options: ExamineOptions): Promise<Examination> {
  throw unsupported('not yet');
}
