import { operation } from '../declaration/operation.ts';
import { carriersByName, carriersOfTag } from './relationships.ts';
import { countedIn } from './wording.ts';

export const declaration = operation({
  ...carriersOfTag,
  route: 'DELETE /tags/:tag_id/relationships/workspaces',
  cli: {
    resolve: carriersByName,
    done: ({ data }) => `Took the tag off ${countedIn(data, 'workspace')}.`,
    examples: [['coffer tags detach env:prod --workspace web --org acme', 'the tag stays in the pool']],
  },
  async run({ core }, { tag_id, data }) {
    const { pool } = await core.tags();
    await pool.detach(tag_id, data);
    return {};
  },
});
