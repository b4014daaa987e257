import { unsupported } from '../../ground/errors.ts';
import { findOwn, type TokenTarget } from '../access/token-target.ts';
import type { Call, Outcome } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { namedOrganization } from '../json-api/params.ts';
import { tagOperation } from './documents.ts';

/** Operations besides projects, workspaces and tags that Terraform and its clients request. */

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
export const entitlementSet = tagOperation({
  route: 'GET /organizations/:organization_name/entitlement-set',
  params: { organization_name: namedOrganization },
  async run({ tags: { organizations } }, { organization_name }) {
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

/** User shown for the owner, who has no token. */
const OWNER = { id: 'owner', username: 'owner' } as const;

/** Returns the user of a token; batch tokens have no accessor. */
const userOf = ({ record: { accessor, token } }: TokenTarget) => ({
  id: accessor || token.displayName,
  username: token.displayName,
});

/** Returns the caller: programs verify a token with it before storing it. A token counts as its user. */
export const details = tagOperation({
  route: 'GET /account/details',
  anyToken: true,
  async run(call) {
    const { caller } = call;
    const user =
      caller.accessor === undefined
        ? OWNER
        : userOf(await findOwn({ ...call, access: await call.core.access() }));
    return {
      data: {
        data: {
          id: user.id,
          type: 'users',
          attributes: {
            username: user.username,
            email: null,
            'is-service-account': true,
            permissions: { 'can-create-organizations': caller.may('organizations', 'create') },
          },
          links: { self: '/api/v2/account/details' },
        },
      },
    };
  },
});

/*
 * Refuses Terraform operations on workspaces that Coffer does not have: runs and states. A sentence explains it,
 * because for an unknown path Terraform only prints "resource not found". A workspace without a state is not refused:
 * reading its state stays 404.
 * @see docs/decisions/0199
 */

const refusing =
  (what: string) =>
  async (_call: Call): Promise<Outcome<never>> => {
    throw unsupported(`Coffer keeps workspaces and their tags, but ${what}`);
  };

const noStates = refusing('not states or locks: store the state of this configuration in another backend');
const noRuns = refusing('not runs: run Terraform on the machine that has the configuration');

const params = { workspace_id: text({ help: 'ID of the workspace.', required: true }) };

/** Locks are for states: a client must not believe that it holds one. */
export const state = tagOperation({
  params,
  route: [
    'POST /workspaces/:workspace_id/actions/lock',
    'POST /workspaces/:workspace_id/actions/unlock',
    'POST /workspaces/:workspace_id/actions/force-unlock',
    'POST /workspaces/:workspace_id/state-versions',
  ],
  run: noStates,
});

export const configuration = tagOperation({
  params,
  route: 'POST /workspaces/:workspace_id/configuration-versions',
  run: noRuns,
});

/** Its path has no organization, and its response is the same for everyone. */
export const run = tagOperation({
  route: 'POST /runs',
  anyToken: true,
  run: noRuns,
});
