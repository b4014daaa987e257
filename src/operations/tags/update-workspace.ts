import { operation } from '../declaration/operation.ts';
import { attribute } from '../json-api/params.ts';
import { workspaceResource } from './documents.ts';
import { whichWorkspace, workspaceByName, workspaceMeant, workspaceRoutes } from './which-workspace.ts';
import { workspaceLines, workspaceTable } from './workspace-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: workspaceRoutes('PATCH'),
  capability: 'update',
  resource: 'workspaces',
  params: {
    ...whichWorkspace,
    name: attribute('name', { help: 'A new name.', cli: { metavar: 'NAME' } }),
    description: attribute('description', { help: 'What it is for.', cli: { metavar: 'TEXT' } }),
  },
  cli: {
    resolve: workspaceByName,
    table: ({ data }) => workspaceTable({ data: [data] }),
    lines: ({ data }) => workspaceLines({ data: [data] }),
    examples: [
      ['coffer workspaces update billing --name invoicing --org acme', 'its tags and identifier stay'],
    ],
  },
  async run(call, { name, description, ...which }) {
    const { workspaces } = await call.core.tags();
    const change = {
      ...(name === undefined ? {} : { name: name ?? '' }),
      ...(description === undefined ? {} : { description: description || null }),
    };
    const workspace = await workspaces.update(workspaceMeant(which), change, '/data/attributes/name');
    return { data: { data: workspaceResource(call, workspace) } };
  },
});
