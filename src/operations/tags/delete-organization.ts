import { operation, type Runner } from '../declaration/operation.ts';
import type { ListDocument } from '../json-api/pages.ts';
import { namedOrganization } from '../json-api/params.ts';
import { counted } from './wording.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'DELETE /organizations/:organization_name',
  capability: 'delete',
  params: {
    organization_name: namedOrganization,
  },
  cli: {
    async confirm({ organization_name }, runner) {
      const workspaces = await totalOf('workspaces list', organization_name, runner);
      const tags = await totalOf('tags list', organization_name, runner);
      const all = `${counted(workspaces, 'workspace')} and ${counted(tags, 'tag')}`;
      return `Delete organization ${organization_name} with its ${all}?`;
    },
    done: ({ organization_name }) => `Deleted organization ${organization_name}.`,
  },
  async run({ core }, { organization_name }) {
    const { organizations } = await core.tags();
    await organizations.delete(organization_name);
    return {};
  },
});

async function totalOf(list: string, organization_name: unknown, runner: Runner): Promise<number> {
  const { data: document } = await runner.run(list, { organization_name, 'page[size]': 1 });
  return (document as ListDocument<unknown>).meta.pagination['total-count'];
}
