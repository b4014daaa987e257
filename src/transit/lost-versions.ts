import type { NamedKeyDocument } from './key-document.ts';

/** Maximum number of versions to name. */
const MOST_NAMED = 10;

/**
 * Warns about versions that are missing because the backup did not contain them.
 * @param from first version of interest
 * @returns zero or one warning
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
