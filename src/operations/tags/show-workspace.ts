import { operation } from '../declaration/operation.ts';
import { workspaceResource } from './documents.ts';
import { whichWorkspace, workspaceByName, workspaceMeant, workspaceRoutes } from './which-workspace.ts';
import { workspaceLines, workspaceTable } from './workspace-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: workspaceRoutes('GET'),
  capability: 'read',
  params: whichWorkspace,
  cli: {
    resolve: workspaceByName,
    table: ({ data }) => workspaceTable({ data: [data] }),
    lines: ({ data }) => workspaceLines({ data: [data] }),
  },
  async run(call, values) {
    const { workspaces } = await call.core.tags();
    return { data: { data: workspaceResource(call, await workspaces.get(workspaceMeant(values))) } };
  },
});
