import { documentOperation } from '../declaration/operation.ts';
import { namedOrganization } from '../json-api/params.ts';

/**
 * Features of an organization besides projects, workspaces and tags: none. Without `operations`, programs run locally
 * instead of requesting runs.
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

/** Second request of `terraform init`; 404 means that the organization does not exist. */
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
