import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { pageParams, workspaceId } from '../json-api/params.ts';
import { idsFor } from './by-name.ts';
import { pageDocument, tagResource } from './documents.ts';
import { tagLines, tagPageTable } from './tag-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'GET /workspaces/:workspace_id/relationships/tags',
  capability: 'list',
  params: {
    workspace_id: workspaceId,
    name: text({
      help: 'Only tags whose name contains this text, whatever its case.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    ...pageParams,
  },
  cli: {
    paged: true,
    table: tagPageTable,
    lines: tagLines,
    resolve: idsFor({ workspace_id: 'ws' }),
  },
  async run(call, { workspace_id, name, 'page[number]': number, 'page[size]': size }) {
    const { workspaces } = await call.core.tags();
    const page = await workspaces.tags({ id: workspace_id }, name ?? '', { number, size });
    const path = `workspaces/${encodeURIComponent(workspace_id)}/relationships/tags`;
    return { data: pageDocument(call, page, tagResource, path, { name }) };
  },
});
