import { tagReferences, workspaceId } from '../json-api-params.ts';
import { operation } from '../operation.ts';
import { idsFor } from './by-name.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'POST /workspaces/:workspace_id/relationships/tags',
  capability: 'update',
  params: {
    workspace_id: workspaceId,
    data: tagReferences({
      help: 'The tags, by identifier or name; a name that the pool does not have is added to it.',
      cli: { positional: 'variadic', metavar: 'TAG', refersTo: 'tag' },
    }),
  },
  cli: {
    resolve: idsFor({ workspace_id: 'ws' }),
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
