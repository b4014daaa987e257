import { identifiers, organizationName } from '../json-api-params.ts';
import { operation, type Target } from '../operation.ts';
import { idsFor } from './by-name.ts';
import type { ResourceDocument, TagResource } from './documents.ts';

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
    confirm: ({ data }, target) => question(idsIn(data), target),
    done: ({ data }) => `Deleted ${count(idsIn(data).length, 'tag')}.`,
    examples: [['coffer tags delete env:old --org acme', 'also takes it off every workspace']],
  },
  async run({ core }, { organization_name, data }) {
    const { pool } = await core.tags();
    await pool.delete(organization_name, data);
    return {};
  },
});

const idsIn = (data: unknown): readonly string[] => (Array.isArray(data) ? data.map(String) : []);

/** Says which tags go and, of each, how many workspaces lose it; of many only the sum. */
async function question(ids: readonly string[], target: Target): Promise<string> {
  const tags: TagResource['attributes'][] = [];
  for (const id of ids) {
    const { data } = (await target.run('tags show', { tag_id: id })) as ResourceDocument<TagResource>;
    tags.push(data.attributes);
  }
  const [only] = tags;
  if (tags.length === 1 && only !== undefined) {
    const carriers = only['instance-count'];
    const losing = `${count(carriers, 'workspace')} ${carriers === 1 ? 'loses' : 'lose'} it`;
    return `Delete tag ${only.name}? ${losing}.`;
  }
  const instances = tags.reduce((sum, tag) => sum + tag['instance-count'], 0);
  return `Delete ${tags.length} tags? Workspaces carry them ${count(instances, 'time')} in all, and lose them.`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
