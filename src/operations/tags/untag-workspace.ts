import { tagReferences } from '../json-api-linkage.ts';
import { workspaceId } from '../json-api-params.ts';
import { operation } from '../operation.ts';
import { idsFor } from './by-name.ts';
import { countedIn } from './wording.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'DELETE /workspaces/:workspace_id/relationships/tags',
  capability: 'update',
  params: {
    workspace_id: workspaceId,
    data: tagReferences({
      help: 'The tags, by identifier or name; a name that nobody has is passed over.',
      cli: { positional: 'variadic', metavar: 'TAG', refersTo: 'tag' },
    }),
  },
  cli: {
    resolve: idsFor({ workspace_id: 'ws' }),
    done: ({ data }) => `Took ${countedIn(data, 'tag')} off the workspace.`,
    examples: [['coffer workspaces untag billing env:test --org acme', 'the tag stays in the pool']],
  },
  async run({ core }, { workspace_id, data }) {
    const { workspaces } = await core.tags();
    await workspaces.untag({ id: workspace_id }, data);
    return {};
  },
});
