import type { Core } from '../declaration/operation.ts';
import { IDENTIFIER_PARAMS } from '../declaration/resource-kinds.ts';
import type { Match } from '../routes.ts';
import { spellingsOf } from './spellings.ts';

export interface PolicyPaths {
  /** Policies must allow all of them. */
  readonly paths: readonly string[];
  /** What the path names is in no place that policies know: denied, after they were asked all the same. */
  readonly leadNowhere?: boolean;
}

/**
 * What policies are asked about on `/api/v2`: the path with its escapes undone, in each of its spellings. Where an
 * identifier stands alone, the path below its organization (`organizations/acme/tags/tag-…/relationships/workspaces`),
 * so that one rule covers all that an organization has. Nothing is looked up that depends on whether the identified thing exists, so that neither
 * the answer nor its time tells.
 * @see docs/decisions/0066
 */
export async function policyPathsOf(core: Core, path: string, match: Match): Promise<PolicyPaths> {
  const captures = typeof match === 'string' ? {} : match.captures;
  const identifier = IDENTIFIER_PARAMS.map((param) => captures[param]).find((given) => given !== undefined);
  if (identifier === undefined) return { paths: spellingsOf(path, match) };
  const tags = await core.tags();
  const organization = await tags.organizationOf(identifier);
  // Both spellings of that path are the same to policies.
  const asked = path.replace(/^reserved-tags\//, 'reserved-tag-keys/');
  return { paths: [`organizations/${organization ?? ''}/${asked}`], leadNowhere: organization === undefined };
}
