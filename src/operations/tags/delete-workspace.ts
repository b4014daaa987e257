import { operation } from '../declaration/operation.ts';
import type { ResourceDocument, WorkspaceResource } from './documents.ts';
import { whichWorkspace, workspaceByName, workspaceMeant, workspaceRoutes } from './which-workspace.ts';
import { counted } from './wording.ts';

export const declaration = operation({
  api: 'json-api',
  // Nothing here can make the safe form of the call refuse: a workspace has no resources of its own.
  route: [...workspaceRoutes('DELETE'), ...workspaceRoutes('POST', '/actions/safe-delete')],
  capability: 'delete',
  params: whichWorkspace,
  cli: {
    resolve: workspaceByName,
    async confirm(values, runner) {
      const { data: document } = await runner.run('workspaces show', values);
      const { data } = document as ResourceDocument<WorkspaceResource>;
      const { name, 'tag-names': tags } = data.attributes;
      return `Delete workspace ${name}? It carries ${counted(tags.length, 'tag')}.`;
    },
    done: ({ workspace_id, workspace_name }) => `Deleted workspace ${workspace_name ?? workspace_id}.`,
  },
  async run({ core }, values) {
    const { workspaces } = await core.tags();
    await workspaces.delete(workspaceMeant(values));
    return {};
  },
});
