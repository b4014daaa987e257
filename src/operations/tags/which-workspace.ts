import { invalid } from '../../ground/errors.ts';
import type { WorkspaceReference } from '../../tags/workspaces.ts';
import { text, type ValuesOf } from '../declaration/params.ts';
import { optionalOrganizationName } from '../json-api/params.ts';
import { nameBesideId } from './by-name.ts';

/** The parameters of operations that find a workspace by its identifier, or by its organization and name. */
export const whichWorkspace = {
  workspace_id: text({
    help: 'The workspace: its identifier, on the command line also its name.',
    cli: { positional: true, metavar: 'WS', refersTo: 'workspace' },
  }),
  organization_name: optionalOrganizationName,
  workspace_name: text({
    help: 'The name of the workspace, in place of its identifier.',
    cli: { hidden: true },
  }),
};

/** Both paths of such an operation; the first one needs no organization. */
export const workspaceRoutes = (method: string, action = ''): readonly string[] => [
  `${method} /workspaces/:workspace_id${action}`,
  `${method} /organizations/:organization_name/workspaces/:workspace_name${action}`,
];

export const workspaceByName = nameBesideId('workspace_id', 'workspace_name');

export function workspaceMeant(values: ValuesOf<typeof whichWorkspace>): WorkspaceReference {
  const { workspace_id, organization_name, workspace_name } = values;
  if (workspace_id !== undefined) return { id: workspace_id };
  if (organization_name !== undefined && workspace_name !== undefined) {
    return { organization: organization_name, name: workspace_name };
  }
  throw invalid('missing workspace_id', {
    field: 'workspace_id',
    hint: 'give the identifier of a workspace, or its name and organization',
  });
}
