import { invalid } from '../../ground/errors.ts';
import { anyOf } from '../../tags/wildcard.ts';

/** The tags and keys that are a file's business. */
export interface Owned {
  has(name: string): boolean;
  /** @throws `invalid` for another one. */
  check(name: string): void;
}

/** @param patterns none: all are. */
export function ownedBy(patterns: readonly string[]): Owned {
  const has = patterns.length === 0 ? () => true : anyOf(patterns);
  return {
    has,
    check(name) {
      if (has(name)) return;
      throw invalid(`"${name}" is none of the tags that this file owns`, {
        field: name,
        hint: 'take it out, or add a pattern for it',
      });
    },
  };
}
