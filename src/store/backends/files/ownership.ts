import type { Stats } from 'node:fs';
import { placed, unavailable } from '../../../ground/errors.ts';

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Refuses what somebody else could have changed: not ours, or writable for group or others. On platforms without
 * such owners (Windows) there is nothing to check.
 * @throws `unavailable` with the remedy.
 */
export function refuseForeign(path: string, stats: Pick<Stats, 'uid' | 'mode'>): void {
  const uid = process.geteuid?.();
  if (uid === undefined) return;
  if (stats.uid !== uid) {
    throw unavailable(placed`${{ file: path }} belongs to another user (uid ${stats.uid}, yours is ${uid})`, {
      hint: `run as its owner, or take it over with "chown -R ${uid}"`,
    });
  }
  if ((stats.mode & WRITABLE_BY_OTHERS) !== 0) {
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
    throw unavailable(placed`${{ file: path }} can be written by other users (mode ${mode})`, {
      hint: placed`run "chmod go-w ${{ file: path }}"`,
    });
  }
}
