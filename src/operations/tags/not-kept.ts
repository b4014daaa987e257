import { unsupported } from '../../ground/errors.ts';
import { type Call, documentOperation, type Outcome } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';

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
const noRuns = refusing('not runs: run Terraform where the configuration is');

const ofWorkspace = {
  capability: 'update',
  withoutSecret: true,
  params: { workspace_id: text({ help: 'ID of the workspace.', required: true }) },
} as const;

/** Locks are for states: a client must not believe that it holds one. */
export const state = documentOperation({
  ...ofWorkspace,
  route: [
    'POST /workspaces/:workspace_id/actions/lock',
    'POST /workspaces/:workspace_id/actions/unlock',
    'POST /workspaces/:workspace_id/actions/force-unlock',
    'POST /workspaces/:workspace_id/state-versions',
  ],
  run: noStates,
});

export const configuration = documentOperation({
  ...ofWorkspace,
  route: 'POST /workspaces/:workspace_id/configuration-versions',
  run: noRuns,
});

/** Its path has no organization, and its response is the same for everyone. */
export const run = documentOperation({
  route: 'POST /runs',
  capability: 'update',
  withoutSecret: true,
  anyToken: true,
  params: {},
  run: noRuns,
});
