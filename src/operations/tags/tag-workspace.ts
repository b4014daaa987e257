import { operation } from '../declaration/operation.ts';
import { tagsOfWorkspace, workspaceByName } from './relationships.ts';
import { countedIn } from './wording.ts';

export const declaration = operation({
  ...tagsOfWorkspace('The tags, by identifier or name; a name that the pool does not have is added to it.'),
  route: 'POST /workspaces/:workspace_id/relationships/tags',
  cli: {
    resolve: workspaceByName,
    done: ({ data }) => `Put ${countedIn(data, 'tag')} on the workspace.`,
    examples: [
      ['coffer workspaces tag billing env:prod team:core --org acme', 'makes the tags that are missing'],
    ],
  },
  async run({ core }, { workspace_id, data }) {
    const { workspaces } = await core.tags();
    await workspaces.tag({ id: workspace_id }, data);
    return {};
  },
});
