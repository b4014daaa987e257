import { documentOperation } from '../declaration/operation.ts';
import { namedOrganization } from '../json-api/params.ts';

/**
 * What an organization has beside projects, workspaces and tags: nothing. Without `operations` programs run where they are, instead of
 * asking for runs.
 */
const ENTITLEMENTS = {
  agents: false,
  'audit-logging': false,
  'cost-estimation': false,
  'global-run-tasks': false,
  operations: false,
  'private-module-registry': false,
  'private-policy-agents': false,
  'private-run-tasks': false,
  'private-vcs': false,
  'run-tasks': false,
  'self-serve-billing': false,
  sentinel: false,
  sso: false,
  'state-storage': false,
  teams: false,
  'usage-reporting': false,
  'user-limit': null,
  'vcs-integrations': false,
} as const;

/** The second request of `terraform init`; 404 says to it that there is no such organization. */
export const entitlementSet = documentOperation({
  route: 'GET /organizations/:organization_name/entitlement-set',
  capability: 'read',
  withoutSecret: true,
  params: { organization_name: namedOrganization },
  async run({ core }, { organization_name }) {
    const { organizations } = await core.tags();
    const { externalId, name } = await organizations.get(organization_name);
    return {
      data: {
        data: {
          id: externalId,
          type: 'entitlement-sets',
          attributes: ENTITLEMENTS,
          links: { self: `/api/v2/organizations/${name}/entitlement-set` },
        },
      },
    };
  },
});
