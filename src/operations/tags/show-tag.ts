import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { optionalOrganizationName } from '../json-api/params.ts';
import { nameBesideId } from './by-name.ts';
import { tagResource } from './documents.ts';
import { tagLines, tagTable } from './tag-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: ['GET /tags/:tag_id', 'GET /organizations/:organization_name/tags/:tag_name'],
  capability: 'read',
  params: {
    tag_id: text({
      help: 'The tag: its identifier, on the command line also its name.',
      cli: { positional: true, metavar: 'TAG', refersTo: 'tag' },
    }),
    organization_name: optionalOrganizationName,
    tag_name: text({ help: 'The name of the tag, in place of its identifier.', cli: { hidden: true } }),
  },
  cli: {
    resolve: nameBesideId('tag_id', 'tag_name'),
    table: ({ data }) => tagTable({ data: [data] }),
    lines: ({ data }) => tagLines({ data: [data] }),
  },
  async run({ core }, { tag_id, organization_name = '', tag_name = '' }) {
    const { pool } = await core.tags();
    const tag = await pool.get(
      tag_id === undefined ? { organization: organization_name, name: tag_name } : { id: tag_id },
    );
    return { data: { data: tagResource(tag) } };
  },
});
