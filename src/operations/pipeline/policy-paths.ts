import type { Mount } from '../../mounts/mount.ts';
import type { Core } from '../declaration/operation.ts';
import { IDENTIFIER_PARAMS } from '../declaration/resource-kinds.ts';
import { printPath } from '../declaration/route.ts';
import type { Match } from '../routes.ts';

export interface PolicyPaths {
  /** Policies must allow all of them. */
  readonly paths: readonly string[];
  /** Whether the path leads to no organization: denied, but only after the policies were checked as for any other. */
  readonly leadNowhere?: boolean;
}

/**
 * Returns the paths that policies are checked for on `/api/v2`: the decoded path, in each of its spellings. For an
 * identifier alone it is the path below its organization (`organizations/acme/tags/tag-…/relationships/workspaces`), so
 * that one rule covers everything in an organization. No lookup depends on whether the identified object exists, so
 * neither the answer nor its time reveals that.
 * @see docs/decisions/0066
 */
export async function policyPathsOf(core: Core, path: string, match: Match): Promise<PolicyPaths> {
  const captures = typeof match === 'string' ? {} : match.captures;
  const identifier = IDENTIFIER_PARAMS.map((param) => captures[param]).find((given) => given !== undefined);
  if (identifier === undefined) return { paths: spellingsOf(path, match) };
  const tags = await core.tags();
  const organization = await tags.organizationOf(identifier);
  // Policies know both spellings of this path by the second one.
  const asked = path.replace(/^reserved-tags\//, 'reserved-tag-keys/');
  return { paths: [`organizations/${organization ?? ''}/${asked}`], leadNowhere: organization === undefined };
}

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
