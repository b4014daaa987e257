import { operation } from '../declaration/operation.ts';
import { tagsOfWorkspace, workspaceByName } from './relationships.ts';
import { countedIn } from './wording.ts';

export const declaration = operation({
  ...tagsOfWorkspace('The tags, by identifier or name; a name that nobody has is passed over.'),
  route: 'DELETE /workspaces/:workspace_id/relationships/tags',
  cli: {
    resolve: workspaceByName,
    done: ({ data }) => `Took ${countedIn(data, 'tag')} off the workspace.`,
    examples: [['coffer workspaces untag billing env:test --org acme', 'the tag stays in the pool']],
  },
  async run({ core }, { workspace_id, data }) {
    const { workspaces } = await core.tags();
    await workspaces.untag({ id: workspace_id }, data);
    return {};
  },
});
