import { carriers } from '../json-api-linkage.ts';
import { tagId } from '../json-api-params.ts';
import { operation } from '../operation.ts';
import { idsFor } from './by-name.ts';
import { countedIn } from './wording.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'POST /tags/:tag_id/relationships/workspaces',
  capability: 'update',
  params: {
    tag_id: tagId,
    data: carriers,
  },
  cli: {
    resolve: idsFor({ tag_id: 'tag', data: 'ws' }),
    done: ({ data }) => `Put the tag on ${countedIn(data, 'workspace')}.`,
    examples: [
      [
        'coffer tags attach env:prod --workspace billing --workspace web --org acme',
        'put a tag on two workspaces',
      ],
    ],
  },
  async run({ core }, { tag_id, data }) {
    const { pool } = await core.tags();
    await pool.attach(tag_id, data);
    return {};
  },
});
