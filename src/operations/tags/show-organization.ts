import { operation } from '../declaration/operation.ts';
import { namedOrganization } from '../json-api/params.ts';
import { organizationResource } from './documents.ts';
import { organizationLines, organizationTable } from './organization-table.ts';

export const declaration = operation({
  api: 'json-api',
  route: 'GET /organizations/:organization_name',
  capability: 'read',
  params: {
    organization_name: namedOrganization,
  },
  cli: {
    table: ({ data }) => organizationTable({ data: [data] }),
    lines: ({ data }) => organizationLines({ data: [data] }),
  },
  async run(call, { organization_name }) {
    const { organizations } = await call.core.tags();
    return { data: { data: organizationResource(call, await organizations.get(organization_name)) } };
  },
});
