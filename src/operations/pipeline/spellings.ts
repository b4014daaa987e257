import type { Mount } from '../../mounts/mount.ts';
import { printPath } from '../declaration/route.ts';
import type { Match } from '../routes.ts';

/**
 * Returns the path as sent and, if a name in it has another spelling (policies have lower-case names), the normalized
 * path. Otherwise a deny rule for one spelling could be circumvented with another.
 * @see docs/decisions/0096
 */
export function spellingsOf(path: string, match: Match, mount?: Mount): readonly string[] {
  if (typeof match === 'string') return [path];
  const { served, captures } = match;
  const { params } = served.operation;
  if (!Object.keys(captures).some((name) => params[name]?.understoodAs !== undefined)) return [path];
  const understood = (name: string): string | undefined => {
    const given = captures[name];
    return given === undefined ? undefined : (params[name]?.understoodAs?.(given) ?? given);
  };
  const meant = printPath(served.route, understood, (segment) => segment);
  return [path, mount === undefined ? meant : `${mount.path}/${meant}`];
}
