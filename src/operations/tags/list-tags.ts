import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { organizationName, pageParams } from '../json-api/params.ts';
import { idsFor } from './by-name.ts';
import { pageDocument, tagResource } from './documents.ts';
import { tagLines, tagPageTable } from './tag-table.ts';

const EXCLUDE = 'filter[exclude][taggable][id]';

export const declaration = operation({
  api: 'json-api',
  route: 'GET /organizations/:organization_name/tags',
  capability: 'list',
  params: {
    organization_name: organizationName,
    q: text({
      help: 'Only tags whose name contains this text, whatever its case.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    [EXCLUDE]: text({
      help: 'Leave out the tags of this workspace.',
      cli: { flag: 'exclude-taggable', metavar: 'ID', refersTo: 'workspace' },
    }),
    ...pageParams,
  },
  cli: {
    paged: true,
    table: tagPageTable,
    lines: tagLines,
    resolve: idsFor({ [EXCLUDE]: 'ws' }),
    examples: [
      ['coffer tags list --org acme', 'the first 20 tags of the pool'],
      ['coffer tags list prod --all --org acme', 'every tag with "prod" in its name'],
      [
        'coffer tags list --exclude-taggable billing --org acme',
        'what the workspace billing could still get',
      ],
    ],
  },
  async run(call, values) {
    const { pool } = await call.core.tags();
    const { organization_name, q, [EXCLUDE]: excluded } = values;
    const page = await pool.list(organization_name, {
      ...(q === undefined ? {} : { search: q }),
      ...(excluded === undefined ? {} : { notOnWorkspace: excluded }),
      page: { number: values['page[number]'], size: values['page[size]'] },
    });
    const path = `organizations/${encodeURIComponent(organization_name)}/tags`;
    return { data: pageDocument(call, page, tagResource, path, { q, [EXCLUDE]: excluded }) };
  },
});
