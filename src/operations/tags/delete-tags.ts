import { operation, type Runner } from '../declaration/operation.ts';
import { identifiers } from '../json-api/linkage.ts';
import { organizationName } from '../json-api/params.ts';
import { idsFor } from './by-name.ts';
import type { ResourceDocument, TagResource } from './documents.ts';
import { counted, countedIn } from './wording.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'DELETE /organizations/:organization_name/tags',
  capability: 'delete',
  params: {
    organization_name: organizationName,
    data: identifiers('tags', {
      help: 'The tags: their identifiers, on the command line also their names.',
      cli: { positional: 'variadic', metavar: 'TAG', refersTo: 'tag' },
    }),
  },
  cli: {
    resolve: idsFor({ data: 'tag' }),
    confirm: ({ data }, runner) => question(idsIn(data), runner),
    done: ({ data }) => `Deleted ${countedIn(data, 'tag')}.`,
    examples: [['coffer tags delete env:old --org acme', 'also takes it off every workspace']],
  },
  async run({ core }, { organization_name, data }) {
    const { pool } = await core.tags();
    await pool.delete(organization_name, data);
    return {};
  },
});

const idsIn = (data: unknown): readonly string[] => (Array.isArray(data) ? data.map(String) : []);

/** More than these are not told one by one. */
const MAX_NAMED = 5;

/** Says which tags go, and how many workspaces lose each of them; of many only how often they are carried in all. */
async function question(ids: readonly string[], runner: Runner): Promise<string> {
  const tags: TagResource['attributes'][] = [];
  for (const id of ids) {
    const { data: document } = await runner.run('tags show', { tag_id: id });
    tags.push((document as ResourceDocument<TagResource>).data.attributes);
  }
  if (tags.length > MAX_NAMED) {
    const instances = tags.reduce((sum, tag) => sum + tag['instance-count'], 0);
    return `Delete ${tags.length} tags, which workspaces carry ${counted(instances, 'time')} in all?`;
  }
  const losses = tags.map(({ name, 'instance-count': carriers }) => `${loss(carriers)} ${name}`);
  return `Delete ${counted(tags.length, 'tag')}? ${losses.join(', ')}.`;
}

const loss = (carriers: number): string =>
  `${counted(carriers, 'workspace')} ${carriers === 1 ? 'loses' : 'lose'}`;
