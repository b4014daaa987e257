import { carriers } from '../json-api-linkage.ts';
import { tagId } from '../json-api-params.ts';
import { operation } from '../operation.ts';
import { idsFor } from './by-name.ts';
import { countedIn } from './wording.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'DELETE /tags/:tag_id/relationships/workspaces',
  capability: 'update',
  params: {
    tag_id: tagId,
    data: carriers,
  },
  cli: {
    resolve: idsFor({ tag_id: 'tag', data: 'ws' }),
    done: ({ data }) => `Took the tag off ${countedIn(data, 'workspace')}.`,
    examples: [['coffer tags detach env:prod --workspace web --org acme', 'the tag stays in the pool']],
  },
  async run({ core }, { tag_id, data }) {
    const { pool } = await core.tags();
    await pool.detach(tag_id, data);
    return {};
  },
});
