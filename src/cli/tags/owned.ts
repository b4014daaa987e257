import { invalid } from '../../ground/errors.ts';
import { anyOf } from '../../tags/wildcard.ts';

/** Tags and keys that a file manages. */
export interface Owned {
  has(name: string): boolean;
  /**
   * Checks a name.
   * @throws `invalid` if the file does not manage it
   */
  check(name: string): void;
}

/**
 * Returns the managed tags.
 * @param patterns patterns; all tags if empty
 */
export function ownedBy(patterns: readonly string[]): Owned {
  const has = patterns.length === 0 ? () => true : anyOf(patterns);
  return {
    has,
    check(name) {
      if (has(name)) return;
      throw invalid(`"${name}" is not owned by this file`, {
        field: name,
        hint: 'remove it, or add a pattern for it',
      });
    },
  };
}
