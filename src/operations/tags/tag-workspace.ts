import { tagReferences } from '../json-api-linkage.ts';
import { workspaceId } from '../json-api-params.ts';
import { operation } from '../operation.ts';
import { idsFor } from './by-name.ts';
import { countedIn } from './wording.ts';

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
