import type { NamedKeyDocument } from './key-document.ts';

/** Of many, the first ones will do. */
const MOST_NAMED = 10;

/**
 * Says which versions a restored key lacks, because its backup lacked them.
 * @param from versions below were not asked for.
 * @returns one warning, or none.
 * @see docs/decisions/0130
 */
export function lostVersionsWarning(key: NamedKeyDocument, from = 1): readonly string[] {
  const lost: number[] = [];
  for (let number = Math.max(from, key.minAvailableVersion); number <= key.latestVersion; number++) {
    const name = String(number);
    if (key.versions[name] === undefined && key.revokedVersions?.[name] === undefined) lost.push(number);
  }
  if (lost.length === 0) return [];
  const more = lost.length - MOST_NAMED;
  const named = lost.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const which = lost.length === 1 ? `version ${named}, which was` : `versions ${named}, which were`;
  return [`key "${key.name}" lacks ${which} not in its backup`];
}
