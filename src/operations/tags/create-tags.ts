import { operation } from '../declaration/operation.ts';
import { tagNames } from '../json-api/linkage.ts';
import { organizationName } from '../json-api/params.ts';
import { tagResource } from './documents.ts';
import { tagLines, tagTable } from './tag-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'POST /organizations/:organization_name/tags',
  capability: 'create',
  params: {
    organization_name: organizationName,
    data: tagNames({
      help: 'Names of the new tags; capitals are lowered.',
      cli: { positional: 'variadic', metavar: 'NAME' },
    }),
  },
  cli: {
    table: tagTable,
    lines: tagLines,
    examples: [['coffer tags create env:prod env:test --org acme', 'two tags that no workspace carries yet']],
  },
  async run({ core }, { organization_name, data }) {
    const { pool } = await core.tags();
    const tags = await pool.create(organization_name, data);
    return { created: true, data: { data: tags.map(tagResource) } };
  },
});
