import type { Core } from '../declaration/operation.ts';
import { IDENTIFIER_PARAMS } from '../declaration/resource-kinds.ts';
import type { PolicyPaths } from '../pipeline/asked-request.ts';

/**
 * What policies are asked about: the path with its escapes undone. Where an identifier stands alone, the path below its
 * organization (`organizations/acme/tags/tag-…/relationships/workspaces`), so that one rule covers all that an
 * organization has. Nothing is looked up that depends on whether the identified thing exists, so that neither
 * the answer nor its time tells.
 * @see docs/decisions/0066
 */
export async function policyPathsOf(
  core: Core,
  path: string,
  captures: Readonly<Record<string, string>>,
): Promise<PolicyPaths> {
  const identifier = IDENTIFIER_PARAMS.map((param) => captures[param]).find((given) => given !== undefined);
  if (identifier === undefined) return { paths: [path] };
  const tags = await core.tags();
  const organization = await tags.organizationOf(identifier);
  // Both spellings of that path are the same to policies.
  const asked = path.replace(/^reserved-tags\//, 'reserved-tag-keys/');
  return { paths: [`organizations/${organization ?? ''}/${asked}`], leadNowhere: organization === undefined };
}
