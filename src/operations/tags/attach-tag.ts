import { operation } from '../declaration/operation.ts';
import { carriersByName, carriersOfTag } from './relationships.ts';
import { countedIn } from './wording.ts';

export const declaration = operation({
  ...carriersOfTag,
  route: 'POST /tags/:tag_id/relationships/workspaces',
  cli: {
    resolve: carriersByName,
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
